// SPDX-License-Identifier: MIT
// Comparisons of a member's elements with a number, as `find` and `watch` take them: "u == nan", "count > 5".
#pragma once
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "command_error.hpp"
#include "values.hpp"

namespace wsl::debug {

/// A text without the blanks around it.
inline std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(" \t") + 1 - from));
}

/// "< 3", "== nan": judges numbers. Nothing but nan is equal to nan.
class comparison {
 public:
  /// Reads an operator and a number, true or false. Throws command_error.
  explicit comparison(std::string_view text) : text_(trimmed(text)) {
    const std::size_t end = std::min(text_.find_first_not_of(signs), text_.size());
    const std::string sign = text_.substr(0, end), number = trimmed(text_.substr(end));
    how_ = how_of(sign);
    with_ = value(number);
    if (with_ != with_ && how_ != how::equal && how_ != how::different)
      throw command_error("no number is above or below nan: == nan is for those that are nan");
    text_ = sign + " " + number;
  }

  bool holds(exact_number x) const {
    switch (how_) {
      case how::below: return x < with_;
      case how::at_most: return x <= with_;
      case how::above: return x > with_;
      case how::at_least: return x >= with_;
      case how::different: return !is_equal(x);
      case how::equal: break;
    }
    return is_equal(x);
  }
  /// The number of the first element for which it holds, if there is one.
  std::optional<u64> first_of(const member_info& m, const member_values& v) const {
    for (u64 i = 0; i < v.count; ++i)
      if (holds(*number_of(m.kind, m.element_bytes, v.first + i * m.element_bytes))) return i;
    return {};
  }
  /// Throws command_error if the elements of a member are no numbers.
  static void must_have_numbers(const member_info& m) {
    if (m.kind == element_kind::bytes)
      throw command_error(m.name + " has no numbers: its elements are of type " + m.type);
  }
  const std::string& text() const { return text_; }

  /// The characters of operators.
  static constexpr std::string_view signs = "<>=!";

 private:
  enum class how : u8 { below, at_most, above, at_least, equal, different };

  static how how_of(std::string_view sign) {
    constexpr std::pair<std::string_view, how> known[] = {{"<", how::below},  {"<=", how::at_most},
                                                          {">", how::above},  {">=", how::at_least},
                                                          {"==", how::equal}, {"!=", how::different}};
    for (const auto& [name, what] : known)
      if (name == sign) return what;
    throw command_error(
        (sign.empty()
             ? "without a sign at its beginning this is no comparison (the member's name is no part of it)"
             : std::string(sign) + " is no comparison") +
        ": those are <, <=, >, >=, == and !=");
  }
  /// A whole number that a double might round.
  template <class T>
  static std::optional<exact_number> whole_number(const std::string& text) {
    T x = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, x);
    if (error != std::errc{} || last != end) return {};
    return static_cast<exact_number>(x);
  }
  static exact_number value(const std::string& text) {
    if (text == "true" || text == "false") return text == "true";
    if (const std::optional<exact_number> whole = whole_number<i64>(text)) return *whole;
    if (const std::optional<exact_number> whole = whole_number<u64>(text)) return *whole;
    f64 x = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, x);
    if (error == std::errc::result_out_of_range)
      throw command_error("'" + text +
                          "' is outside of what an f64 holds, which goes from 2.3e-308 to 1.8e308, and inf");
    if (error != std::errc{} || last != end)
      throw command_error("'" + text + "' is no number to compare with: those are as 3, -1e-3, nan or inf");
    return x;
  }
  bool is_equal(exact_number x) const { return x == with_ || (x != x && with_ != with_); }

  std::string text_;
  how how_ = how::equal;
  exact_number with_ = 0;
};

/// A member, and perhaps what its elements are compared with.
struct member_condition {
  std::string member;
  std::optional<comparison> compared;

  /// "sum", or "sum > 3".
  std::string text() const { return compared ? member + " " + compared->text() : member; }
};

/// Reads "sum", "sum > 3" or "sum>3". Throws command_error.
inline member_condition condition_of(std::string_view text) {
  const std::size_t sign = text.find_first_of(comparison::signs);
  member_condition c{.member = trimmed(text.substr(0, sign)), .compared = {}};
  if (c.member.empty() || c.member.find_first_of(" \t") != std::string::npos)
    throw command_error("'" + trimmed(text) +
                        "' names no member: a comparison is one word as sum, a sign, a number");
  if (const std::size_t index = c.member.find('['); index != std::string::npos)
    throw command_error(fmt::format("a member is taken whole, {} and not {}: its elements are all looked at",
                                    c.member.substr(0, index), c.member));
  if (sign != std::string_view::npos) c.compared.emplace(text.substr(sign));
  return c;
}

}  // namespace wsl::debug
