// SPDX-License-Identifier: MIT
// The counts of a run, such as cycles, tasks and wavelets. An outcome can only be read; host/report.hpp
// prints it.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

struct outcome {
  u64 cycles = 0;     ///< steps of the engine's clock; 0 for an engine without one
  u64 tasks = 0;      ///< tasks and host calls that ran
  u64 wavelets = 0;   ///< wavelets that left a ramp or a host stream
  u64 hops = 0;       ///< links that they crossed
  u64 delivered = 0;  ///< wavelets that reached a ramp or a host stream, multicasts counted at each receiver

  friend outcome operator+(const outcome& a, const outcome& b) {
    return {a.cycles + b.cycles, a.tasks + b.tasks, a.wavelets + b.wavelets, a.hops + b.hops,
            a.delivered + b.delivered};
  }
  friend bool operator==(const outcome&, const outcome&) = default;
};

}  // namespace wsl
