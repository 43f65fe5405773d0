// SPDX-License-Identifier: MIT
// y = A x + b on a region of 4 x 4 PEs, between streams of the host. x is dealt out to the columns and b to the
// rows, partial sums go east, and a multiplexer makes one stream of the rows of y.
#include <wsl/host/device.hpp>
#include <wsl/plan/mux.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int P = 4, rows_of_tile = 8, columns_of_tile = 4, M = P * rows_of_tile, N = P * columns_of_tile;

/// Neighbours use two colors in turn: what an even column sends, an odd one takes.
template <int parity>
struct tile {
  static constexpr auto x = symbolic<f32>(0), west_sum = symbolic<f32>(1 + parity),
                        east_sum = symbolic<f32>(2 - parity);
  f32 a[rows_of_tile * columns_of_tile]{}, y[rows_of_tile]{};  // a by columns
  int column = 0;

  void take(pe& me, f32 value) {
    fmac(mem(y), mem(y), mem(a).part(column * rows_of_tile, rows_of_tile), value);
    if (++column == columns_of_tile)
      me.async(add(fabout(east_sum), mem(y), fabin(west_sum)), then<&tile::done>());
  }
  void done(pe&) { column = 0, mov(mem(y), 0); }
  using tasks = task_list<on<x, &tile::take>, local<&tile::done>, reads<west_sum>, sends<east_sum>>;
};
using even = tile<0>;
using odd = tile<1>;

using y_mux = mux<f32, P, rows_of_tile>;

constexpr coord place_of_gemv{5, 2}, place_of_y{11, 2};
constexpr layout plan = [] {
  floor_plan p{wse2, 14, 8};
  const auto g = p.region("gemv", P, P);
  p.place<even>(g, columns(0, edge, 2)).place<odd>(g, columns(1, edge, 2)).place(g, place_of_gemv);
  const y_mux y(p, "y", south);
  p.place(y, place_of_y);

  // x passes down each column, of which every PE takes its part
  const sparse_counter_filter own{
      .first = 0, .last = columns_of_tile - 1, .period = N, .per_column = columns_of_tile};
  p.stream_in(g.input(even::x, north).to(ramp | south), north, deals{.words = columns_of_tile});
  p.path(g, even::x, rows(1, edge - 1), north >> (ramp | south), own)
      .path(g, even::x, row(edge - 1), north >> ramp, own);

  p.stream_in(g.input(even::west_sum, west), west, deals{.words = rows_of_tile});
  p.path(g, even::east_sum, columns(0, edge, 2), ramp >> east)
      .path(g, odd::west_sum, columns(1, edge, 2), west >> ramp);
  p.path(g, odd::east_sum, columns(1, edge - 1, 2), ramp >> east)
      .path(g, even::west_sum, columns(2, edge, 2), west >> ramp);
  p.connect(g.output(odd::east_sum, east), y.input());
  p.stream_out(y.output(), east);
  return p.connected();
}();
static_assert(routed<plan>());

int main() {
  std::vector<f32> x(N), b(M), y(M);
  for (int j = 0; j < N; ++j) x[static_cast<std::size_t>(j)] = static_cast<f32>(j % 5);
  for (int i = 0; i < M; ++i) b[static_cast<std::size_t>(i)] = static_cast<f32>(i);
  const auto A = [](int i, int j) { return static_cast<f32>((3 * i + 7 * j) % 11 - 5); };

  fabric f{plan};
  for (int row = 0; row < P; ++row)
    for (int column = 0; column < P; ++column)
      for (int k = 0; k < rows_of_tile * columns_of_tile; ++k) {
        const f32 value =
            A(row * rows_of_tile + k % rows_of_tile, column * columns_of_tile + k / rows_of_tile);
        const coord at = place_of_gemv + coord{column, row};
        (column % 2 ? f.program_at<odd>(at).a : f.program_at<even>(at).a)[k] = value;
      }
  device d{f};
  int wrong = 0;
  for (int again = 0; again < 2; ++again) {
    d.stream_in(plan.color_at(place_of_gemv, even::x), x);
    d.stream_in(plan.color_at(place_of_gemv, even::west_sum), b);
    d.stream_out(plan.color_at(place_of_y, y_mux::out), y);
    for (int i = 0; i < M; ++i) {
      f32 expected = b[static_cast<std::size_t>(i)];
      for (int j = 0; j < N; ++j) expected += A(i, j) * x[static_cast<std::size_t>(j)];
      wrong += y[static_cast<std::size_t>(i)] != expected;
    }
  }
  for (const f32 value : y) std::printf("%g ", value);
  std::printf("\n%d of %d wrong\n", wrong, 2 * M);
  return wrong == 0 ? 0 : 1;
}
