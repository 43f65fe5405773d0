// SPDX-License-Identifier: MIT
// The choice of the reference engine, the oracle of the others: `fabric f{plan, reference{}}`. It is slow and
// simple. docs/engines/reference.md draws it.
#pragma once
#include "../support/compiled.hpp"
#include "engine.hpp"

namespace wsl {

/// Selects the reference engine: `fabric f{plan, reference{}}`.
struct reference {
  /// The caller owns the engine.
  engines::engine* make(const layout& plan) const;
};

}  // namespace wsl

#ifndef WSL_COMPILED
#include "reference/make.hpp"
#endif
