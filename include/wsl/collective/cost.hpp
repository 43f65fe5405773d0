// SPDX-License-Identifier: MIT
// What a collective costs, before it runs: four numbers of a pattern of communication and one formula give its cycles on a machine of
// these links and ramps. Nothing in it is fitted. The formula and the forms of broadcast, chain, tree and two-phase reduce are those of
// "Near-Optimal Wafer-Scale Reduce" (arXiv 2404.15888), whose authors measured an error below 4 % on a WSE-2.
#pragma once
#include "../core/machine.hpp"

namespace wsl::collective {

struct pattern {
  f64 contention = 0;  ///< most words through one ramp or link
  f64 energy = 0;      ///< word-hops in all
  f64 links = 1;       ///< links that carry them
  f64 distance = 0;    ///< most hops of a word's way
  f64 depth = 0;       ///< PEs that handle a word one after the other, after the first

  /// A word passes one ramp or link in a cycle; each PE on the way takes it from its ramp, handles it and sends it on. The ramp's
  /// latency is the same on all machines.
  constexpr f64 cycles(int ramp_latency = wse2.ramp_latency) const {
    const f64 flowing = energy / links + distance;
    return (contention > flowing ? contention : flowing) + (2 * ramp_latency + 1) * depth;
  }
};

}  // namespace wsl::collective
