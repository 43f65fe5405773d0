// SPDX-License-Identifier: MIT
// The exception that a run throws when nothing moves any more but something still waits. Its text lists every
// wait with its PE, color, queue and amount, then the PEs that wait for each other, then a remedy.
// docs/errors.md explains such a text.
#pragma once
#include <stdexcept>
#include <utility>

#include "../../support/compiled.hpp"
#include "wait.hpp"

namespace wsl {

class layout;

class deadlock : public std::runtime_error {
 public:
  using wait = engines::wait;

  /// `unread_words` is the number of words that have left the grid, and that the host has not read.
  deadlock(const layout& plan, engines::waits open, u64 unread_words = 0);

  /// The operations and tasks that still wait.
  const engines::waits& open() const { return open_; }

 private:
  engines::waits open_;
};

}  // namespace wsl

#ifndef WSL_COMPILED
#include "deadlock_text.hpp"
#endif
