// SPDX-License-Identifier: MIT
// FIFOs belong at the rim of a pipeline: the PE that computes has neither memory nor a microthread to spare
// for one. A PE to its west buffers the words that come from the host, and one to its east those that go
// there, so the host may write everything before it reads anything.
#include <wsl/host/device.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int N = 60;
constexpr color<i16> from_host{0}, first{1}, second{2}, to_host{3};

/// Keeps words until they are wanted.
template <color<i16> in, color<i16> out>
struct depot {
  fifo<i16, 64> kept;

  void start(pe& me) {
    me.async(mov(into(kept), fabin(in, forever)));
    me.async(mov(fabout(out, forever), out_of(kept)));
  }
  using tasks = task_list<local<&depot::start, active>, reads<in>, sends<out>>;
};

struct adder {
  void start(pe& me) { me.async(add(fabout(second, N), fabin(first, N), 1)); }
  using tasks = task_list<local<&adder::start, active>, reads<first>, sends<second>>;
};

constexpr layout pipeline = layout{wse2, 3, 1}
  .place<depot<from_host, first>>(column(0))
  .place<adder>(column(1))
  .place<depot<second, to_host>>(column(2))
  .path(from_host, column(0), west >> ramp)
  .path(first,     column(0), ramp >> east)
  .path(first,     column(1), west >> ramp)
  .path(second,    column(1), ramp >> east)
  .path(second,    column(2), west >> ramp)
  .path(to_host,   column(2), ramp >> east)
  .stream_in(from_host, column(0), west)
  .stream_out(to_host, column(2), east);
static_assert(routed<pipeline>());

int main() {
  std::vector<i16> x(N), y(N);
  for (std::size_t i = 0; i < N; ++i) x[i] = static_cast<i16>(3 * i);

  fabric f{pipeline};
  device d{f};
  d.stream_in(from_host, x);
  d.stream_out(to_host, y);

  bool right = true;
  for (std::size_t i = 0; i < N; ++i) {
    right = right && y[i] == x[i] + 1;
    std::printf("%5d%s", y[i], i % 10 == 9 ? "\n" : "");
  }
  return right ? 0 : 1;
}
