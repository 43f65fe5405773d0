// SPDX-License-Identifier: MIT
// Descriptors move and compute whole arrays. A row of three PEs computes y = a x + y: the first streams x,
// the second adds a x to its y as x arrives and passes y on, the third stores y back to front and sums it up.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int N = 8;
constexpr color<f32> xs{0}, ys{1};

struct source {
  f32 x[N]{};
  bool sent = false;

  void start(pe& me) {
    for (int i = 0; i < N; ++i) x[i] = static_cast<f32>(i);
    // An asynchronous operation runs beside the tasks; when all of x has left, it activates `done`.
    me.async(mov(fabout(xs), mem(x)), then<&source::done>());
  }
  void done(pe&) { sent = true; }

  using tasks = task_list<launch<&source::start>, local<&source::done>, sends<xs>>;
};

struct axpy {
  f32 y[N]{};

  task start(pe& me, f32 a) {  // a task that waits is a coroutine
    mov(mem(y), 100);                             // memory only: done at once
    co_await fmac(mem(y), mem(y), fabin(xs), a);  // y[i] += a * x[i], one element for each wavelet
    me.async(mov(fabout(ys), mem(y)));
  }

  using tasks = task_list<launch<&axpy::start>, reads<xs>, sends<ys>>;
};

struct sink {
  f32 y[N]{}, sum = 0, odd_sum = 0, largest = 0;

  task start(pe&) {
    co_await mov(mem(y).reversed(), fabin(ys));
    add(&sum, 0, mem(y));                         // a scalar's address as destination: a sum
    add(&odd_sum, 0, mem(y).from(1).every(2));    // of every second element
    fmax(&largest, y[0], mem(y).part(0, N / 2));
  }

  using tasks = task_list<launch<&sink::start>, reads<ys>>;
};

constexpr layout line = layout{wse2, 3, 1}
  .place<source>(column(0))
  .place<axpy>(column(1))
  .place<sink>(column(2))
  .path(xs, column(0), ramp >> east)
  .path(xs, column(1), west >> ramp)
  .path(ys, column(1), ramp >> east)
  .path(ys, column(2), west >> ramp);
static_assert(routed<line>());

int main() {
  fabric f{line};
  f.start<&source::start>(column(0));
  f.start<&axpy::start>(column(1), 0.5f);
  f.start<&sink::start>(column(2));
  f.run();

  const sink& s = f.program_at<sink>({2, 0});
  f32 sum = 0, odd_sum = 0;
  bool right = f.read(0, 0, &source::sent) && s.largest == 103.5f;
  for (int i = 0; i < N; ++i) {
    const f32 expected = 100 + 0.5f * static_cast<f32>(N - 1 - i);
    sum += expected;
    odd_sum += i % 2 ? expected : 0;
    right = right && s.y[i] == expected;
    std::printf("%6g", s.y[i]);
  }
  std::printf("\nsum %g, of every second %g, largest %g\n", s.sum, s.odd_sum, s.largest);
  return right && s.sum == sum && s.odd_sum == odd_sum ? 0 : 1;
}
