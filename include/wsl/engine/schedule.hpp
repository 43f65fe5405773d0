// SPDX-License-Identifier: MIT
// What a program must not depend on, and how to vary it: the order in which what is ready runs, and how many
// wavelets fit between a sender and a receiver. A test that draws other orders finds races; one with the
// machine's own depths finds deadlocks that large buffers hide.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

/// In which order PEs, and the tasks of a PE, run. `schedule::shuffled{seed}` draws other legal orders: a
/// program whose result it changes has a race.
struct schedule {
  struct shuffled {
    u64 seed;
  };
  constexpr schedule() = default;
  constexpr schedule(shuffled s) : shuffle(true), seed(s.seed) {}
  bool shuffle = false;
  u64 seed = 0;
};

/// How many words may lie between a sender and a receiver: thousands, or as many as the machine's queues and
/// routers hold.
enum class depth : u8 { deep, machine };

}  // namespace wsl
