// SPDX-License-Identifier: MIT
// The PE program of y = A x, and its layout. Every PE keeps a tile of A. x is scattered along the first row
// and broadcast down the columns, every PE multiplies its tile with its part of x, and the rows reduce to
// their first PE, which has a part of y. The front end is gemv.hpp.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "../../collective/broadcast.hpp"
#include "../../collective/reduce.hpp"
#include "../../collective/scatter.hpp"
#include "../../linalg/matrix.hpp"
#include "../../linalg/matrix_vector.hpp"
#include "../../support/huge_array.hpp"

namespace wsl::detail {
/// The arguments of a launch: the vectors of the host.
template <class T>
struct gemv_problem {
  std::span<f32> y;
  std::span<const T> x;
};

template <class T>
struct gemv_tile {
  static constexpr scatter<f32> deal{.first = 0, .where = row(0), .among = each_row};
  static constexpr broadcast<f32> spread{.first = 2, .among = each_column};
  static constexpr reduce<f32> sum{.first = 3, .among = each_row, .words = 1024};

  std::vector<T> narrow;             // the tile, (rows, width) with whole vectors, as it is ...
  support::huge_array wide, some;    // ... or as f32, and some rows of it
  support::huge_array blocks, x, y;  // all of x at the first PE; this PE's parts
  int rows = 0, columns = 0, width = 0;
  gemv_problem<T> problem;
  endpoint<deal> dealing;
  endpoint<spread> spreading;
  endpoint<sum> summing;

  static constexpr int at_a_time = 4;  // rows that become f32

  static layout plan(int wide, int high) {
    layout l{host, wide, high};
    l.place(all, program_v<gemv_tile>);
    deal.wire(l), spread.wire(l), sum.wire(l);
    return l;
  }

  /// The host loads the tile of the PE in column i and row j.
  void load(const matrix<const T>& a, int pes_wide, int pes_high, int i, int j) {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    rows = std::max(1, (a.rows() + pes_high - 1) / pes_high),
    columns = std::max(1, (a.columns() + pes_wide - 1) / pes_wide);
    width = (columns + widest_lanes - 1) / widest_lanes * widest_lanes;
    const int top = std::min(a.rows(), j * rows), left = std::min(a.columns(), i * columns);
    const matrix<const T> mine =
        a.part(top, left, std::min(rows, a.rows() - top), std::min(columns, a.columns() - left));
    if constexpr (std::is_same_v<T, f32>) {
      wide = support::huge_array(size(rows) * size(width));
      copy(matrix<f32>(wide.data(), mine.rows(), mine.columns(), width, 1), mine);
    } else {
      narrow.assign(size(rows) * size(width), T{});
      copy(matrix<T>(narrow.data(), mine.rows(), mine.columns(), width, 1), mine);
      some = support::huge_array(size(at_a_time) * size(width));
    }
    x = support::huge_array(size(width)), y = support::huge_array(size(rows));
    if (i == 0 && j == 0) blocks = support::huge_array(size(columns) * size(pes_wide));
  }

  void begin(pe& me, const gemv_problem<T>& p) {
    problem = p;
    if (!me.north_edge()) return x_is_here(me);
    if (!me.west_edge()) return dealing.start(me, x_words(), then<&gemv_tile::x_is_here>());
    for (std::size_t k = 0; k < p.x.size(); ++k) blocks.data()[k] = static_cast<f32>(p.x[k]);
    dealing.start(me, mem(std::span(blocks.data(), blocks.size())), x_words(), then<&gemv_tile::x_is_here>());
  }
  void x_is_here(pe& me) { spreading.start(me, x_words(), then<&gemv_tile::multiply>()); }
  void multiply(pe& me) {
    const auto dot =
        vector_code<dense::matrix_times_vector<1>, const f32*, const f32*, f32*, int, int>::best();
    if constexpr (std::is_same_v<T, f32>) dot(wide.data(), x.data(), y.data(), rows, width);
    else
      for (int r = 0; r < rows; r += at_a_time) {
        const int n = std::min(at_a_time, rows - r);
        for (i64 k = 0; k < i64{n} * width; ++k)
          some.data()[k] = static_cast<f32>(narrow[static_cast<std::size_t>(i64{r} * width + k)]);
        dot(some.data(), x.data(), y.data() + r, n, width);
      }
    summing.start(me, mem(std::span(y.data(), y.size())), then<&gemv_tile::summed>());
  }
  void summed(pe& me) {
    if (!me.west_edge()) return;
    const std::size_t first = std::min(problem.y.size(), static_cast<std::size_t>(me.y()) * y.size());
    std::copy_n(y.data(), std::min(y.size(), problem.y.size() - first), problem.y.data() + first);
  }
  memory<f32> x_words() { return mem(std::span(x.data(), static_cast<std::size_t>(columns))); }

  static consteval auto tasks() {
    return table(launch<&gemv_tile::begin>(), local<&gemv_tile::x_is_here>(), local<&gemv_tile::multiply>(),
                 local<&gemv_tile::summed>(), use<&gemv_tile::dealing>(), use<&gemv_tile::spreading>(),
                 use<&gemv_tile::summing>());
  }
};

}  // namespace wsl::detail
