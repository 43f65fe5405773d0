// SPDX-License-Identifier: MIT
// The cycles of a collective on a line or a rectangle of PEs, by its own formula and on the timed engine.
#pragma once
#include <string>
#include <vector>

namespace bench {

struct cycles_of_case {
  std::string collective;
  int pes, words, colors;  ///< that its paths have; of an automatic choice, that they may have
  double formula, measured;
};

/// Lines of 4 to 512 PEs of a WSE-2, 1 to 4096 words, and tiles with rims on rectangles; sizes that exceed
/// the memory or the queues of a PE are left out.
std::vector<cycles_of_case> measure_cycles();

}  // namespace bench
