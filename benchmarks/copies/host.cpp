// SPDX-License-Identifier: MIT
// The throughput of transfers between arrays of the host and the memories of PEs, in wall-clock time: copies
// in both orders, one block for each row or column, and streams, beside a plain copy of as many bytes. Every
// copy is checked word by word.
#include <benchmark/benchmark.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

namespace {
using namespace wsl;

constexpr int words = 256;  // a PE
constexpr color<f32> in{0}, out{1};

struct cell {
  f32 x[words]{};
  void echo(pe& me) { me.async(mov(fabout(out, forever), fabin(in, forever))); }
  using tasks = task_list<launch<&cell::echo>, reads<in>, sends<out>>;
};

layout square(int side) {
  layout l{wse2, side, side};
  l.place<cell>(all);
  l.path(in, column(0), west >> ramp).stream_in(in, column(0), west);
  l.path(out, column(0), ramp >> west).stream_out(out, column(0), west);
  return l;
}

std::vector<f32> numbers(int blocks) {
  std::vector<f32> x(static_cast<std::size_t>(blocks * words));
  std::iota(x.begin(), x.end(), 0.f);
  return x;
}

/// Repeats a copy of `x`, counts its bytes, and stops the benchmark with an error if `same` does not hold
/// afterwards.
template <class Copy, class Check>
void repeat(benchmark::State& state, std::size_t bytes, Copy copy, Check same) {
  for (auto _ : state) copy();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  if (!same()) state.SkipWithError("a word is wrong");
}

enum class way { plain, in_row_major, in_column_major, out_row_major, rows, columns, streams };

template <way how>
void host_copies(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  fabric f{square(side)};
  device d{f};
  const bool by_lines = how == way::rows || how == way::columns || how == way::streams;
  const std::vector<f32> x = numbers(by_lines ? side : side * side);
  std::vector<f32> y(how == way::rows || how == way::columns ? x.size() * static_cast<std::size_t>(side)
                                                             : x.size());
  const std::size_t bytes = y.size() * sizeof(f32);
  const auto back = [&](order by) { return d.copy_out(&cell::x, all, by) == x; };
  // Word i of the PE in column c and row r is that of its row's or column's block.
  const auto lines = [&](bool rows) {
    d.copy_out(&cell::x, all, y);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const std::size_t pe = k / words, n = static_cast<std::size_t>(side);
      if (y[k] != x[(rows ? pe / n : pe % n) * words + k % words]) return false;
    }
    return true;
  };
  if constexpr (how == way::plain)
    repeat(
        state, bytes,
        [&] {
          std::memcpy(y.data(), x.data(), bytes), benchmark::DoNotOptimize(y.data()),
              benchmark::ClobberMemory();
        },
        [&] { return x == y; });
  else if constexpr (how == way::in_row_major)
    repeat(state, bytes, [&] { d.copy_in(&cell::x, all, x); }, [&] { return back(row_major); });
  else if constexpr (how == way::in_column_major)
    repeat(
        state, bytes, [&] { d.copy_in(&cell::x, all, x, column_major); }, [&] { return back(column_major); });
  else if constexpr (how == way::out_row_major)
    d.copy_in(&cell::x, all, x),
        repeat(state, bytes, [&] { d.copy_out(&cell::x, all, y); }, [&] { return x == y; });
  else if constexpr (how == way::rows)
    repeat(state, bytes, [&] { d.broadcast_along_rows(&cell::x, all, x); }, [&] { return lines(true); });
  else if constexpr (how == way::columns)
    repeat(state, bytes, [&] { d.broadcast_along_columns(&cell::x, all, x); }, [&] { return lines(false); });
  else
    f.launch<&cell::echo>(column(0)),
        repeat(state, 2 * bytes, [&] { d.stream_in(in, x), d.stream_out(out, y); }, [&] { return x == y; });
}

BENCHMARK(host_copies<way::plain>)->Name("plain copy")->Arg(16)->Arg(64);
BENCHMARK(host_copies<way::in_row_major>)->Name("host to PEs, row by row")->Arg(16)->Arg(64);
BENCHMARK(host_copies<way::in_column_major>)->Name("host to PEs, plane by plane")->Arg(16)->Arg(64);
BENCHMARK(host_copies<way::out_row_major>)->Name("PEs to host, row by row")->Arg(16)->Arg(64);
BENCHMARK(host_copies<way::rows>)->Name("a block for each row")->Arg(16)->Arg(64);
BENCHMARK(host_copies<way::columns>)->Name("a block for each column")->Arg(16)->Arg(64);
BENCHMARK(host_copies<way::streams>)->Name("streams in and out")->Arg(16)->Arg(64);

}  // namespace
