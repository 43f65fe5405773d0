// SPDX-License-Identifier: MIT
// The barrier of an engine's threads: whoever sleeps there is woken, in every round and whoever is late.
#include <wsl/engine/threaded/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace wsl;

namespace {

/// How often a thread is not in the round of the first one, in so many rounds.
int times_elsewhere(engines::thread_pool& c, int rounds) {
  std::vector<int> done(static_cast<std::size_t>(c.size()) * 64);  // each on a line of its own
  int elsewhere = 0;
  auto job = [&](int thread) {
    int& mine = done[static_cast<std::size_t>(thread) * 64];
    for (int round = 0; round < rounds; ++round) {
      ++mine;
      c.barrier.wait();
      if (thread == 0)
        for (int t = 1; t < c.size(); ++t) elsewhere += done[static_cast<std::size_t>(t) * 64] != mine;
      c.barrier.wait();
    }
  };
  c.run(job);
  return elsewhere;
}

}  // namespace

TEST_CASE("threads that sleep at a barrier are woken in every round") {
  for (int threads : {2, 3, 5}) {
    engines::thread_pool c(threads);
    c.barrier.spins = 0;
    CHECK(times_elsewhere(c, 20'000) == 0);
  }
}

TEST_CASE("threads meet at a barrier while others keep the cores") {
  std::atomic<bool> ends = false;
  std::vector<std::thread> others;
  for (int core = 0; core < std::min(4, engines::available_cores()); ++core)
    others.emplace_back([&] {
      while (!ends.load(std::memory_order_relaxed)) {}
    });
  engines::thread_pool c(2);
  CHECK(times_elsewhere(c, 10'000) == 0);
  ends = true;
  for (std::thread& t : others) t.join();
}
