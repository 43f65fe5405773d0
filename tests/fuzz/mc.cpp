// SPDX-License-Identifier: MIT
// The reader of nuclear data in ACE format. What it takes has ascending energies, and is the same at its own
// temperature.
#include "../../apps/mc/ace.hpp"

#include "fuzz.hpp"

namespace {
using namespace mc_app;

void ace(std::string_view bytes) {
  for (const nuclide& n : read_ace(bytes, "bytes")) {
    fuzz::holds(n.points.size() >= 2 && (n.capture.empty() || n.capture.size() == n.points.size()));
    for (std::size_t i = 0; i < n.points.size(); ++i) {
      fuzz::holds(i == 0 || n.points[i - 1].energy < n.points[i].energy);
      for (const double x : n.points[i].xs) fuzz::holds(x >= 0);
    }
    fuzz::holds(at_temperature({n}, n.temperature).points.size() == n.points.size());
  }
}

const fuzz::enter table{{"ace", ace}};
}  // namespace
