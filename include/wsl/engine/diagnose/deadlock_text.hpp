// SPDX-License-Identifier: MIT
// The text of a deadlock: a part of the library that can be compiled once, see support/compiled.hpp.
#pragma once
#include "deadlock.hpp"
#include "wait_text.hpp"

namespace wsl {

WSL_COMPILED_PART deadlock::deadlock(const layout& plan, engines::waits open, u64 unread_words)
    : runtime_error(engines::deadlock_text(plan, open, unread_words)), open_(std::move(open)) {}

}  // namespace wsl
