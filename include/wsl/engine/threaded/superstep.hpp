// SPDX-License-Identifier: MIT
// Epochs: every band runs once with what the others wrote for it before, then all meet. When no band has written for another or has
// work left, those with lengthy tasks run these, and errands are complete; a run ends when there are none. One thread visits only the bands that have something
// to do; several share all of them out.
#pragma once
#include <bit>

#include "partition.hpp"
#include "thread_pool.hpp"

namespace wsl::engines {

/// What is to follow an epoch, as one band sees it. The largest that any band says is what follows.
enum class sequel : u8 { nothing, computing, news, failure };

inline sequel sequel_of(const band& b) {
  if (b.failure) return sequel::failure;
  if (b.addressed || !b.work.empty()) return sequel::news;
  return b.will_compute() ? sequel::computing : sequel::nothing;
}
inline sequel larger(sequel a, sequel b) { return a < b ? b : a; }
inline bool goes_on(sequel what) { return what == sequel::computing || what == sequel::news; }

/// Runs epochs from `last` + 1 on, until nothing is left to do or a band has failed; returns the number of the last one.
template <class RunBand>
u64 run_epochs_alone(flat_vector<band>& bands, u64 last, RunBand run_band) {
  const auto those = [&](auto condition) {
    u64 set = 0;
    for (std::size_t b = 0; b < bands.size(); ++b) set |= u64{condition(bands[b])} << b;
    return set;
  };
  u64 next = those([](band& b) { return !b.work.empty() || b.expects_news(); });
  for (bool failed = false; !failed;) {
    u64 now = next ? next : those([](band& b) { return b.computes = b.will_compute(); });
    if (!now) break;
    ++last;
    for (next = 0; now; now &= now - 1) {
      band& b = bands[static_cast<std::size_t>(std::countr_zero(now))];
      run_band(b, last);
      next |= b.addressed | u64{!b.work.empty()} << (&b - bands.data());
      failed |= b.failure != nullptr;
    }
  }
  return last;
}

template <class RunBand>
u64 run_epochs_together(crew& threads, flat_vector<band>& bands, u64 last, RunBand run_band) {
  struct alignas(128) saying {
    sequel what[2];  // by the epoch's parity: a fast thread may be one epoch ahead of who still reads
  };
  flat_vector<saying> said(static_cast<std::size_t>(threads.size()));
  shared_word<u64> end;  // the last epoch
  auto job = [&](int thread) {
    const auto share = [&](int k) { return static_cast<std::size_t>(k) * bands.size() / said.size(); };
    sequel all = sequel::news;
    for (u64 epoch = last + 1;; ++epoch) {
      sequel mine = sequel::nothing;
      for (std::size_t b = share(thread); b < share(thread + 1); ++b) {
        bands[b].computes = all == sequel::computing;
        run_band(bands[b], epoch);
        mine = larger(mine, sequel_of(bands[b]));
      }
      said[static_cast<std::size_t>(thread)].what[epoch & 1] = mine;
      threads.barrier.wait();
      all = sequel::nothing;
      for (const saying& s : said) all = larger(all, s.what[epoch & 1]);
      if (goes_on(all)) continue;
      if (thread == 0) end.set(epoch);
      return;
    }
  };
  threads.run(job);
  return end.get();
}

template <class RunBand>
u64 run_epochs(crew& threads, flat_vector<band>& bands, u64 last, RunBand run_band) {
  return threads.size() == 1 ? run_epochs_alone(bands, last, run_band) : run_epochs_together(threads, bands, last, run_band);
}

}  // namespace wsl::engines
