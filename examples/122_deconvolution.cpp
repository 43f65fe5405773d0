// SPDX-License-Identifier: MIT
// Deconvolution by frequencies: what a row of receivers records is the wanted wave and its echoes, d = (I + r
// G) x, where G is the wave from any receiver to any other. G has low rank away from its diagonal, and for each
// frequency least squares find x from d.
#include <wsl/kernel/tlr.hpp>

#include <cstdio>
using namespace wsl;
using number = std::complex<f32>;

constexpr int N = 400, tile = 50;
constexpr f32 echo = 0.8f, strength = 0.4f;

f32 place(int i) { return 0.02f * (static_cast<f32>(i) + 0.3f * static_cast<f32>(i % 4)); }  // km
/// The wave over a distance, which loses strength on its way.
number wave(f32 distance, f32 k) { return std::polar(strength * std::exp(-distance), -k * distance); }

/// Tile (rows, columns) of I + r G: on one side of the diagonal, the way goes by a point between both.
tlr::factors<number> factors_of(const tlr::range& rows, const tlr::range& columns, f32 k) {
  tlr::factors<number> f;
  const bool diagonal = rows.from == columns.from;
  f.rank = diagonal ? columns.size() : 1;
  const f32 middle = place(rows.from < columns.from ? columns.from : rows.from);
  for (int c = 0; c < f.rank; ++c) {
    for (int i = rows.from; i < rows.to; ++i)
      f.u.push_back(diagonal ? static_cast<f32>(i == columns.from + c) +
                                   echo * wave(std::abs(place(i) - place(columns.from + c)), k)
                             : echo * wave(std::abs(place(i) - middle), k));
    for (int j = columns.from; j < columns.to; ++j)
      f.v.push_back(diagonal ? static_cast<f32>(j == columns.from + c)
                             : wave(std::abs(place(j) - middle), k) / strength);
  }
  return f;
}

int main() {
  for (f32 k : {5.f, 10.f, 20.f}) {
    tlr::low_rank<number> a(N, N, tile);
    for (int i = 0; i < a.tile_rows(); ++i)
      for (int j = 0; j < a.tile_columns(); ++j) a.set(i, j, factors_of(a.rows_of(i), a.columns_of(j), k));
    tlr::multiplier<number> product(a, {.pes = 4});

    std::vector<number> wanted(N), recorded(N);
    for (int i : {60, 200, 330}) wanted[static_cast<std::size_t>(i)] = 1;
    product(recorded, wanted);
    const auto found = tlr::least_squares<number>(product, N, recorded, {.tolerance = 1e-5});

    f32 before = 0, after = 0;
    for (std::size_t i = 0; i < N; ++i) {
      before = std::max(before, std::abs(recorded[i] - wanted[i]));
      after = std::max(after, std::abs(found.x[i] - wanted[i]));
    }
    std::printf("wave number %2.0f: echoes of up to %.2f are gone to 1e-4: %s\n", static_cast<f64>(k),
                static_cast<f64>(before), after < 1e-4f ? "yes" : "no");
  }
}
