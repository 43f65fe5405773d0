// SPDX-License-Identifier: MIT
// What a computer can do, to say how much of it a run has used.
#pragma once
#include <wsl/core/scalar.hpp>

namespace train_app {

/// Operations a second of products of f32 tiles that stay in a core's cache, the fastest way in which this program multiplies, by so many threads at a
/// time (0: one a core, or WSL_THREADS): the best of some rounds, which take about 20 ms. A data sheet says somewhat more.
wsl::f64 measured_peak(int threads);

}  // namespace train_app
