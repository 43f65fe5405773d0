// SPDX-License-Identifier: MIT
// The rate at which tasks start: on every PE two local tasks activate each other.
#include "measure.hpp"

namespace {
using namespace wsl;

struct clockwork {
  int left = 0;
  u64 ticks = 0, tocks = 0;

  void start(pe& me, int turns) {
    left = turns;
    me.activate<&clockwork::tick>();
  }
  void tick(pe& me) {
    ++ticks;
    me.activate<&clockwork::tock>();
  }
  void tock(pe& me) {
    ++tocks;
    if (--left) me.activate<&clockwork::tick>();
  }

  using tasks = task_list<launch<&clockwork::start>, local<&clockwork::tick>, local<&clockwork::tock>>;
};

class clocks {
 public:
  explicit clocks(int turns) : turns_(turns) {}

  u64 run() {
    const outcome done = fabric_.launch<&clockwork::start>(all, turns_);
    const u64 tasks = 2 * static_cast<u64>(side * side) * static_cast<u64>(turns_);
    bench::require(done.tasks == tasks + side * side, "tasks were lost");
    ++runs_;
    return tasks;
  }
  void check() {
    const u64 expected = static_cast<u64>(turns_) * runs_;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        bench::require(fabric_.read(x, y, &clockwork::ticks) == expected &&
                           fabric_.read(x, y, &clockwork::tocks) == expected,
                       "a task ran too often or not often enough");
  }

 private:
  static constexpr int side = 8;
  int turns_;
  u64 runs_ = 0;
  fabric fabric_{layout{host, side, side}.place<clockwork>(all), bench::on_threads(1)};
};

const bool added = bench::add<clocks>("local tasks", "wsl", bench::unit::mega_per_second, 5, 20'000);

}  // namespace
