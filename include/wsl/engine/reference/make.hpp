// SPDX-License-Identifier: MIT
// Makes the reference engine: a part of the library that can be compiled once, see support/compiled.hpp.
#pragma once
#include "../reference.hpp"
#include "engine.hpp"

namespace wsl {

WSL_COMPILED_PART engines::engine* reference::make(const layout& plan) const {
  return new engines::reference_engine(plan);
}

}  // namespace wsl
