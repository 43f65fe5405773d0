// SPDX-License-Identifier: MIT
// Cholesky factorization: A = L Lᵀ on a triangle of PEs, each with a tile of A that becomes a tile of L.
// Column by column of tiles, the PE on the diagonal factors its tile and sends it down; those below solve for
// their tiles of L and send them east; where such a row meets the diagonal it turns south. All other PEs
// subtract a product. So the color of a row has another sender for each column of tiles: a switch lets the
// next one in.
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
using namespace wsl;

constexpr color<f32> along_row{0}, down_column{1};

template <int n>
struct tile {
  using square = f32[static_cast<std::size_t>(n * n)];  // row by row
  square a{}, left{}, above{};

  task factorize(pe& me) {
    if (me.x() > me.y()) co_return;
    const bool diagonal = me.x() == me.y();
    // For column k of L's tiles, this row's tile comes from the west and this column's tile from the north.
    for (int k = 0; k < me.x(); ++k) {
      co_await mov(mem(left), fabin(along_row));
      if (diagonal && !me.south_edge()) co_await mov(fabout(down_column), mem(left));
      if (!diagonal) co_await mov(mem(above), fabin(down_column));
      subtract_product(diagonal ? left : above);
    }
    if (diagonal) {
      factor();
      if (!me.south_edge()) co_await mov(fabout(down_column), mem(a));
    } else {
      co_await mov(mem(above), fabin(down_column));
      solve();
      co_await mov(fabout(along_row), mem(a));
      if (me.x() + 1 < me.y()) let_the_next_send(me);
    }
  }

  using tasks = task_list<launch<&tile::factorize>, reads<along_row, down_column>,
                          sends<along_row, down_column>, steers<along_row, switch_adv>>;

 private:
  // The command is for the next router. At the west edge it is the first on the way that has a switch.
  void let_the_next_send(pe& me) {
    if (me.west_edge()) me.send_control(along_row, switch_adv);
    else me.send_control(along_row, {nop, switch_adv});
  }
  static auto column(square& of, int j, int from = 0) { return mem(of).from(from * n + j).every(n); }

  void subtract_product(square& other) {  // a -= left otherᵀ
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) fmac(column(a, j), column(a, j), column(left, k), -other[j * n + k]);
  }
  void factor() {  // the lower triangle of a becomes L with a = L Lᵀ
    for (int k = 0; k < n; ++k) {
      mul(column(a, k, k), column(a, k, k), 1 / std::sqrt(a[k * n + k]));
      for (int j = k + 1; j < n; ++j) fmac(column(a, j, j), column(a, j, j), column(a, k, j), -a[j * n + k]);
    }
  }
  void solve() {  // a becomes a L⁻ᵀ with the L from above
    for (int k = 0; k < n; ++k) {
      mul(column(a, k), column(a, k), 1 / above[k * n + k]);
      for (int j = k + 1; j < n; ++j) fmac(column(a, j), column(a, j), column(a, k), -above[j * n + k]);
    }
  }
};

template <int n>
layout triangle(int tiles) {  // three or more
  layout l{wse3, tiles, tiles};
  l.place<tile<n>>(all);
  l.path(along_row, column(0).rows(1), ramp >> east);
  l.path(down_column, row(edge - 1).columns(0, edge - 1), north >> ramp);
  for (int i = 0; i < tiles; ++i) {
    l.path(along_row, row(i).columns(1, i), west >> (ramp | east),
           switches{.pos1 = ramp >> east, .pop = pop::always});
    if (i > 0) l.path(along_row, at(i, i), west >> ramp);
    if (i + 1 < tiles) l.path(down_column, at(i, i), ramp >> south);
    l.path(down_column, column(i).rows(i + 1, edge - 1), north >> (ramp | south));
  }
  return l;
}

/// Factors a matrix of (tiles n, tiles n) on the fabric and serially, in f64. Returns the largest difference,
/// relative to the diagonal of L.
template <int n>
f64 difference(int tiles) {
  const int size = tiles * n;
  std::vector<f64> l(static_cast<std::size_t>(size * size));
  const auto at = [&](int i, int j) -> f64& { return l[static_cast<std::size_t>(i * size + j)]; };
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) at(i, j) = std::cos(i * j) + (i == j ? size : 0);

  fabric f{triangle<n>(tiles)};
  for (int i = 0; i < size; ++i)
    for (int j = 0; j <= i; ++j)
      f.program_at<tile<n>>({j / n, i / n}).a[i % n * n + j % n] = static_cast<f32>(at(i, j));
  f.launch();

  f64 largest = 0;
  for (int j = 0; j < size; ++j)
    for (int i = j; i < size; ++i) {
      for (int k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) = i == j ? std::sqrt(at(j, j)) : at(i, j) / at(j, j);
      const f64 found = f.program_at<tile<n>>({j / n, i / n}).a[i % n * n + j % n];
      largest = std::max(largest, std::abs(found - at(i, j)) / at(j, j));
    }
  return largest;
}

int main() {
  const f64 worst = std::max({difference<4>(5), difference<8>(4), difference<2>(3)});
  std::printf("L on triangles of 5, 4 and 3 rows of PEs: %s the serial L\n", worst < 1e-6 ? "as" : "not as");
  return worst < 1e-6 ? 0 : 1;
}
