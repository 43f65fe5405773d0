// SPDX-License-Identifier: MIT
// The clock of the trainers' reports.
#pragma once
#include <chrono>

#include "../../core/scalar.hpp"

namespace wsl::ml {

using wall_clock = std::chrono::steady_clock;

inline f64 seconds(wall_clock::duration d) { return std::chrono::duration<f64>(d).count(); }

}  // namespace wsl::ml
