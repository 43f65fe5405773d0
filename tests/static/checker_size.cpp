// SPDX-License-Identifier: MIT
// Compiling is passing: layouts of several hundred paths, mixed strides, and the longest walks over PEs stay
// within the default limits of the compilers; what would not is answered with a sentence instead of a step
// limit.
#include "../checker_shapes.hpp"

using namespace wsl;

namespace {

constexpr layout pairs_in_24_colors = shapes::pairs<24>();
static_assert(routed<pairs_in_24_colors>());

constexpr layout pairs_in_one_color = shapes::pairs<1>();
static_assert(routed<pairs_in_one_color>());

constexpr layout beads_in_one_color = shapes::beads(512);
static_assert(routed<beads_in_one_color>());

constexpr layout comb_of_16 = shapes::combs(16);
static_assert(routed<comb_of_16>());

constexpr layout mixed_strides = shapes::mixed();
static_assert(routed<mixed_strides>());

constexpr layout snake_over_the_wafer = shapes::snake(750, 994);
static_assert(routed<snake_over_the_wafer>());

constexpr layout longest_walk = shapes::weave(64, 64);
static_assert(routed<longest_walk>());

constexpr layout too_long = shapes::weave(72, 64);
static_assert(rules::cycles_of(too_long, 0, 0).kind ==
              fault_kind::the_routes_turn_too_often_to_check_while_compiling);

constexpr layout forks_and_merges = shapes::shuttles(101);
static_assert(routed<forks_and_merges>());

constexpr layout too_many_beads = shapes::beads(750);
static_assert(routed<too_many_beads>());

constexpr layout tangled = shapes::tangle(16, 14);
static_assert(rules::paths_of(tangled, 0, 0).kind ==
              fault_kind::the_paths_meet_too_often_to_check_while_compiling);

constexpr layout less_tangled = shapes::tangle(8, 6);
static_assert(routed<less_tangled>());

}  // namespace
