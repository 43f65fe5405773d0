// SPDX-License-Identifier: MIT
// The barrier of an engine's threads: whoever sleeps there is woken, in every round and whoever is late.
#include <wsl/engine/threaded/thread_pool.hpp>

#include <catch2/catch.hpp>
#include <vector>

using namespace wsl;

TEST_CASE("threads that sleep at a barrier are woken in every round") {
  constexpr int rounds = 20'000;
  for (int threads : {2, 3, 5}) {
    engines::thread_pool c(threads);
    c.barrier.spins = 0;
    std::vector<int> done(static_cast<std::size_t>(threads) * 64);  // each on a line of its own
    int behind = 0;
    auto job = [&](int thread) {
      int& mine = done[static_cast<std::size_t>(thread) * 64];
      for (int round = 0; round < rounds; ++round) {
        ++mine;
        c.barrier.wait();
        if (thread == 0)
          for (int t = 1; t < threads; ++t) behind += done[static_cast<std::size_t>(t) * 64] != mine;
        c.barrier.wait();
      }
    };
    c.run(job);
    CHECK(behind == 0);
  }
}
