// SPDX-License-Identifier: MIT
// The cycles of a collective on a line or a rectangle of PEs, by its own formula and on the timed engine.
#pragma once
#include <string>
#include <vector>

namespace bench {

struct cycles_of_case {
  std::string collective;
  /// `colors` is the number of colors of its paths; for an automatic choice, the largest allowed number
  int pes, words, colors;
  double formula, measured;
};

/// Lines of 4 to 512 PEs of a WSE-2, 1 to 4096 words, and tiles with rims on rectangles; sizes that exceed
/// the memory or the queues of a PE are left out.
std::vector<cycles_of_case> measure_cycles();

}  // namespace bench
