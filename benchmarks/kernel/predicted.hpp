// SPDX-License-Identifier: MIT
// How kernels would compare with their peers on 16 cores, from runs on one: the time of wsl by a
// scaling_profile, on the grid of PEs that 16 threads get, and a peer that is 16 times as fast on 16 threads.
// No loop scales better, and wsl reads less from memory than the peers, so the ratio is a lower bound where
// memory limits both.
#pragma once
#include <algorithm>
#include <functional>
#include <wsl/engine/threaded/scaling_profile.hpp>

#include "peer_threads.hpp"

namespace bench {

inline constexpr int predicted_threads = 16;

/// wsl's speed over that of the peer: `ours` runs with an engine of one thread whose observer is `profile`;
/// both do the same work. Of all times the shortest of five counts.
inline double predicted_ratio(wsl::scaling_profile& profile, const std::function<void()>& ours,
                              const std::function<void()>& peer) {
  constexpr int turns = 5;
  double theirs = 1e30;
  ours(), seconds_on_one_thread(peer);
  for (int turn = 0; turn < turns; ++turn) {
    if (turn == 0) profile.restart_to_repeat();
    else profile.repeat();
    ours();
    theirs = std::min(theirs, seconds_on_one_thread(peer));
  }
  return theirs / predicted_threads / profile.predictions()[0].seconds;
}

}  // namespace bench
