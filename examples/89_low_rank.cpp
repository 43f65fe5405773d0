// SPDX-License-Identifier: MIT
// A matrix of low-rank tiles: exp(-|x_i - x_j|) of ascending points x. Tiles beside the diagonal are
// exp(-x_i) exp(x_j), of rank 1; those on the diagonal are kept whole. A product reads a sixth of the dense
// matrix, and two sweeps over the points compute what it must be.
#include <wsl/kernel/tlr.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

constexpr int N = 1000, tile = 64;

f32 point(int i) { return 0.01f * (static_cast<f32>(i) + 0.4f * static_cast<f32>(i % 3)); }

/// Tile (i, j) of the matrix.
tlr::factors<f32> factors_of(const tlr::range& rows, const tlr::range& columns) {
  tlr::factors<f32> f;
  const bool diagonal = rows.from == columns.from;
  f.rank = diagonal ? columns.size() : 1;
  // A point between those of the two tiles.
  const f32 middle = point(rows.from < columns.from ? columns.from : rows.from);
  for (int k = 0; k < f.rank; ++k) {
    for (int i = rows.from; i < rows.to; ++i)
      f.u.push_back(std::exp(-std::abs(point(i) - (diagonal ? point(columns.from + k) : middle))));
    for (int j = columns.from; j < columns.to; ++j)
      f.v.push_back(diagonal ? static_cast<f32>(j == columns.from + k)
                             : std::exp(-std::abs(point(j) - middle)));
  }
  return f;
}

int main() {
  tlr::low_rank<f32> a(N, N, tile);
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) a.set(i, j, factors_of(a.rows_of(i), a.columns_of(j)));

  std::vector<f32> x, y(N), stacked(N);
  for (int i = 0; i < N; ++i) x.push_back(std::sin(0.1f * static_cast<f32>(i)));
  // Coefficients travel between the PEs.
  tlr::multiplier<f32> product(a, {.pes = 4});
  product(y, x);
  // Nothing travels, and the host adds up.
  tlr::multiplier<f32> alone(a, {.pes = 4, .how = tlr::schedule::stacked});
  alone(stacked, x);

  std::vector<f64> exact(N);  // from the left, and from the right without the point itself
  for (int i = 0; i < N; ++i) {
    const auto at = static_cast<std::size_t>(i);
    exact[at] =
      static_cast<f64>(x[at]) +
      (i ? exact[at - 1] * std::exp(static_cast<f64>(point(i - 1)) - static_cast<f64>(point(i))) : 0);
  }
  f64 right = 0;
  for (int i = N - 2; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    right = (right + static_cast<f64>(x[at + 1])) *
            std::exp(static_cast<f64>(point(i)) - static_cast<f64>(point(i + 1)));
    exact[at] += right;
  }

  f64 error = 0, size = 0;
  for (std::size_t i = 0; i < N; ++i) {
    error = std::max({error, std::abs(static_cast<f64>(y[i]) - exact[i]),
                      std::abs(static_cast<f64>(stacked[i]) - exact[i])});
    size = std::max(size, std::abs(exact[i]));
  }
  std::printf("%d x %d, %.0f %% of it kept: the products are %s\n", N, N,
              100 * static_cast<f64>(a.numbers()) / static_cast<f64>(a.dense_numbers()),
              error < 1e-5 * size ? "right to 1e-5" : "wrong");
  return error < 1e-5 * size ? 0 : 1;
}
