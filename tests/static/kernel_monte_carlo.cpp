// SPDX-License-Identifier: MIT
// The layouts of Monte Carlo lookups are checked while compiling, from one PE to a whole wafer.
#include <wsl/kernel/monte_carlo/lookups.hpp>
#include <wsl/kernel/monte_carlo/wafer.hpp>

namespace {
using namespace wsl;
using namespace wsl::monte_carlo;

template <int columns, int rows>
constexpr layout lookups = lookup_layout(columns, rows);
static_assert(routed<lookups<1, 1>>() && routed<lookups<2, 1>>() && routed<lookups<1, 3>>() &&
              routed<lookups<5, 3>>());
static_assert(routed<lookups<32, 1>>());

template <int columns, int rows>
constexpr layout particles = wafer_layout(host, columns, rows);
static_assert(routed<particles<1, 1>>() && routed<particles<2, 1>>() && routed<particles<1, 2>>() &&
              routed<particles<7, 5>>());
static_assert(routed<particles<750, 994>>());

// The published grid on the wafer: 125 x 90 PEs with 2 nuclides and 111 points of each, and three times the
// 30 particles of the mean.
constexpr layout published = wafer_layout<wafer_capacity{2, 2 * 113, 90}>(wse2, 125, 90);
static_assert(routed<published>());

}  // namespace
