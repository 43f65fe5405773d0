// SPDX-License-Identifier: MIT
// Epochs of bands that several ranks share. A rank runs those of its bands first that border on another rank's, and sends what they have
// written; it is on its way while the others run. In which order bands run says nothing: what one writes the others see in the next epoch.
// While PEs here compute beside their tasks, one thread alone sees to the epochs and others compute. Where there is only one, it computes when no news is left:
// others would wait for it.
#pragma once
#include <optional>

#include "../support/shared_word.hpp"
#include "../engine/threaded/superstep.hpp"
#include "exchange.hpp"

namespace wsl::mpi {

/// Threads beside the one that sees to the epochs, no more of them than have something to compute when they are first needed.
struct assistants {
  int most;  ///< that one included
  std::optional<engines::crew> crew = {};

  engines::crew& all(std::size_t errands) {
    if (!crew) crew.emplace(static_cast<int>(least<std::size_t>(static_cast<std::size_t>(most), errands + 1)));
    return *crew;
  }
};

/// Runs the bands from `first` to before `end` in epochs from `last` + 1 on, until no rank has anything left to do or a band has failed; returns the number
/// of the last epoch. Together. Only the calling thread calls MPI. Where one thread is enough for the bands, `helpers` compute beside it.
template <class RunBand>
u64 run_epochs(engines::crew& threads, assistants& helpers, flat_vector<engines::band>& bands, u32 first, u32 end, u64 last, exchange& others, RunBand run_band) {
  using engines::sequel;
  u32 at_border = 0;
  for (u32 b = first; b < end; ++b) at_border += others.borders(b);

  sequel all = sequel::news;
  shared_word<u32> ready;                      // bands at the border that have run
  flat_vector<engines::open_errand*> errands;  // of the bands here, when all of them last ran
  bool one_leads = false;                      // and the other threads do these
  const auto find_errands = [&] {
    errands.clear();
    for (u32 b = first; b < end; ++b)
      for (engines::open_errand* e : bands[b].errands) errands.push_back(e);
  };
  const auto do_one = [&] {
    for (engines::open_errand* e : errands)
      if (e->do_if_first()) return true;
    return false;
  };
  auto job = [&](int thread) {
    bool sent = false;
    const auto move_on = [&] {
      if (sent) others.move_on();
      else if (ready.observe() == at_border) others.send(last + 1), sent = true;
    };
    const auto run = [&](u32 from, u32 to) {
      if (thread == 0) others.expect(), sent = false;
      for (const bool first_ones : {true, false})
        for (u32 b = from; b < to; ++b) {
          if (others.borders(b) != first_ones) continue;
          bands[b].computes = all == sequel::computing;
          run_band(bands[b], last + 1);
          if (first_ones) ready.count();
          if (thread == 0) move_on();
        }
    };
    const auto receive = [&] {
      if (!sent) move_on();
      ready.set(0);
      sequel mine = sequel::nothing;
      for (u32 b = first; b < end; ++b) mine = engines::larger(mine, engines::sequel_of(bands[b]));
      all = others.receive(last + 1, mine, one_leads);
      ++last;
    };
    const auto share = [&](int k) { return first + static_cast<u32>(k) * (end - first) / static_cast<u32>(threads.size()); };
    auto lead = [&](int k) {
      if (k == 0) receive();
      while (k == 0 && all == sequel::news) run(first, end), receive();
      while (do_one()) {}
    };
    while (engines::goes_on(all)) {
      run(share(thread), share(thread + 1));
      threads.barrier.wait();
      if (thread == 0) {
        find_errands();
        one_leads = helpers.most > 1 && !errands.empty();
        if (!one_leads) receive();
      }
      threads.barrier.wait();
      if (one_leads && threads.size() == 1) helpers.all(errands.size()).run(lead);
      else if (one_leads) lead(thread), threads.barrier.wait();
    }
  };
  if (threads.size() == 1) job(0);
  else threads.run(job);
  return last;
}

}  // namespace wsl::mpi
