// SPDX-License-Identifier: MIT
// For `run`: a halo exchange and an all-reduce on WIDTH x HEIGHT PEs with QUEUES input queues, checked if
// CHECK is defined.
#include "../../tests/checker_shapes.hpp"

constexpr wsl::layout plate = shapes::plate(WIDTH, HEIGHT, QUEUES);
static_assert(plate.paths().size() >= 16);
#ifdef CHECK
static_assert(wsl::routed<plate>());
#endif
