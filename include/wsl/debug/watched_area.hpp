// SPDX-License-Identifier: MIT
// A member on the PEs of an area that a debugger watches: whether it changes, or a condition of it becomes
// true.
#pragma once
#include <cstring>
#include <functional>
#include <utility>

#include "../core/area.hpp"
#include "../program/pe_state.hpp"
#include "comparison.hpp"

namespace wsl::debug {

/// The member's elements in the memory of a PE, and what they are; `what` is null where the program of the PE
/// has no such member.
struct watched_elements {
  const member_info* what = nullptr;
  member_values now{};
};

/// A member of type T, which need not be exported.
template <class T>
member_info info_of_member(std::string name) {
  member_info info{.name = std::move(name), .type = ""};
  const auto takes = [&]<class Element>(std::type_identity<Element>) {
    static_assert(std::is_trivially_copyable_v<Element>,
                  "wsl: a debugger watches members that are plain values, or containers of them");
    info.type = detail::name_of_element<Element>();
    info.kind = detail::kind_of_element<Element>();
    info.element_bytes = sizeof(Element);
  };
  if constexpr (detail::grows_in_memory<T>) {
    takes(std::type_identity<typename T::value_type>());
    info.grows = true;
  } else {
    using shape = detail::array_shape<T>;
    takes(std::type_identity<typename shape::element>());
    info.extents.resize(shape::rank);
    shape::write(info.extents.data());
  }
  return info;
}
template <class T>
member_values values_of_member(const T& member) {
  if constexpr (detail::grows_in_memory<T>)
    return {reinterpret_cast<const char*>(member.data()), member.size()};
  else
    return {reinterpret_cast<const char*>(&member),
            sizeof member / sizeof(typename detail::array_shape<T>::element)};
}

class watched_area {
 public:
  using source = std::function<watched_elements(engines::pe_state&)>;

  /// `wanted` names the member, as texts do.
  watched_area(region where, member_condition wanted, source elements)
      : where_(where),
        wanted_(std::move(wanted)),
        elements_(std::move(elements)),
        last_(static_cast<std::size_t>(where.count())) {}

  const region& where() const { return where_; }
  /// "when sum of PE(1, 2) changes", "when sum > 3 becomes true on row 0".
  std::string text() const {
    return wanted_.compared ? fmt::format("when {} becomes true on {}", wanted_.text(), wsl::text_of(where_))
                            : fmt::format("when {} of {} changes", wanted_.member, wsl::text_of(where_));
  }

  /// Takes the values of a PE of the area as they are now for the last ones.
  void renew(coord c, engines::pe_state& s) {
    if (const watched_elements e = elements_(s); e.what) remember(last_[rank(c)], *e.what, e.now);
  }
  /// Whether the condition holds on a PE; false without one.
  bool holds(engines::pe_state& s) const {
    const watched_elements e = elements_(s);
    return e.what && wanted_.compared && wanted_.compared->first_of(*e.what, e.now);
  }
  /// What is to be said of a PE of the area since the last look or renewal: that the member has changed, or
  /// that the condition has become true. Nothing if neither. `cause` is the text of what has changed it.
  template <class Cause>
  std::string look(coord c, engines::pe_state& s, Cause cause) {
    const watched_elements e = elements_(s);
    if (!e.what) return {};
    std::string& last = last_[rank(c)];
    const u64 size = e.what->element_bytes;
    if (last.size() == e.now.count * size &&
        (last.empty() || std::memcmp(last.data(), e.now.first, last.size()) == 0))
      return {};
    const std::string before = std::exchange(last, {});
    remember(last, *e.what, e.now);
    const member_values then{before.data(), before.size() / size};
    if (!wanted_.compared) return change(c, *e.what, then, e.now) + cause();
    const std::optional<u64> holds = wanted_.compared->first_of(*e.what, e.now);
    if (!holds || wanted_.compared->first_of(*e.what, then)) return {};
    return fmt::format("{}{}: {}", element_change(c, *e.what, then, e.now, *holds), cause(), wanted_.text());
  }

 private:
  std::size_t rank(coord c) const { return static_cast<std::size_t>(where_.rank(c)); }
  static void remember(std::string& last, const member_info& m, const member_values& now) {
    last.assign(now.first ? now.first : "", static_cast<std::size_t>(now.count * m.element_bytes));
  }
  /// "seen[2] of PE(1, 0) changes from 3 to 4"
  static std::string element_change(coord c, const member_info& m, const member_values& then,
                                    const member_values& now, u64 k) {
    const auto element = [&](const member_values& v) {
      return debug::text_of(m, v.first + k * m.element_bytes);
    };
    const std::string name = m.name + index_text(m, k) + " of " + wsl::text_of(c);
    if (k >= then.count) return fmt::format("{} is added as {}", name, element(now));
    return fmt::format("{} changes from {} to {}", name, element(then), element(now));
  }
  static std::string change(coord c, const member_info& m, const member_values& then,
                            const member_values& now) {
    if (then.count != now.count)
      return fmt::format("{} of {} changes from {} to {}", m.name, wsl::text_of(c),
                         support::counted(then.count, "element"), support::counted(now.count, "element"));
    const u32 size = m.element_bytes;
    u64 k = 0;
    while (std::memcmp(then.first + k * size, now.first + k * size, size) == 0) ++k;
    return element_change(c, m, then, now, k);
  }

  region where_;
  member_condition wanted_;
  source elements_;
  std::vector<std::string> last_;  // the bytes of the elements, by PE
};

}  // namespace wsl::debug
