// SPDX-License-Identifier: MIT
// The rules about switches, phases and filters, as one constant. A layout holds a pointer to it as soon as
// one of its paths has such an option, so layouts without them do not include these headers.
#pragma once
#include "faults/path_options.hpp"
#include "rules/filters.hpp"
#include "rules/switches.hpp"

namespace wsl::rules {

inline constexpr change_rules of_changes{switched_colors, switches_of, filters_of, add_positions};

}  // namespace wsl::rules
