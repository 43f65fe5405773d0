// SPDX-License-Identifier: MIT
// Settings that a program's result must not depend on: the order in which ready tasks run, and the number of
// wavelets that fit between a sender and a receiver. A test that varies the order finds races; a test with
// the machine's own depths finds deadlocks that large buffers hide.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

/// The order in which PEs, and the tasks of a PE, run. `schedule::shuffled{seed}` draws another legal order;
/// a program whose result changes with it has a race.
struct schedule {
  struct shuffled {
    u64 seed;
  };
  constexpr schedule() = default;
  constexpr schedule(shuffled s) : shuffle(true), seed(s.seed) {}
  bool shuffle = false;
  u64 seed = 0;
};

/// The number of words that may lie between a sender and a receiver: thousands, or as many as the machine's
/// queues and routers hold.
enum class depth : u8 { deep, machine };

}  // namespace wsl
