// SPDX-License-Identifier: MIT
// y = A x on a grid of PEs, each of which keeps a tile of A: x is scattered along the first row and broadcast
// down the columns, every PE multiplies, and the rows sum up what their PEs have. A stays where it is from
// product to product.
//   gemv_fabric<f32> product(matrix(a, m, n));
//   product(y, x);
// See examples/87_gemv.cpp.
#pragma once
#include <algorithm>
#include <span>
#include <thread>
#include <vector>

#include "../collective/broadcast.hpp"
#include "../collective/reduce.hpp"
#include "../collective/scatter.hpp"
#include "../linalg/matrix.hpp"
#include "../support/huge_array.hpp"
#include "tlr/loops.hpp"

namespace wsl {

struct gemv_options {
  int wide = 0, high = 0;  ///< PEs; 0: one column of PEs, one for each thread
  int threads = 0;         ///< 0: WSL_THREADS, or one a core
};

namespace detail {

/// What the host gives to every PE: where its vectors are.
template <class T>
struct gemv_problem {
  std::span<f32> y;
  std::span<const T> x;
};

template <class T>
struct gemv_tile {
  static constexpr scatter<f32> deal{.first = 0, .where = row(0), .among = each_row};
  static constexpr broadcast<f32> spread{.first = 2, .among = each_column};
  static constexpr collective::reduce<f32> sum{.first = 3, .among = each_row, .words = 1024};

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
    l.place<gemv_tile>(all);
    deal.wire(l), spread.wire(l), sum.wire(l);
    return l;
  }

  /// The host gives the PE in column i and row j its tile.
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
    const auto dot = vector_code<tlr::dots<1>, const f32*, const f32*, f32*, int, int>::best();
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

  using tasks = task_list<launch<&gemv_tile::begin>, local<&gemv_tile::x_is_here>,
                          local<&gemv_tile::multiply>, local<&gemv_tile::summed>, use<&gemv_tile::dealing>,
                          use<&gemv_tile::spreading>, use<&gemv_tile::summing>>;
};

}  // namespace detail

/// A grid of PEs with the tiles of a matrix A, for many products. A has elements f32, f16 or bf16; the sums
/// are f32.
template <class T>
class gemv_fabric {
 public:
  /// A is (m, n), with any strides; it is copied. Throws std::invalid_argument for a grid of less than one
  /// PE.
  explicit gemv_fabric(const matrix<const T>& a, const gemv_options& how = {})
      : rows_(a.rows()),
        columns_(a.columns()),
        how_(choose(a, how)),
        fabric_(detail::gemv_tile<T>::plan(how_.wide, how_.high), engine(how_)) {
    for (int j = 0; j < how_.high; ++j)
      for (int i = 0; i < how_.wide; ++i)
        fabric_.template program_at<detail::gemv_tile<T>>({i, j}).load(a, how_.wide, how_.high, i, j);
  }

  /// y of m numbers, x of n. An element of y differs from the exact one by at most n * 2^-24 * |A| |x|.
  /// Throws std::invalid_argument if the lengths do not fit.
  outcome operator()(std::span<f32> y, std::span<const T> x) {
    if (y.size() != static_cast<std::size_t>(rows_) || x.size() != static_cast<std::size_t>(columns_))
      throw std::invalid_argument("wsl: y = A x of y (" + std::to_string(y.size()) + "), A (" +
                                  std::to_string(rows_) + ", " + std::to_string(columns_) + ") and x (" +
                                  std::to_string(x.size()) + "): the shapes do not fit");
    if (y.empty()) return {};
    return fabric_.template launch<&detail::gemv_tile<T>::begin>(all, detail::gemv_problem<T>{y, x});
  }

 private:
  static gemv_options choose(const matrix<const T>& a, gemv_options how) {
    const int cores =
        how.threads > 0 ? how.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    if (how.wide == 0) how.wide = 1;
    if (how.high == 0) how.high = std::clamp(cores, 1, std::max(1, a.rows()));
    if (how.wide < 1 || how.high < 1)
      throw std::invalid_argument("wsl: a product runs on at least 1 x 1 PEs, not on " +
                                  std::to_string(how.wide) + " x " + std::to_string(how.high));
    return how;
  }
  static threaded engine(const gemv_options& how) {
    return {.threads = how.threads, .pes_per_partition = static_cast<u32>(how.wide)};
  }

  int rows_, columns_;
  gemv_options how_;
  fabric fabric_;
};

/// y = A x once; see gemv_fabric.
template <class T>
outcome gemv(std::span<f32> y, const matrix<T>& a, std::span<const std::remove_const_t<T>> x,
             const gemv_options& how = {}) {
  return gemv_fabric<std::remove_const_t<T>>(a, how)(y, x);
}

}  // namespace wsl
