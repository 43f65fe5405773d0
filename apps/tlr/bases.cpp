// SPDX-License-Identifier: MIT
#include "bases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace tlr_app {
namespace {

using namespace wsl;
using complex = std::complex<f32>;

template <class... X>
[[noreturn]] void refuse(fmt::format_string<X...> sentence, X&&... x) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<X>(x)...));
}
std::size_t size(i64 n) { return static_cast<std::size_t>(n); }

bool is_finite(f32 x) { return std::isfinite(x); }
bool is_finite(complex x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

template <class T>
void require_finite(const std::vector<T>& numbers, const char* which, const std::string& name) {
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (!is_finite(numbers[k])) refuse("{}: number {} of {} is not finite as f32", name, k, which);
}

/// Rows, or columns, of a matrix of so many tiles of this side: as given, or those that fill the tiles.
i64 length(i64 given, i64 tiles, i64 tile, const char* what, const std::string& name) {
  const i64 all = given ? given : tiles * tile;
  if (all > most_rows || all <= (tiles - 1) * tile || all > tiles * tile)
    refuse("{}: {} tiles of {} make {} to {} {}, and at most {}, not {}", name, tiles, tile,
           (tiles - 1) * tile + 1, tiles * tile, what, most_rows, all);
  return all;
}

}  // namespace

template <class T>
tlr::low_rank<T> bases_from(const stored_bases<T>& stored, const bases_shape& shape,
                            const std::string& name) {
  const std::vector<i64>& ranks = stored.ranks.numbers;
  if (stored.ranks.shape.size() != 2 || ranks.empty() || stored.ranks.shape[0] > size(most_rows) ||
      stored.ranks.shape[1] > size(most_rows))
    refuse("{}: its table of ranks is ({}), not (rows of tiles, columns of tiles)", name,
           fmt::join(stored.ranks.shape, ", "));
  const i64 high = static_cast<i64>(stored.ranks.shape[0]), wide = static_cast<i64>(stored.ranks.shape[1]);
  i64 all = 0;
  for (std::size_t t = 0; t < ranks.size(); ++t) {
    if (ranks[t] < 0 || ranks[t] > most_tile)
      refuse("{}: the rank of tile ({}, {}) is {}", name, t / size(wide), t % size(wide), ranks[t]);
    all += ranks[t];
  }
  const i64 numbers = static_cast<i64>(stored.u.numbers.size()), tile = shape.tile ? shape.tile
                                                                        : all > 0  ? numbers / all
                                                                                   : 0;
  if (tile == 0 && numbers == 0)
    refuse("{}: all ranks are 0, so that the side of a tile is not known: give it with --tile", name);
  if (tile < 1 || tile > most_tile || numbers != all * tile)
    refuse("{}: U has {} numbers; ranks of {} in all take {}", name, numbers, all,
           tile < 1 || tile > most_tile
               ? fmt::format("that many times the side of a tile, 1 to {}", most_tile)
               : fmt::format("{} with tiles of {}", all * tile, tile));
  if (stored.v.numbers.size() != size(numbers))
    refuse("{}: V has {} numbers, and U {}: both have those of all ranks", name, stored.v.numbers.size(),
           numbers);
  for (std::size_t t = 0; t < ranks.size(); ++t)
    if (ranks[t] > tile)
      refuse("{}: the rank of tile ({}, {}) is {}, more than the side of a tile, {}", name, t / size(wide),
             t % size(wide), ranks[t], tile);
  const i64 rows = length(shape.rows, high, tile, "rows", name),
            columns = length(shape.columns, wide, tile, "columns", name);
  require_finite(stored.u.numbers, "U", name), require_finite(stored.v.numbers, "V", name);

  tlr::low_rank<T> a(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(tile));
  std::vector<i64> of_column(size(wide)), above(size(wide)), begins(size(wide));  // ranks; where V begins
  for (std::size_t t = 0; t < ranks.size(); ++t) of_column[t % size(wide)] += ranks[t];
  for (std::size_t j = 1; j < size(wide); ++j) begins[j] = begins[j - 1] + of_column[j - 1] * tile;
  const T* u = stored.u.numbers.data();
  for (int i = 0; i < high; ++i)
    for (int j = 0; j < wide; ++j) {
      const int r = a.rows_of(i).size(), c = a.columns_of(j).size();
      tlr::factors<T> f{static_cast<int>(ranks[size(i * wide + j)]), {}, {}};
      f.u.reserve(size(i64{f.rank} * r)), f.v.reserve(size(i64{f.rank} * c));
      const T* v = stored.v.numbers.data() + begins[size(j)] + above[size(j)];
      for (int k = 0; k < f.rank; ++k, u += tile) {
        f.u.insert(f.u.end(), u, u + r);
        for (i64 q = 0; q < c; ++q) f.v.push_back(v[q * of_column[size(j)] + k]);
      }
      above[size(j)] += f.rank;
      a.set(i, j, std::move(f));
    }
  return a;
}

template <class T>
stored_bases<T> bases_of(const tlr::low_rank<T>& a) {
  const i64 high = a.tile_rows(), wide = a.tile_columns(), tile = a.side(), all = a.ranks();
  stored_bases<T> out{{{size(high), size(wide)}, {}},
                      {{size(all), size(tile)}, std::vector<T>(size(all * tile))},
                      {{size(all * tile)}, std::vector<T>(size(all * tile))}};
  T* u = out.u.numbers.data();
  for (int i = 0; i < high; ++i)
    for (int j = 0; j < wide; ++j) {
      const tlr::factors<T>& f = a.at(i, j);
      out.ranks.numbers.push_back(f.rank);
      const i64 r = a.rows_of(i).size();
      for (i64 k = 0; k < f.rank; ++k, u += tile) std::copy_n(f.u.begin() + k * r, r, u);
    }
  T* v = out.v.numbers.data();
  for (int j = 0; j < wide; ++j) {
    i64 ranks = 0, above = 0;
    for (int i = 0; i < high; ++i) ranks += a.at(i, j).rank;
    const i64 c = a.columns_of(j).size();
    for (int i = 0; i < high; ++i) {
      const tlr::factors<T>& f = a.at(i, j);
      for (i64 k = 0; k < f.rank; ++k)
        for (i64 q = 0; q < c; ++q) v[q * ranks + above + k] = f.v[size(k * c + q)];
      above += f.rank;
    }
    v += ranks * tile;
  }
  return out;
}

template <class T>
void measure_error(tlr::low_rank<T>& a, const std::vector<T>& dense) {
  f64 square = 0;
  std::vector<tlr::wide<T>> row;
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      const tlr::factors<T>& f = a.at(i, j);
      const tlr::range rows = a.rows_of(i), columns = a.columns_of(j);
      for (int r = 0; r < rows.size(); ++r) {
        const T* from = dense.data() + i64{rows.from + r} * a.columns() + columns.from;
        row.assign(from, from + columns.size());
        for (i64 k = 0; k < f.rank; ++k) {
          const tlr::wide<T> u(f.u[size(k * rows.size() + r)]);
          for (std::size_t c = 0; c < row.size(); ++c)
            row[c] -= u * tlr::wide<T>(f.v[size(k * columns.size()) + c]);
        }
        for (const auto& x : row) square += std::norm(x);
      }
    }
  a.error = std::sqrt(square);
}

template tlr::low_rank<f32> bases_from(const stored_bases<f32>&, const bases_shape&, const std::string&);
template tlr::low_rank<complex> bases_from(const stored_bases<complex>&, const bases_shape&,
                                           const std::string&);
template stored_bases<f32> bases_of(const tlr::low_rank<f32>&);
template stored_bases<complex> bases_of(const tlr::low_rank<complex>&);
template void measure_error(tlr::low_rank<f32>&, const std::vector<f32>&);
template void measure_error(tlr::low_rank<complex>&, const std::vector<complex>&);

}  // namespace tlr_app
