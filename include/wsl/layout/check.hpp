// SPDX-License-Identifier: MIT
// The checker proves a layout before it runs. `static_assert(routed<plate>())` for a constant layout, `check(l)` for any: both
// apply the same rules in the same order, paths, cycles, tasks, budget, and name the first fault with its color and PE. The cost
// depends on the number of paths and placements, not on the number of PEs. See docs/errors.md and examples/02_routes.cpp.
#pragma once
#include <utility>

#include "errors.hpp"
#include "rules/budget.hpp"
#include "rules/cycles.hpp"
#include "rules/liveness.hpp"
#include "rules/paths.hpp"
#include "rules/tasks.hpp"

namespace wsl {

namespace rules {

/// What one constant expression looks at: a color, or a group of placements. Each has the evaluator's step budget for itself.
enum class family { paths_of_color, cycles_of_color, tasks_of_color, whole_layout, budget_of_placements, completeness_of_color, liveness };

inline constexpr int placements_at_once = 8;

template <int N>
constexpr diagnostic first_of(diagnostic (*const (&list)[N])(flow&), const layout& l, int color) {
  flow f(l, color);
  for (auto* rule : list)
    if (const diagnostic d = rule(f); d.found()) return d;
  return {};
}

}  // namespace rules
}  // namespace wsl
