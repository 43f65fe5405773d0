// SPDX-License-Identifier: MIT
// The matrix product C = A B on a square of PEs of a wafer, within the limits of a machine: every PE keeps
// its tiles in its SRAM, and the timed engine counts the cycles of the words and of the arithmetic.
//   wafer_gemm<f32, {16, 16, 16}> product(6, wse2, timed{});
//   const u64 cycles = product(c, a, b).cycles;
// It is a header of its own because routes that change cost compile time.
#pragma once
#include "../gemm.hpp"
#include "moving_summa.hpp"

namespace wsl {

/// side x side PEs, each with a tile of C of (shape.rows, shape.columns), whose sums are f32, and two tiles
/// each of A and of B, one of which is on its way.
template <class T, gemm_shape shape, gemm_method method = gemm_method::cannon>
class wafer_gemm {
  using tiles = detail::wafer_tiles<T, shape>;
  static_assert(method != gemm_method::rows,
                "wsl: on a wafer a product is computed by squares of PEs: take cannon or summa");
  using tile = std::conditional_t<method == gemm_method::cannon, detail::cannon_tile<T, tiles>,
                                  detail::moving_summa_tile<T, tiles>>;

 public:
  /// The bytes of a PE's SRAM that the program takes.
  static constexpr int bytes = program_v<tile>.bytes;

  /// Throws std::invalid_argument if the method has no square of this side, and fault if the machine is too
  /// small for it or its PEs for the tiles.
  template <class Engine = threaded>
  explicit wafer_gemm(int side, const machine& target = wse2, const Engine& engine = {})
      : side_(side), fabric_(plan(side, target), engine) {}

  /// C is (m, n), A is (m, k), B is (k, n), each with any strides; tiles that they do not fill are filled up
  /// with zeros. The bound of the error is that of gemm_fabric. Throws std::invalid_argument if the shapes do
  /// not fit each other or the tiles, or if elements of C share a place.
  outcome operator()(const matrix<f32>& c, const matrix<const T>& a, const matrix<const T>& b) {
    detail::check_shapes<T>(c, a, b);
    if (c.rows() > side_ * shape.rows || c.columns() > side_ * shape.columns ||
        a.columns() > side_ * shape.depth)
      support::bad_argument({"C = A B of A ", a.shape(), " and B ", b.shape(), ": the tiles of ", side_,
                             " x ", side_, " PEs hold A of (", side_ * shape.rows, ", ", side_ * shape.depth,
                             ") and B of (", side_ * shape.depth, ", ", side_ * shape.columns,
                             "); take more PEs or larger tiles"});
    const outcome done = fabric_.template launch<&tile::begin>(all, detail::gemm_problem<T>{c, a, b});
    for (int y = 0; y < side_; ++y)
      for (int x = 0; x < side_; ++x) take(c, x, y);
    return done;
  }

  /// The layout on which the product runs.
  static layout plan(int side, const machine& target = wse2) {
    if (side < tile::smallest_side || side > tile::largest_side)
      support::bad_argument({"a grid of a product has a side of ", tile::smallest_side, " to ",
                             tile::largest_side, " PEs, not ", side});
    return tile::plan(side, target);
  }

 private:
  /// The host fetches the tile of C of a PE.
  void take(const matrix<f32>& c, int x, int y) {
    coord at{x, y};
    if constexpr (method == gemm_method::cannon)
      at = {tile::along_rows.place(x, side_), tile::along_columns.place(y, side_)};
    const int top = at.y * shape.rows, left = at.x * shape.columns,
              rows = std::clamp(c.rows() - top, 0, shape.rows),
              columns = std::clamp(c.columns() - left, 0, shape.columns);
    if (rows > 0 && columns > 0)
      copy(c.part(top, left, rows, columns),
           fabric_.template program_at<tile>({x, y}).tiles.c().part(0, 0, rows, columns));
  }

  int side_;
  fabric fabric_;
};

}  // namespace wsl
