// SPDX-License-Identifier: MIT
// Epochs of bands that several ranks share. A rank runs those of its bands first that border on another rank's, and sends what they have
// written; it is on its way while the others run. In which order bands run says nothing: what one writes the others see in the next epoch.
#pragma once
#include "../core/shared_word.hpp"
#include "../fabric/epochs.hpp"
#include "exchange.hpp"

namespace wsl::mpi {

/// Runs the bands from `first` to before `end` in epochs from `last` + 1 on, until no rank has anything left to do or a band has failed; returns the number
/// of the last epoch. Together. Only the calling thread calls MPI.
template <class RunBand>
u64 run_epochs(engines::crew& threads, flat_vector<engines::band>& bands, u32 first, u32 end, u64 last, exchange& others, RunBand run_band) {
  using engines::sequel;
  u32 at_border = 0;
  for (u32 b = first; b < end; ++b) at_border += others.borders(b);
  const auto mine = [&] {
    sequel largest = sequel::nothing;
    for (u32 b = first; b < end; ++b) largest = engines::larger(largest, engines::sequel_of(bands[b]));
    return largest;
  };

  sequel all = sequel::news;
  shared_word<u32> ready;  // bands at the border that have run
  auto job = [&](int thread) {
    const auto share = [&](int k) { return first + static_cast<u32>(k) * (end - first) / static_cast<u32>(threads.size()); };
    for (u64 epoch = last + 1; engines::goes_on(all); ++epoch) {
      bool sent = false;
      const auto move_on = [&] {
        if (sent) others.move_on();
        else if (ready.observe() == at_border) others.send(epoch), sent = true;
      };
      if (thread == 0) others.expect();
      for (const bool first_ones : {true, false})
        for (u32 b = share(thread); b < share(thread + 1); ++b) {
          if (others.borders(b) != first_ones) continue;
          bands[b].computes = all == sequel::computing;
          run_band(bands[b], epoch);
          if (first_ones) ready.count();
          if (thread == 0) move_on();
        }
      threads.barrier.wait();
      if (thread == 0) {
        if (!sent) move_on();
        ready.set(0);
        all = others.receive(epoch, mine());
        last = epoch;
      }
      threads.barrier.wait();
    }
  };
  if (threads.size() == 1) job(0);
  else threads.run(job);
  return last;
}

}  // namespace wsl::mpi
