// SPDX-License-Identifier: MIT
// The threads of the peers that use OpenMP.
#pragma once
#include <functional>

namespace bench {

/// Runs f while loops have one thread; returns the seconds that it takes.
double seconds_on_one_thread(const std::function<void()>& f);

}  // namespace bench
