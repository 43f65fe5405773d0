// SPDX-License-Identifier: MIT
// Times in nanoseconds, without <chrono>, which would cost every program that includes the library time to
// compile.
#pragma once
#include <time.h>

#include "../../core/scalar.hpp"

namespace wsl::engines {

inline u64 monotonic_time() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<u64>(now.tv_sec) * 1'000'000'000 + static_cast<u64>(now.tv_nsec);
}

/// The thread's own processor time: what other programs do meanwhile does not count.
inline u64 thread_time() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<u64>(now.tv_sec) * 1'000'000'000 + static_cast<u64>(now.tv_nsec);
}

}  // namespace wsl::engines
