// SPDX-License-Identifier: MIT
// For `run`: a layout of PATHS paths over 24 colors, or over as many as there are pairs, checked if CHECK is
// defined.
#include "../../tests/checker_shapes.hpp"

constexpr wsl::layout pairs = shapes::pairs<PATHS / 2 < 24 ? PATHS / 2 : 24>(PATHS / 2);
static_assert(pairs.paths().size() == PATHS);
#ifdef CHECK
static_assert(wsl::routed<pairs>());
#endif
