// SPDX-License-Identifier: MIT
// Symbolic colors: a program may name colors by numbers of its own, and gets colors of the fabric where it is
// placed. So one program serves several places with different colors, and a floor plan can choose them
// (plan/floor_plan.hpp). See docs/guide/regions.md.
//   struct relay { static constexpr auto in = symbolic<f32>(0), out = symbolic<f32>(1); ... };
//   l.place<relay>(column(1), given_colors(relay::in, red, relay::out, blue));
#pragma once
#include <bit>

#include "builder_faults.hpp"
#include "color.hpp"

namespace wsl {

namespace detail {

/// The ids of symbolic colors: a program has at most 16. Ids below are colors of the fabric.
inline constexpr int first_symbolic = 48, most_symbolic = max_colors - first_symbolic;

/// "color 3", or "symbolic color 3" of a program that has not given it one, on a machine of so many colors.
inline std::string name_of_color(int id, int colors) {
  return id >= first_symbolic && id < max_colors && colors <= first_symbolic
             ? support::joined({"symbolic color ", id - first_symbolic})
             : support::joined({"color ", id});
}

constexpr bool is_symbolic(int id) { return id >= first_symbolic; }
inline constexpr u64 all_symbolic = ~u64{0} << first_symbolic;

}  // namespace detail

/// The k-th symbolic color of a program, from 0 to 15. It stands for a color that is known where the program
/// is placed.
template <payload T>
constexpr color<T> symbolic(int k) {
  if (k < 0 || k >= detail::most_symbolic) faults::a_program_has_at_most_16_symbolic_colors(k);
  return {detail::first_symbolic + k};
}

namespace detail {

/// The colors that a placement gives to the symbolic colors of its program.
class color_map {
 public:
  constexpr bool empty() const { return !(ids_[0] | ids_[1]); }
  /// The color of an id, which is itself if it is not symbolic; the symbolic id if it was given none.
  constexpr int operator()(int id) const {
    const int k = id - first_symbolic;
    if (k < 0 || k >= most_symbolic) return id;  // a program may name any number
    const int given = static_cast<int>(ids_[k / 8] >> 8 * (k % 8) & 255);
    return given ? given - 1 : id;
  }
  /// The same for a set of colors.
  constexpr u64 operator()(u64 set) const {
    u64 found = set & ~all_symbolic;
    for (u64 left = set & all_symbolic; left; left &= left - 1)
      found |= color_bit((*this)(std::countr_zero(left)));
    return found;
  }
  constexpr void give(int symbol, int id) {
    const int k = symbol - first_symbolic;
    ids_[k / 8] &= ~(u64{255} << 8 * (k % 8));
    ids_[k / 8] |= static_cast<u64>(id + 1) << 8 * (k % 8);
  }

 private:
  u64 ids_[2]{};  // a byte for each symbolic color: its color plus 1, or 0
};

constexpr void give_colors(color_map&) {}
template <class... Rest>
constexpr void give_colors(color_map& to, color_like auto symbol, color_like auto given, Rest... rest) {
  if (!is_symbolic(symbol.id)) faults::only_symbolic_colors_are_given_colors(symbol.id);
  if (given.id < 0 || is_symbolic(given.id))
    faults::a_symbolic_color_is_given_a_color_of_the_fabric(given.id);
  to.give(symbol.id, given.id);
  give_colors(to, rest...);
}

/// Whether the colors of each pair carry the same payload.
template <class... Color>
inline constexpr bool pairs_alike = sizeof...(Color) == 0;
template <class A, class B, class... Rest>
inline constexpr bool pairs_alike<A, B, Rest...> = std::is_same_v<A, B> && pairs_alike<Rest...>;

}  // namespace detail

/// The colors of a program's symbolic colors at one place, in pairs of the same payload:
/// `given_colors(relay::in, red, relay::out, blue)`.
template <detail::color_like... Color>
constexpr detail::color_map given_colors(Color... symbols_and_colors) {
  static_assert(sizeof...(Color) % 2 == 0,
                "wsl: colors are given in pairs, the symbolic color first: given_colors(relay::in, red)");
  constexpr bool alike = sizeof...(Color) % 2 != 0 || detail::pairs_alike<Color...>;
  static_assert(alike, "wsl: a symbolic color and the color that it is given carry the same payload");
  detail::color_map found;
  if constexpr (detail::pairs_alike<Color...>) detail::give_colors(found, symbols_and_colors...);
  return found;
}

}  // namespace wsl
