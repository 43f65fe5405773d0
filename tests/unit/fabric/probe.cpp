// SPDX-License-Identifier: MIT
// Probes: one object of each type for all PEs of a fabric, whatever the engine.
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/fabric/fabric.hpp>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace wsl;

namespace {

struct task_counts {
  static inline std::atomic<int> alive = 0;
  std::atomic<int> tasks = 0, first_row = 0;
  task_counts() { ++alive; }
  ~task_counts() { --alive; }
};
struct farthest {
  std::atomic<int> x = -1;
};

struct numbered {
  void start(pe& me) {
    ++me.probe<task_counts>().tasks;
    if (me.north_edge()) ++me.probe<task_counts>().first_row;
    if (me.east_edge()) me.probe<farthest>().x = me.x();
  }
  using tasks = task_list<launch<&numbered::start>>;
};

template <class Engine>
void is_shared_on(const Engine& choice) {
  fabric f{layout{wse2, 7, 5}.place<numbered>(all), choice}, other{layout{wse2, 2, 2}.place<numbered>(all)};
  f.launch();
  CHECK(f.probe<task_counts>().tasks == 35);
  CHECK(f.probe<task_counts>().first_row == 7);
  CHECK(f.probe<farthest>().x == 6);
  CHECK(other.probe<task_counts>().tasks == 0);  // each fabric has its own
  f.launch();
  CHECK(f.probe<task_counts>().tasks == 70);
  CHECK(task_counts::alive == 2);
}

}  // namespace

TEST_CASE("the PEs of a fabric share one probe of each type, which ends with the fabric") {
  is_shared_on(reference{});
  is_shared_on(threaded{.threads = 4, .pes_per_partition = 2});
  is_shared_on(timed{});
  CHECK(task_counts::alive == 0);
}

TEST_CASE("threads that ask for a probe at the same time get the same one") {
  for (int round = 0; round < 200; ++round) {
    engines::probe_list probes;
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    std::vector<farthest*> got(4);
    for (farthest*& mine : got)
      threads.emplace_back([&] {
        for (++ready; ready < 4;) {}
        mine = &probes.get<farthest>();
      });
    for (std::thread& t : threads) t.join();
    for (const farthest* one : got) CHECK(one == got[0]);
  }
}
