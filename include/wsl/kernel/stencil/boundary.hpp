// SPDX-License-Identifier: MIT
// What lies beyond the sides of a stencil's grid. Cells outside have values that follow from the side's kind;
// where a cell is outside along several axes, the last axis decides. Inside, sponges draw cells to what lies
// outside of their own side; where several reach a cell, to the mean of their values, each with its rate.
//   stencils::boundary::fixed                          on all sides
//   {boundary::periodic, {boundary::fixed, boundary::open}}   by axes; two sides of an axis in braces
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>

#include "../../support/bad_argument.hpp"
#include "footprint.hpp"

namespace wsl::stencils {

namespace boundary {

enum class kind : u8 {
  fixed,      ///< one value for each field
  open,       ///< the value of the outermost cell: a gradient of zero
  mirrored,   ///< the grid's mirror image in the side, times a factor for each field
  centred,    ///< the mirror image in the middle of the outermost cell, times a factor for each field
  periodic,   ///< the cells at the opposite side
  absorbing,  ///< one value for each field, to which cells near the side are drawn after each step: a sponge
};

struct side {
  boundary::kind kind = kind::fixed;
  /// by fields: the values outside of fixed and absorbing sides, the factors of mirrored and centred ones
  std::array<f64, most_fields> values{};
  int width = 0;     ///< cells of a sponge
  int given = 0;     ///< for so many fields the values were given
  f64 strength = 0;  ///< minus the logarithm of its factor at the outermost cell, not negative

  bool is_constant() const { return kind == kind::fixed || kind == kind::absorbing; }
  bool is_mirror() const { return kind == kind::mirrored || kind == kind::centred; }
  /// Whether the outermost cell of a field is zero: it is its own image, times a factor other than 1.
  bool is_zero(int field) const {
    return kind == kind::centred && values[static_cast<std::size_t>(field)] != 1;
  }
  /// The factor by which a cell's distance from what lies outside is multiplied after each step, for a cell
  /// with so many others between it and the side (Cerjan et al., Geophysics 50, 1985).
  f64 fading(int from_side) const { return std::exp(-rate(from_side)); }
  /// Minus the logarithm of that factor.
  f64 rate(int from_side) const {
    if (kind != kind::absorbing || from_side >= width) return 0;
    const f64 deep = f64(width - from_side) / width;
    return strength * deep * deep;
  }
};

/// Zero outside; the value of the outermost cell; the cells at the other end; the mirror image in the side.
inline constexpr side fixed{}, open{kind::open, {}, 0, 0}, periodic{kind::periodic, {}, 0, 0},
    mirrored{kind::mirrored, {1, 1, 1, 1, 1, 1, 1, 1}, 0, 0};

/// A side with numbers in the order of the fields; those left out are zero. A stencil with fewer fields
/// refuses it.
constexpr side by_fields(boundary::kind kind, std::initializer_list<f64> values, int width = 0,
                         f64 strength = 0) {
  if (values.size() > most_fields)
    support::bad_argument({"stencil: a side has values for up to ", most_fields, " fields"});
  side s{kind, {}, width, 0, strength};
  for (f64 v : values) s.values[static_cast<std::size_t>(s.given++)] = v;
  return s;
}

/// A value outside for each field, in the field's own unit.
constexpr side fixed_at(std::initializer_list<f64> values) { return by_fields(kind::fixed, values); }
/// A factor for each field: -1 for the component of a vector across the side, 1 for others.
constexpr side mirrored_times(std::initializer_list<f64> factors) {
  return by_fields(kind::mirrored, factors);
}
/// The same about the middle of the outermost cell: with -1 that cell is zero, as at a free surface of sound.
constexpr side centred_times(std::initializer_list<f64> factors) { return by_fields(kind::centred, factors); }
/// A sponge of `width` cells, with zero or these values outside, by fields. After each step a cell with d
/// others between it and the side is at the value v + exp(-strength * ((width - d) / width)^2) * (u - v), so
/// the strength is a number without a unit.
constexpr side absorbing(int width = 20, f64 strength = 0.09, std::initializer_list<f64> values = {}) {
  return by_fields(kind::absorbing, values, width, strength);
}

}  // namespace boundary

/// The two sides of an axis.
struct axis_sides {
  boundary::side low, high;
  axis_sides(const boundary::side& both = {}) : low(both), high(both) {}
  axis_sides(const boundary::side& l, const boundary::side& h) : low(l), high(h) {}

  bool is_periodic() const { return low.kind == boundary::kind::periodic; }
  /// The position among n whose coefficients position p beyond the sides has: that at the opposite side, the
  /// mirror image in a mirrored or centred side, or the outermost one.
  int coefficients_of(int p, int n) const {
    if (p >= 0 && p < n) return p;
    if (is_periodic()) return (p % n + n) % n;
    const boundary::side& s = p < 0 ? low : high;
    const int own = s.kind == boundary::kind::centred;  // the outermost cell has no image
    return std::clamp(!s.is_mirror() ? p : p < 0 ? own - 1 - p : 2 * n - 1 - own - p, 0, n - 1);
  }
  bool absorbs() const {
    return low.kind == boundary::kind::absorbing || high.kind == boundary::kind::absorbing;
  }
};

/// To what the sponges of several sides draw a cell: the mean of the values outside, each with the rate of
/// its side, as if all drew for a short time in turn.
class sponge_mean {
 public:
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
  /// Adds the sponges of an axis, for position p of its n cells. No product is fused with a sum, so that PEs
  /// and the serial reference find the same bits.
  [[gnu::optimize("fp-contract=off")]] void add(const axis_sides& sides, int p, int n, int fields) {
    for (const bool is_low : {true, false}) {
      const boundary::side& s = is_low ? sides.low : sides.high;
      const f64 rate = s.rate(is_low ? p : n - 1 - p);
      if (rate == 0) continue;
      rate_ += rate;
      for (std::size_t f = 0; f < static_cast<std::size_t>(fields); ++f) {
        const f64 share = rate * s.values[f];
        sum_[f] += share;
      }
    }
  }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
  /// Zero in a cell that no sponge reaches, which nothing draws.
  f64 value(int field) const { return rate_ > 0 ? sum_[static_cast<std::size_t>(field)] / rate_ : 0; }

 private:
  f64 rate_ = 0;
  std::array<f64, most_fields> sum_{};
};

/// Whether the sponges of all sides of up to three axes draw the fields to the same values, which `value`
/// then has by fields; without a sponge these are zero.
inline bool sponges_agree(const axis_sides* axes, int fields, std::array<f64, most_fields>& value) {
  const boundary::side* first = nullptr;
  for (int a = 0; a < 3; ++a)
    for (const boundary::side* s : {&axes[a].low, &axes[a].high}) {
      if (s->kind != boundary::kind::absorbing) continue;
      if (first && !std::equal(s->values.begin(), s->values.begin() + fields, first->values.begin()))
        return false;
      first = s;
    }
  if (first) value = first->values;
  return true;
}

/// The sides of a grid, by its axes.
class boundaries {
 public:
  boundaries(const boundary::side& everywhere = {}) : axes_{everywhere, everywhere, everywhere}, given_(0) {}
  boundaries(std::initializer_list<axis_sides> by_axis) : given_(static_cast<int>(by_axis.size())) {
    std::size_t i = 0;
    for (const axis_sides& a : by_axis)
      if (i < 3) axes_[i++] = a;
  }
  const axis_sides& operator[](int axis) const { return axes_[static_cast<std::size_t>(axis)]; }
  /// Of three axes; a grid with fewer has no use for the last ones.
  const axis_sides* data() const { return axes_.data(); }
  /// For how many axes they were given; 0 for one kind everywhere.
  int given() const { return given_; }

 private:
  std::array<axis_sides, 3> axes_;
  int given_;
};

/// The numbers of cells along the axes of a grid. Arrays of the host have the last axis contiguous.
class extents {
 public:
  extents(std::initializer_list<int> n) : axes_(static_cast<int>(n.size())) {
    std::size_t i = 0;
    for (int cells : n)
      if (i < 3) n_[i++] = cells;
  }
  int axes() const { return axes_; }
  int operator[](int axis) const { return n_[static_cast<std::size_t>(axis)]; }
  std::size_t count() const {
    return static_cast<std::size_t>(n_[0]) * static_cast<std::size_t>(n_[1]) *
           static_cast<std::size_t>(n_[2]);
  }
  std::string text() const {
    if (axes_ == 0) return "{}";
    std::string all = std::to_string(n_[0]);
    for (int a = 1; a < axes_ && a < 3; ++a) all += support::joined({" x ", (*this)[a]});
    return axes_ > 3 ? all + " x ..." : all;
  }
  /// "(3, 2)", of a cell with such positions.
  std::string text_of_cell(const std::array<int, 3>& at) const {
    std::string all = support::joined({"(", at[0]});
    for (int a = 1; a < axes_ && a < 3; ++a) all += support::joined({", ", at[static_cast<std::size_t>(a)]});
    return all + ")";
  }

 private:
  std::array<int, 3> n_{1, 1, 1};
  int axes_;
};

namespace checks {

/// Of cells that are numbers of type T.
template <class T>
void side(const boundary::side& s, int axis, int n, int fields) {
  if (s.given > fields)
    support::bad_argument({"stencil: a side of axis ", axis, " has ", s.given,
                           " values, and the update takes ", support::counted(fields, "field"),
                           "; give one for each field"});
  for (int f = 0; f < fields; ++f) {
    const f64 value = s.values[static_cast<std::size_t>(f)];
    if (std::isfinite(static_cast<T>(value))) continue;
    support::bad_argument({"stencil: a side of axis ", axis, " has a value for field ", f,
                           std::isfinite(value)
                               ? " that is larger than the numbers of f32, which end at 3.4e38; "
                                 "take other units, or f64 for the cells"
                               : " that is not a finite number"});
  }
  if (s.kind != boundary::kind::absorbing) return;
  if (s.width < 1 || s.width > n)
    support::bad_argument({"stencil: an absorbing side of axis ", axis, " is ", s.width,
                           " cells wide; choose 1 to ", n, ", the cells along that axis"});
  if (!(s.strength >= 0) || !std::isfinite(s.strength))
    support::bad_argument({"stencil: the strength of an absorbing side of axis ", axis, " is ",
                           std::to_string(s.strength), "; it is finite and not negative"});
}

/// Throws std::invalid_argument for a grid that a stencil does not fit.
template <class T>
void grid(const extents& size, const boundaries& sides, const footprint& reads, int fields) {
  if (size.axes() != reads.dimensions)
    support::bad_argument({"stencil: the update reads neighbours with ", reads.dimensions,
                           " offsets, and the size ", size.text(), " has ", size.axes(),
                           " axes; give one number of cells for each offset"});
  if (sides.given() != 0 && sides.given() != size.axes())
    support::bad_argument({"stencil: there are boundaries for ", sides.given(), " axes and sizes for ",
                           size.axes(), "; give one boundary for all sides, or one for each axis"});
  f64 all = 1;
  for (int a = 0; a < size.axes(); ++a) {
    const int radius = reads.radius[static_cast<std::size_t>(a)];
    // the image about the middle of the outermost cell is one of the cells behind it
    const bool is_centred =
        sides[a].low.kind == boundary::kind::centred || sides[a].high.kind == boundary::kind::centred;
    const int least = is_centred ? radius + 1 : radius > 1 ? radius : 1;
    if (size[a] < least)
      support::bad_argument({"stencil: axis ", a, " of a grid of ", size.text(), " has ",
                             support::counted(size[a], "cell"), ", and the radius of the update is ", radius,
                             is_centred ? " beside a centred side; take at least " : "; take at least ",
                             support::counted(least, "cell")});
    if (sides[a].low.kind != sides[a].high.kind &&
        (sides[a].is_periodic() || sides[a].high.kind == boundary::kind::periodic))
      support::bad_argument({"stencil: one side of axis ", a,
                             " is periodic and the other is not; a grid that "
                             "goes around has two such sides"});
    side<T>(sides[a].low, a, size[a], fields), side<T>(sides[a].high, a, size[a], fields);
    all *= size[a];
  }
  if (all > 1e12 || std::max({size[0], size[1], size[2]}) > 1 << 30)
    support::bad_argument({"stencil: a grid of ", size.text(), " cells does not fit in any memory"});
}

/// Throws std::invalid_argument unless there is a finite number for each cell.
template <class Span>
void values(const extents& size, const std::string& what, const Span& given) {
  if (given.size() != size.count())
    support::bad_argument({"stencil: ", what, " has ", given.size(), " numbers, and the grid of ",
                           size.text(), " has ", size.count(),
                           " cells; give one for each, the last axis contiguous"});
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!std::isfinite(given[i]))
      support::bad_argument(
          {"stencil: ", what, " is not a finite number at index ", i, " of ", given.size()});
}

/// Throws std::invalid_argument if what a function gives for a cell is not finite.
inline void of_cell(const extents& size, const char* what, int which, const std::array<int, 3>& at,
                    f64 value) {
  if (!std::isfinite(value))
    support::bad_argument({"stencil: ", what, " ", which, " is not finite in the cell ",
                           size.text_of_cell(at), " of the grid of ", size.text()});
}

inline void number_of(const char* what, int i, int count, const char* who = "update takes") {
  if (i >= 0 && i < count) return;
  const std::string some = count == 0 ? "none" : support::joined({count, ", which count from 0"});
  support::bad_argument({"stencil: there is no ", what, " ", i, "; the ", who, " ", some});
}

/// Throws std::invalid_argument for an array that does not take a field.
template <class Span>
void array_of_field(const extents& size, const Span& to, int field, int fields) {
  number_of("field", field, fields);
  if (to.size() != size.count())
    support::bad_argument({"stencil: get has an array of ", to.size(), " numbers, and the grid of ",
                           size.text(), " has ", size.count(), " cells; give one with room for each"});
}
inline void slice(const extents& size, int axis, int at, int field, int fields) {
  number_of("field", field, fields);
  if (axis < 0 || axis >= size.axes() || at < 0 || at >= size[axis])
    support::bad_argument({"stencil: there is no slice ", at, " along axis ", axis, " of a grid of ",
                           size.text(), " cells, whose axes count from 0"});
}

inline void scalar(int i, int count, f64 value) {
  number_of("scalar", i, count);
  if (!std::isfinite(value)) support::bad_argument({"stencil: scalar ", i, " is not a finite number"});
}

}  // namespace checks

}  // namespace wsl::stencils
