// SPDX-License-Identifier: MIT
#include "ace.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <wsl/support/file_error.hpp>

#include "neutron_yield.hpp"

namespace mc_app {

using namespace wsl;
using support::file_error;

namespace {

constexpr f64 kelvin_a_mev = 1 / 8.617333262e-11, ev_a_mev = 1e6;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The lines of the file, and what is wrong in one.
class lines {
 public:
  lines(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  std::size_t left() const { return rest_.size(); }
  /// Whether nothing but empty lines follows.
  bool end() const { return rest_.find_first_not_of(" \t\r\n") == rest_.npos; }
  void skip_empty() {
    while (!end() && trimmed(rest_.substr(0, rest_.find('\n'))).empty()) next("a line");
  }
  std::string_view next(const char* what) {
    if (rest_.empty()) bad(fmt::format("{} should follow, but the file ends: it is cut short", what));
    ++number_;
    const std::size_t size = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, size);
    rest_.remove_prefix(std::min(size + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  [[noreturn]] void bad(const std::string& what) const {
    throw file_error(fmt::format("wsl: {}, line {}: {}", file_, number_, what));
  }
  const std::string& file() const { return file_; }

  /// The number in columns [from, from + width) of a line.
  template <class T>
  T number(std::string_view line, std::size_t from, std::size_t width, const char* what) const {
    std::string_view text = from < line.size() ? trimmed(line.substr(from, width)) : std::string_view();
    if (text.starts_with('+')) text.remove_prefix(1);
    T x{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (text.empty() || error != std::errc{} || stop != text.data() + text.size())
      bad(fmt::format("columns {} to {} are '{}' and not {}", from + 1, from + width, text.substr(0, 30),
                      what));
    return x;
  }

 private:
  std::string_view rest_;
  const std::string& file_;
  std::size_t number_ = 0;
};

/// The words of a line that are separated by blanks, as the headers of version 2 have them.
std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> all;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const std::size_t size = std::min(line.find_first_of(" \t"), line.size());
    all.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
  return all;
}

/// A table before its meaning: the header, NXS, JXS and XSS, all of them numbered from one as in the manual
/// of the format.
class table {
 public:
  explicit table(lines& in) : file_(in.file()) {
    read_header(in);
    for (int i = 0; i < 4; ++i) in.next("a line of identifiers and weights");
    read_pointers(in, nxs_, 16, "NXS"), read_pointers(in, jxs_, 32, "JXS");
    read_numbers(in);
  }

  const std::string& name() const { return name_; }
  f64 weight_ratio() const { return weight_ratio_; }
  f64 temperature() const { return temperature_; }
  i64 nxs(std::size_t i) const { return nxs_[i - 1]; }
  i64 jxs(std::size_t i) const { return jxs_[i - 1]; }

  [[noreturn]] void bad(const std::string& what) const {
    throw file_error(fmt::format("wsl: {}, table {}: {}", file_, name_, what));
  }
  /// XSS(first) to XSS(first + count - 1); `block` names them in an error.
  std::span<const f64> numbers(i64 first, i64 count, const char* block) const {
    const i64 size = static_cast<i64>(xss_.size());
    if (first < 1 || count < 0 || first > size || count > size - first + 1)
      bad(fmt::format("{} has {} numbers from XSS({}) on, but XSS has {}: the file is damaged", block, count,
                      first, size));
    return std::span(xss_).subspan(static_cast<std::size_t>(first - 1), static_cast<std::size_t>(count));
  }
  f64 number(i64 i, const char* block) const { return numbers(i, 1, block)[0]; }
  /// XSS(i), which is a whole number: a count, a pointer or a name.
  i64 whole(i64 i, const char* block) const {
    const f64 x = number(i, block);
    if (!(std::abs(x) <= 1e9) || x != std::floor(x))
      bad(fmt::format("XSS({}) of {} is {}, and should be a whole number", i, block, x));
    return static_cast<i64>(x);
  }
  std::vector<i64> wholes(i64 first, i64 count, const char* block) const {
    numbers(first, count, block);
    std::vector<i64> all;
    for (i64 i = 0; i < count; ++i) all.push_back(whole(first + i, block));
    return all;
  }

 private:
  void read_header(lines& in) {
    const std::string_view first = in.next("a header");
    if (first.starts_with("2.0.")) {
      // version 2: its number and the name; the weight, the temperature, the date and how many comments
      // follow
      const auto names = words(first);
      if (names.size() < 2) in.bad("a header of version 2 has a name");
      name_ = names[1];
      const std::string_view second = in.next("the second line of the header");
      const auto values = words(second);
      if (values.size() < 4)
        in.bad("the second line of a header has a weight, a temperature, a date and a number of comments");
      weight_ratio_ = in.number<f64>(values[0], 0, values[0].size(), "an atomic weight ratio");
      temperature_ = in.number<f64>(values[1], 0, values[1].size(), "a temperature");
      const i64 comments = in.number<i64>(values[3], 0, values[3].size(), "a number of comments");
      if (comments < 0) in.bad(fmt::format("{} comments", comments));
      for (i64 i = 0; i < comments; ++i) in.next("a comment");
    } else {
      name_ = trimmed(first.substr(0, 10));
      weight_ratio_ = in.number<f64>(first, 10, 12, "an atomic weight ratio");
      temperature_ = in.number<f64>(first, 22, 12, "a temperature");
      in.next("a comment");
    }
    if (name_.empty()) in.bad("the table has no name: this is no ACE file as text");
    if (!name_.ends_with('c'))
      in.bad(
          fmt::format("the table '{}' is not one of neutrons with continuous energies, whose names end with "
                      "c: take such a file (as text, type 1)",
                      name_));
    if (!(weight_ratio_ > 0) || !std::isfinite(weight_ratio_))
      in.bad(fmt::format("the atomic weight ratio of {} is {}", name_, weight_ratio_));
    if (!(temperature_ >= 0 && temperature_ < 1))
      in.bad(fmt::format("the temperature of {} is {} MeV", name_, temperature_));
  }

  static void read_pointers(lines& in, i64* to, std::size_t count, const char* what) {
    for (std::size_t i = 0; i < count; i += 8) {
      const std::string_view line = in.next(what);
      for (std::size_t k = 0; k < 8; ++k)
        to[i + k] = in.number<i64>(line, 9 * k, 9, "a whole number of NXS or JXS");
    }
  }

  void read_numbers(lines& in) {
    const i64 count = nxs_[0];
    // a number takes 20 columns; blanks at the end of the last line may be left out
    if (count < 1 || static_cast<std::size_t>(count) > in.left() / 20 + 1)
      in.bad(
          fmt::format("NXS(1) says that {} numbers of 20 columns follow, in {} bytes: the file is cut short "
                      "or damaged",
                      count, in.left()));
    xss_.reserve(static_cast<std::size_t>(count));
    while (xss_.size() < static_cast<std::size_t>(count)) {
      const std::string_view line = in.next("a line of XSS");
      for (std::size_t k = 0; k < 4 && xss_.size() < static_cast<std::size_t>(count); ++k)
        xss_.push_back(in.number<f64>(line, 20 * k, 20, "a number of XSS"));
    }
  }

  std::string file_, name_;
  f64 weight_ratio_ = 0, temperature_ = 0;
  i64 nxs_[16] = {}, jxs_[32] = {};
  std::vector<f64> xss_;
};

/// The mean number of all neutrons of a fission, from block NU.
neutron_yield yield_of(const table& t) {
  i64 at = t.jxs(2);
  if (at == 0) t.bad("it has fission but no block NU, which has the number of neutrons");
  // a negative number is the length of the prompt neutrons' part, behind which the total number is
  if (t.number(at, "NU") < 0) at += -t.whole(at, "NU") + 1;
  const i64 form = t.whole(at, "NU");
  try {
    if (form == 1) {
      const i64 count = t.whole(at + 1, "NU");
      const auto c = t.numbers(at + 2, count, "NU");
      std::vector<f64> coefficients(c.begin(), c.end());
      f64 unit = 1;  // powers of the energy in MeV become those in eV
      for (f64& x : coefficients) x *= unit, unit /= ev_a_mev;
      return neutron_yield::polynomial(std::move(coefficients));
    }
    if (form != 2)
      t.bad(fmt::format("block NU has form {}, which is none of 1 (polynomial) and 2 (table)", form));
    const i64 regions = t.whole(at + 1, "NU");
    const std::vector<i64> ends = t.wholes(at + 2, regions, "NU"),
                           laws = t.wholes(at + 2 + regions, regions, "NU");
    const i64 points = at + 2 + 2 * regions, count = t.whole(points, "NU");
    const auto e = t.numbers(points + 1, count, "NU"), y = t.numbers(points + 1 + count, count, "NU");
    std::vector<f64> energies(e.begin(), e.end());
    for (f64& x : energies) x *= ev_a_mev;
    return neutron_yield::table(std::move(energies), {y.begin(), y.end()}, ends, laws);
  } catch (const file_error&) { throw; } catch (const std::invalid_argument& e) {
    t.bad(fmt::format("block NU: {}", e.what()));
  }
}

nuclide nuclide_of(const table& t, const std::string& file) {
  nuclide n{.name = t.name(),
            .weight_ratio = t.weight_ratio(),
            .temperature = t.temperature() * kelvin_a_mev,
            .file = file,
            .points = {},
            .capture = {}};
  const i64 count = t.nxs(3), reactions = t.nxs(4);
  if (count < 2)
    t.bad(fmt::format("NXS(3) says that it has {} energies, too few to interpolate between", count));
  const std::size_t points = t.numbers(t.jxs(1), count, "ESZ").size();
  const auto column = [&](i64 k) { return t.numbers(t.jxs(1) + k * count, count, "ESZ"); };
  const auto energies = column(0), totals = column(1), disappearance = column(2), elastics = column(3);
  column(4);  // heating, which must be there as well
  n.points.resize(points);

  /// Adds the cross sections of reaction i, counted from 0, to those of all points.
  const auto add = [&](i64 i, auto to) {
    const i64 at = t.jxs(7) + t.whole(t.jxs(6) + i, "LSIG") - 1;
    const i64 first = t.whole(at, "SIG"), some = t.whole(at + 1, "SIG");
    if (first < 1 || some < 0 || first - 1 > count - some)
      t.bad(fmt::format("SIG: reaction {} has {} points from energy {} on, of {} energies", i + 1, some,
                        first, count));
    const auto xs = t.numbers(at + 2, some, "SIG");
    for (std::size_t k = 0; k < xs.size(); ++k) to(static_cast<std::size_t>(first - 1) + k, xs[k]);
  };
  std::vector<i64> types;
  if (reactions < 0) t.bad(fmt::format("NXS(4) says that it has {} reactions", reactions));
  if (reactions) {
    types = t.wholes(t.jxs(3), reactions, "MTR");
    t.numbers(t.jxs(4), reactions, "LQR"), t.numbers(t.jxs(5), reactions, "TYR");
    t.numbers(t.jxs(6), reactions, "LSIG");
  }
  const auto place = [&](i64 type) -> std::optional<i64> {
    const auto at = std::find(types.begin(), types.end(), type);
    return at == types.end() ? std::nullopt : std::optional(at - types.begin());
  };
  bool fissile = false;
  const auto add_fission = [&](i64 type) {
    const auto at = place(type);
    if (at) add(*at, [&](std::size_t i, f64 x) { n.points[i].xs[fission] += x; });
    fissile = fissile || at;
    return at.has_value();
  };
  if (!add_fission(18))
    for (const i64 part : {19, 20, 21, 38}) add_fission(part);
  if (const auto at = place(102)) {
    n.capture.assign(points, 0);
    add(*at, [&](std::size_t i, f64 x) { n.capture[i] += x; });
  }
  std::optional<neutron_yield> yield;
  if (fissile) yield = yield_of(t);
  for (std::size_t i = 0; i < points; ++i) {
    auto& p = n.points[i];
    p.energy = energies[i] * ev_a_mev;
    p.xs[total] = totals[i], p.xs[elastic] = elastics[i];
    p.xs[absorption] = disappearance[i] + p.xs[fission];
    if (yield) p.xs[nu_fission] = (*yield)(p.energy) * p.xs[fission];
  }
  check_points(n);
  return n;
}

}  // namespace

std::vector<nuclide> read_ace(std::string_view bytes, const std::string& file) {
  std::vector<nuclide> all;
  lines in(bytes, file);
  do {
    in.skip_empty();
    const table t(in);
    all.push_back(nuclide_of(t, file));
  } while (!in.end());
  return all;
}

}  // namespace mc_app
