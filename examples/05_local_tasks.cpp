// SPDX-License-Identifier: MIT
// A task that needs two inputs: `join` runs when it is activated and not blocked. One arrival activates it,
// the other unblocks it, in whichever order they come, and the task blocks itself again for the next pair. An
// activation is a bit, not a count.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr color<i32> from_west{0}, from_east{1};

template <color<i32> out>
struct giver {
  void give(pe& me, i32 x) { me.send(out, x); }
  using tasks = task_list<launch<&giver::give>, sends<out>>;
};
using west_giver = giver<from_west>;
using east_giver = giver<from_east>;

struct multiplier {
  i32 a = 0, b = 0, product = 0;
  int pairs = 0;

  void take_a(pe& me, i32 x) {
    a = x;
    me.activate<&multiplier::join>();
  }
  void take_b(pe& me, i32 x) {
    b = x;
    me.unblock<&multiplier::join>();
  }
  void join(pe& me) {
    me.block<&multiplier::join>();
    product = a * b;
    ++pairs;
  }

  using tasks = task_list<on<from_west, &multiplier::take_a>, on<from_east, &multiplier::take_b>,
                          local<&multiplier::join, blocked>>;
};

constexpr layout triple = layout{wse2, 3, 1}
  .place<west_giver>(column(0))
  .place<multiplier>(column(1))
  .place<east_giver>(column(2))
  .path(from_west, column(0), ramp >> east)
  .path(from_west, column(1), west >> ramp)
  .path(from_east, column(2), ramp >> west)
  .path(from_east, column(1), east >> ramp);
static_assert(routed<triple>());

int main() {
  fabric f{triple};
  f.start<&west_giver::give>(column(0), 6);
  f.launch<&east_giver::give>(column(2), 7);
  const int first = f.read(1, 0, &multiplier::product);

  f.launch<&east_giver::give>(column(2), 12);  // unblocks: `join` may run, but nothing has activated it yet
  const int between = f.read(1, 0, &multiplier::pairs);
  f.launch<&west_giver::give>(column(0), 12);
  const int second = f.read(1, 0, &multiplier::product);

  std::printf("6 * 7 = %d, %d pair so far, 12 * 12 = %d\n", first, between, second);
  return first == 42 && between == 1 && second == 144 ? 0 : 1;
}
