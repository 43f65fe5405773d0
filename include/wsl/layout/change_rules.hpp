// SPDX-License-Identifier: MIT
// The rules of routes that change and of filters, to which a layout that has some points.
#pragma once
#include "faults/path_options.hpp"
#include "rules/filters.hpp"
#include "rules/switches.hpp"

namespace wsl::rules {

inline constexpr change_rules of_changes{switched_colors, switches_of, filters_of, add_positions};

}  // namespace wsl::rules
