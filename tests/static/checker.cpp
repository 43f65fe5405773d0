// SPDX-License-Identifier: MIT
// Compiling is passing: a constant layout of the size of a wafer is checked within the default limits of the
// compilers, at a cost that does not depend on the number of PEs.
#include "../checker_shapes.hpp"

using namespace wsl;

namespace {

constexpr layout halo_and_all_reduce = shapes::plate(750, 994);
static_assert(routed<halo_and_all_reduce>());
static_assert(live<halo_and_all_reduce>());

constexpr layout halo_with_four_queues = shapes::plate(750, 994, 4);
static_assert(routed<halo_with_four_queues>());

}  // namespace
