// SPDX-License-Identifier: MIT
// A deadlock: two partners exchange arrays. If both wait for the other's array before they send their own,
// nothing can ever move: the run ends and reports which PE waits for which. An asynchronous send before the
// wait, as the report advises, removes the deadlock.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr color<f32> eastward{0}, westward{1};

struct partner {
  f32 mine[4]{1, 2, 3, 4}, theirs[4]{};

  task exchange(pe& me, bool send_first) {
    const color<f32> out = me.west_edge() ? eastward : westward, in = me.west_edge() ? westward : eastward;
    if (send_first) me.async(mov(fabout(out), mem(mine)));
    co_await mov(mem(theirs), fabin(in));
    if (!send_first) co_await mov(fabout(out), mem(mine));
  }

  using tasks = task_list<launch<&partner::exchange>, sends<eastward, westward>, reads<eastward, westward>>;
};

constexpr layout pair = layout{wse2, 2, 1}
  .place<partner>(all)
  .path(eastward, column(0), ramp >> east)
  .path(eastward, column(1), west >> ramp)
  .path(westward, column(1), ramp >> west)
  .path(westward, column(0), east >> ramp);
static_assert(routed<pair>());

int main() {
  try {
    fabric{pair}.launch<&partner::exchange>(all, false);
  } catch (const deadlock& d) {
    std::printf("%s\n\n", d.what());
  }
  fabric f{pair};
  f.launch<&partner::exchange>(all, true);
  const f32 last = f.program_at<partner>({1, 0}).theirs[3];
  std::printf("sending first: the last element is %g\n", last);
  return last == 4 ? 0 : 1;
}
