// SPDX-License-Identifier: MIT
// A FIFO in front of a task: words that stream in are buffered. Ten is added on the way into the FIFO, the
// sign is changed on the way out, and a path from the ramp to the ramp brings each word to a data task of the
// same PE. The task cubes the word and blocks its color until the answer has left.
#include <wsl/host/device.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int N = 12;
constexpr color<f32> in{0}, loop{1}, out{2};

struct cuber {
  fifo<f32, 1024> kept;

  void start(pe& me) {
    me.async(add(into(kept, N), fabin(in), 10.f));
    me.async(neg(fabout(loop, N), out_of(kept)));
  }
  void cube(pe& me, f32 x) {
    me.block<loop>();
    me.async(mov(fabout(out, 1), x * x * x), unblocks<loop>());
  }

  using tasks = task_list<local<&cuber::start, active>, on<loop, &cuber::cube>, reads<in>, sends<loop, out>>;
};

constexpr layout one = layout{wse2, 1, 1}
  .place<cuber>(all)
  .path(in, all, west >> ramp)
  .path(loop, all, ramp >> ramp)
  .path(out, all, ramp >> east)
  .stream_in(in, all, west)
  .stream_out(out, all, east);
static_assert(routed<one>());

int main() {
  std::vector<f32> x(N), y(N);
  for (std::size_t i = 0; i < N; ++i) x[i] = static_cast<f32>(i);

  fabric f{one};
  device d{f};
  d.stream_in(in, x);
  d.stream_out(out, y);

  bool right = true;
  for (std::size_t i = 0; i < N; ++i) {
    const f32 v = -(x[i] + 10);
    right = right && y[i] == v * v * v;
    std::printf("%g^3 = %g\n", v, y[i]);
  }
  return right ? 0 : 1;
}
