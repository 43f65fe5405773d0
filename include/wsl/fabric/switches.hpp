// SPDX-License-Identifier: MIT
// Routes that change while a fabric runs: switches, filters, teardown and phases, for the layout, its
// checker, the tables of programs and the engines. Programs that use them include this header beside
// wsl/wsl.hpp; others do not pay for it. See examples/16_switches.cpp.
#pragma once
#include "../engine/threaded/router_switches.hpp"
#include "fabric.hpp"

namespace wsl::engines {

inline switched_routers* router_switches_of(const layout& plan) {
  return switched_paths(plan).any() ? new router_switches(plan) : nullptr;
}

/// Tells the threaded engine where to find them.
inline const bool has_router_switches = (find_switched_routers = router_switches_of, true);

}  // namespace wsl::engines
