// SPDX-License-Identifier: MIT
// What waits when a run has ended, and for whom, as the page has it.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "trace_file.hpp"

namespace view {

/// [{x, y, color, says, for_words}, ...]: what an operation or task of a PE waits for, as the sentence of a
/// deadlock says it.
nlohmann::json waits_json(const std::vector<trace_wait>& waits, int width);
/// [{from: [x, y], says, to: [x, y]}, ...]
nlohmann::json chain_json(const std::vector<trace_link>& chain, int width);

}  // namespace view
