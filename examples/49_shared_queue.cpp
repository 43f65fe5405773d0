// SPDX-License-Identifier: MIT
// On the WSE-3 an output queue serves one color, and a PE has eight such queues. A program that needs more
// colors says which of them share a queue: the second color's words then wait until the first one's have
// left, and the program needs no handler for the empty queue. On other machines the entry has no effect.
#include <wsl/engine/reference.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int N = 15, kept = 2;
constexpr color<u32> first{10}, second{12};

struct sender {
  u32 one[N]{}, two[N]{};

  void start(pe& me) {
    mov(mem(one), 42);
    mov(mem(two), 43);
    me.async(mov(fabout(first), mem(one)), then<&sender::again>());
  }
  void again(pe& me) { me.async(mov(fabout(second), mem(two))); }

  using tasks = task_list<launch<&sender::start>, local<&sender::again>, sends<first, second>,
                          shares_queue<first, second>>;
};

struct receiver {
  u32 one[N]{}, two[N]{};

  task start(pe&) {
    co_await mov(mem(one), fabin(first));
    co_await mov(mem(two).part(0, kept), fabin(second));
  }
  using tasks = task_list<launch<&receiver::start>, reads<first, second>>;
};

constexpr layout duo = layout{wse3, 2, 1}
  .place<sender>(column(0))
  .place<receiver>(column(1))
  .path(first,  column(0), ramp >> east)
  .path(first,  column(1), west >> ramp)
  .path(second, column(0), ramp >> east)
  .path(second, column(1), west >> ramp, counter_filter{.keep = kept, .period = N});
static_assert(routed<duo>());

int main() {
  fabric f{duo, reference{}};
  f.start<&receiver::start>(column(1));
  f.launch<&sender::start>(column(0));

  const receiver& r = f.program_at<receiver>({1, 0});
  bool right = true;
  for (int i = 0; i < N; ++i) {
    right = right && r.one[i] == 42 && r.two[i] == (i < kept ? 43u : 0u);
    std::printf("%u/%u%s", r.one[i], r.two[i], i == N - 1 ? "\n" : " ");
  }
  return right ? 0 : 1;
}
