// SPDX-License-Identifier: MIT
// A part of scripts/bench kernels: one kernel beside those it is compared with. A file of this folder enters
// its part, and that is all: wave.cpp is one. Contestants take turns, so that what disturbs the computer
// disturbs all alike.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct contestant {
  std::string name;
  std::function<double()> run;  ///< does the work once; returns things a second, in the part's unit
};

struct part {
  /// what is done, with sizes: "256^3 cells, f32, a velocity in each cell"
  std::string work;
  std::string unit;                     ///< "Gcells/s"
  std::vector<contestant> contestants;  ///< wsl first, then the peer that the last line names, then others
  std::function<void()> check;          ///< after the last turn: throws if what was computed is wrong
};

/// Enters a part under the name that the last line and the command line use. It is made when its turn comes.
bool enter(const std::string& name, std::function<part()> make);

/// Seconds that a function takes.
double seconds(const std::function<void()>& run);

}  // namespace bench
