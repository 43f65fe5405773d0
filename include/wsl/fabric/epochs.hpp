// SPDX-License-Identifier: MIT
// Epochs: every band runs once with what the others wrote for it before, then all meet. A run ends with the epoch in which no
// band wrote for another. One thread visits only the bands that have news; several share all of them out.
#pragma once
#include <bit>

#include "band.hpp"
#include "crew.hpp"

namespace wsl::engines {

/// Runs epochs from `last` + 1 on, until nothing is left to do or a band has failed; returns the number of the last one.
template <class RunBand>
u64 run_epochs_alone(flat_vector<band>& bands, u64 last, RunBand run_band) {
  u64 now = 0;
  for (std::size_t b = 0; b < bands.size(); ++b) now |= u64{!bands[b].work.empty() || bands[b].expects_news()} << b;
  while (now) {
    ++last;
    u64 next = 0;
    bool failed = false;
    for (; now; now &= now - 1) {
      band& b = bands[static_cast<std::size_t>(std::countr_zero(now))];
      run_band(b, last);
      next |= b.addressed;
      failed |= b.failure != nullptr;
    }
    now = failed ? 0 : next;
  }
  return last;
}

template <class RunBand>
u64 run_epochs_together(crew& threads, flat_vector<band>& bands, u64 last, RunBand run_band) {
  struct alignas(128) flag {
    bool set[2];  // by the epoch's parity: a fast thread may be one epoch ahead of who still reads
  };
  flat_vector<flag> goes_on(static_cast<std::size_t>(threads.size()));
  shared_word<u64> failed{~u64{0}}, end;  // the first epoch with a failure; the last epoch
  auto job = [&](int thread) {
    const auto share = [&](int k) { return static_cast<std::size_t>(k) * bands.size() / goes_on.size(); };
    for (u64 epoch = last + 1;; ++epoch) {
      bool news = false, failure = false;
      for (std::size_t b = share(thread); b < share(thread + 1); ++b) {
        run_band(bands[b], epoch);
        news |= bands[b].addressed != 0;
        failure |= bands[b].failure != nullptr;
      }
      goes_on[static_cast<std::size_t>(thread)].set[epoch & 1] = news;
      if (failure) failed.set(epoch);
      threads.barrier.wait();
      bool any = false;
      for (const flag& f : goes_on) any |= f.set[epoch & 1];
      // A thread that is ahead may already have failed in the next epoch: all threads must stop in the same one.
      if (any && failed.get() > epoch) continue;
      if (thread == 0) end.set(epoch);
      return;
    }
  };
  threads.run(job);
  return end.get();
}

/// For bands that several processes share: this one runs those from `first` to before `end`. After each epoch, while no band runs,
/// one thread asks `goes_on(epoch, news, failure)`, which brings news of other processes, whether any of them goes on.
template <class RunBand, class GoesOn>
u64 run_epochs_across(crew& threads, flat_vector<band>& bands, u32 first, u32 end, u64 last, RunBand run_band, GoesOn goes_on) {
  bool more = true;
  auto job = [&](int thread) {
    const auto share = [&](int k) { return first + static_cast<u32>(k) * (end - first) / static_cast<u32>(threads.size()); };
    for (u64 epoch = last + 1; more; ++epoch) {
      for (u32 b = share(thread); b < share(thread + 1); ++b) run_band(bands[b], epoch);
      threads.barrier.wait();
      if (thread == 0) {
        bool news = false, failure = false;
        for (u32 b = first; b < end; ++b) news |= bands[b].addressed != 0, failure |= bands[b].failure != nullptr;
        more = goes_on(epoch, news, failure);
        last = epoch;
      }
      threads.barrier.wait();
    }
  };
  if (threads.size() == 1) job(0);
  else threads.run(job);
  return last;
}

template <class RunBand>
u64 run_epochs(crew& threads, flat_vector<band>& bands, u64 last, RunBand run_band) {
  return threads.size() == 1 ? run_epochs_alone(bands, last, run_band) : run_epochs_together(threads, bands, last, run_band);
}

}  // namespace wsl::engines
