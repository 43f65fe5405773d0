// SPDX-License-Identifier: MIT
// A FIFO between the fabric and an operation: words stream in, wait in the FIFO, go once around the PE's own
// ramp and leave with one added. Two asynchronous operations work beside the tasks, one at each end of the
// FIFO, so the host may write as many words as the FIFO holds before any of them is taken.
#include <wsl/host/device.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int N = 40;
constexpr color<i16> in{0}, inner{1}, out{2};

struct stage {
  fifo<i16, 1024> waiting;

  void start(pe& me) {
    me.async(mov(into(waiting), fabin(in, forever)));        // from the fabric into the FIFO
    me.async(mov(fabout(inner, forever), out_of(waiting)));  // from there to the router, which sends it back
    me.async(add(fabout(out, N), fabin(inner, N), 1));
  }

  using tasks = task_list<local<&stage::start, active>, reads<in, inner>, sends<inner, out>>;
};

constexpr layout pipeline = layout{wse2, 1, 1}
  .place<stage>(all)
  .path(in, all, west >> ramp)
  .path(inner, all, ramp >> ramp)
  .path(out, all, ramp >> east)
  .stream_in(in, all, west)
  .stream_out(out, all, east);
static_assert(routed<pipeline>());

int main() {
  std::vector<i16> x(N), y(N);
  for (int i = 0; i < N; ++i) x[static_cast<std::size_t>(i)] = static_cast<i16>(i * i);

  fabric f{pipeline};
  device d{f};
  d.stream_in(in, x);
  d.stream_out(out, y);

  bool right = true;
  for (std::size_t i = 0; i < N; ++i) {
    right = right && y[i] == x[i] + 1;
    std::printf("%5d%s", y[i], i % 10 == 9 ? "\n" : "");
  }
  return right ? 0 : 1;
}
