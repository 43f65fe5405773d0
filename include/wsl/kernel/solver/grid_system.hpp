// SPDX-License-Identifier: MIT
// Systems of equations from a grid of one to three axes: the second differences along all axes, with 3, 5 or
// 7 points, and what is beyond the sides of the grid. Cells are numbered with the last axis fastest. The same
// rules give the coarser grids of a multigrid method: two cells along each axis become one, and what crosses
// the face between two cells is their difference over their distance, times the face. See
// examples/117_sparse_systems.cpp.
//   grid_system{.size = {128, 128}}   // -1, and 4 on the diagonal; zero beyond the sides
#pragma once
#include <array>
#include <utility>
#include <vector>

#include "row_source.hpp"

namespace wsl::solver {

/// The values beyond the sides of a grid.
enum class side_condition : u8 {
  dirichlet,  ///< zero, one cell beyond the last
  neumann,    ///< nothing: nothing crosses the side
  periodic,   ///< the other end
};

/// The cells along one axis.
struct grid_axis {
  side_condition sides = side_condition::dirichlet;
  f64 low = 0, high = 0;  ///< where the value is zero, or the ends of a period
  std::vector<f64> place, width;

  int size() const { return static_cast<int>(place.size()); }
  static grid_axis of(int n, side_condition sides) {
    const bool is_zero_beyond = sides == side_condition::dirichlet;
    grid_axis a{sides, is_zero_beyond ? -1. : -0.5, is_zero_beyond ? n : n - 0.5, {}, {}};
    for (int i = 0; i < n; ++i) a.place.push_back(i), a.width.push_back(1);
    return a;
  }
  /// Pairs of cells; a last one that is left over stays as it is.
  grid_axis coarser() const {
    grid_axis c{sides, low, high, {}, {}};
    for (std::size_t i = 0; i < place.size(); i += 2) {
      const bool is_pair = i + 1 < place.size();
      const f64 w = width[i] + (is_pair ? width[i + 1] : 0);
      c.width.push_back(w);
      c.place.push_back(is_pair ? (width[i] * place[i] + width[i + 1] * place[i + 1]) / w : place[i]);
    }
    return c;
  }
  /// The weights of a cell's neighbours in its row, and what its diagonal has for sides.
  struct weights {
    int below = -1, above = -1;  ///< cells, -1 for none
    f64 of_below = 0, of_above = 0, of_sides = 0;
  };
  weights at(int i) const {
    const std::size_t k = static_cast<std::size_t>(i);
    const int last = size() - 1;
    weights w;
    if (i > 0) w.below = i - 1, w.of_below = 1 / (place[k] - place[k - 1]);
    if (i < last) w.above = i + 1, w.of_above = 1 / (place[k + 1] - place[k]);
    const f64 around = place.front() + (high - low) - place.back();
    if (sides == side_condition::dirichlet) {
      if (i == 0) w.of_sides += 1 / (place[k] - low);
      if (i == last) w.of_sides += 1 / (high - place[k]);
    } else if (sides == side_condition::periodic && last > 0) {
      if (i == 0) w.below = last, w.of_below = 1 / around;
      if (i == last) w.above = 0, w.of_above = 1 / around;
    }
    return w;
  }
  /// The coarse cells between which a fine cell lies, with the weights of linear interpolation.
  using share = std::pair<int, f64>;
  static std::vector<std::vector<share>> interpolation(const grid_axis& fine, const grid_axis& coarse);
};

inline std::vector<std::vector<grid_axis::share>> grid_axis::interpolation(const grid_axis& fine,
                                                                           const grid_axis& coarse) {
  std::vector<std::vector<share>> all;
  const int last = coarse.size() - 1;
  const f64 period = coarse.high - coarse.low;
  int right = 0;  // the first coarse cell that is not before the fine one
  for (const f64 x : fine.place) {
    while (right <= last && coarse.place[static_cast<std::size_t>(right)] < x) ++right;
    const auto place = [&](int j) { return coarse.place[static_cast<std::size_t>(j)]; };
    const auto between = [&](f64 a, f64 b) { return b > a ? (x - a) / (b - a) : 0; };  // b's share
    std::vector<share> here;
    if (right > 0 && right <= last) {
      const f64 s = between(place(right - 1), place(right));
      here = {{right - 1, 1 - s}, {right, s}};
    } else if (fine.sides == side_condition::periodic && last > 0) {
      const bool is_low = right == 0;
      const f64 a = place(last) - (is_low ? period : 0), b = place(0) + (is_low ? 0 : period),
                s = between(a, b);
      here = {{last, 1 - s}, {0, s}};
    } else {
      const int near = right == 0 ? 0 : last;
      const f64 zero = right == 0 ? fine.low : fine.high;
      const f64 share_of_near =
          fine.sides == side_condition::dirichlet ? (x - zero) / (place(near) - zero) : 1.;
      here = {{near, share_of_near}};
    }
    std::erase_if(here, [](const share& s) { return s.second == 0; });
    all.push_back(std::move(here));
  }
  return all;
}

/// A grid of one of the levels.
class grid_level {
 public:
  explicit grid_level(std::vector<grid_axis> axes) : axes_(std::move(axes)) {}

  const std::vector<grid_axis>& axes() const { return axes_; }
  int cells() const {
    int n = 1;
    for (const grid_axis& a : axes_) n *= a.size();
    return n;
  }
  grid_level coarser() const {
    std::vector<grid_axis> c;
    for (const grid_axis& a : axes_) c.push_back(a.coarser());
    return grid_level(std::move(c));
  }
  /// Whether a cell is red on the chessboard of the cells: its neighbours are black, but where a period of an
  /// odd number of cells begins.
  bool is_red(int cell) const {
    const std::array<int, 3> at = place_of(axes_, cell);
    return (at[0] + at[1] + at[2]) % 2 == 0;
  }
  /// The rows of its matrix. The level may go away.
  row_source matrix() const {
    return {cells(), cells(), [axes = axes_](int row, std::vector<row_entry>& to) {
              const std::array<int, 3> at = place_of(axes, row);
              f64 diagonal = 0;
              const std::size_t first = to.size();
              int stride = 1;
              for (std::size_t a = axes.size(); a-- > 0; stride *= axes[a].size()) {
                f64 face = 1;
                for (std::size_t other = 0; other < axes.size(); ++other)
                  if (other != a) face *= axes[other].width[static_cast<std::size_t>(at[other])];
                const grid_axis::weights w = axes[a].at(at[a]);
                diagonal += face * (w.of_below + w.of_above + w.of_sides);
                if (w.below >= 0) add(to, first, row + (w.below - at[a]) * stride, -face * w.of_below);
                if (w.above >= 0) add(to, first, row + (w.above - at[a]) * stride, -face * w.of_above);
              }
              to.push_back({row, diagonal});
            }};
  }
  /// Linear interpolation from a coarser level, (cells, cells there), and its transposed matrix.
  row_source interpolation_from(const grid_level& coarse) const {
    const auto shares = shares_from(coarse);
    return {cells(), coarse.cells(),
            [fine = axes_, to_axes = coarse.axes_, shares](int row, std::vector<row_entry>& to) {
              product_of(place_of(fine, row), to_axes, shares, to);
            }};
  }
  row_source restriction_to(const grid_level& coarse) const {
    auto shares = shares_from(coarse);
    for (std::size_t a = 0; a < shares.size(); ++a) {
      std::vector<std::vector<grid_axis::share>> turned(static_cast<std::size_t>(coarse.axes_[a].size()));
      for (std::size_t i = 0; i < shares[a].size(); ++i)
        for (const auto& [j, s] : shares[a][i])
          turned[static_cast<std::size_t>(j)].push_back({static_cast<int>(i), s});
      shares[a] = std::move(turned);
    }
    return {coarse.cells(), cells(),
            [from = coarse.axes_, fine = axes_, shares](int row, std::vector<row_entry>& to) {
              product_of(place_of(from, row), fine, shares, to);
            }};
  }

 private:
  using all_shares = std::vector<std::vector<std::vector<grid_axis::share>>>;  // by axis and cell

  all_shares shares_from(const grid_level& coarse) const {
    all_shares s;
    for (std::size_t a = 0; a < axes_.size(); ++a)
      s.push_back(grid_axis::interpolation(axes_[a], coarse.axes_[a]));
    return s;
  }
  static std::array<int, 3> place_of(const std::vector<grid_axis>& axes, int cell) {
    std::array<int, 3> at{};
    for (std::size_t a = axes.size(); a-- > 0; cell /= axes[a].size()) at[a] = cell % axes[a].size();
    return at;
  }
  static void add(std::vector<row_entry>& to, std::size_t first, int column, f64 value) {
    for (std::size_t k = first; k < to.size(); ++k)
      if (to[k].column == column) return void(to[k].value += value);
    to.push_back({column, value});
  }
  /// The product of the shares of all axes.
  static void product_of(const std::array<int, 3>& at, const std::vector<grid_axis>& there,
                         const all_shares& shares, std::vector<row_entry>& to) {
    const std::size_t first = to.size();
    to.push_back({0, 1});
    for (std::size_t a = 0; a < there.size(); ++a) {
      const auto& along = shares[a][static_cast<std::size_t>(at[a])];
      const std::size_t count = to.size() - first;
      std::vector<row_entry> before(to.begin() + static_cast<std::ptrdiff_t>(first), to.end());
      to.resize(first);
      for (std::size_t k = 0; k < count; ++k)
        for (const auto& [cell, s] : along)
          to.push_back({before[k].column * there[a].size() + cell, before[k].value * s});
    }
  }

  std::vector<grid_axis> axes_;
};

struct grid_system {
  std::vector<int> size;  ///< cells along one to three axes, the last one fastest
  side_condition sides = side_condition::dirichlet;

  /// Throws std::invalid_argument that names the mistake and the remedy.
  void check() const {
    if (size.empty() || size.size() > 3)
      support::bad_argument({"solver: a grid has one to three axes, not ", size.size()});
    i64 cells = 1;
    for (int n : size) {
      if (n < 1) support::bad_argument({"solver: a grid has at least one cell along each axis, not ", n});
      cells *= n;
      if (cells > most_cells)
        support::bad_argument(
            {"solver: a grid of more than ", most_cells, " cells is not numbered with 32 bits"});
    }
    if (sides != side_condition::dirichlet && cells == 1)
      support::bad_argument(
          {"solver: a grid of one cell without sides of value zero has no equation: take "
           "more cells, or dirichlet"});
  }
  /// Adds all that makes the system, valid or not.
  void describe(support::fingerprint& f) const {
    f.add(size.size()), f.add(size.data(), size.size() * sizeof(int)), f.add(sides);
  }
  int cells() const {
    int n = 1;
    for (int s : size) n *= s;
    return n;
  }
  /// Constants are in the null space: solutions differ by them.
  bool is_singular() const { return sides != side_condition::dirichlet; }
  grid_level finest() const {
    std::vector<grid_axis> axes;
    for (int n : size) axes.push_back(grid_axis::of(n, sides));
    return grid_level(std::move(axes));
  }
  /// The rows of the system's matrix. Throws as `check`.
  row_source matrix() const {
    check();
    return finest().matrix();
  }

 private:
  static constexpr i64 most_cells = 1 << 30;
};

}  // namespace wsl::solver
