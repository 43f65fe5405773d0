// SPDX-License-Identifier: MIT
// A part of scripts/bench kernels: one kernel beside the programs that it is compared with. A file of this
// folder enters its part, as wave.cpp does. Contestants take turns, so that disturbances of the computer
// affect all of them alike.
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
  /// the work with its sizes: "256^3 cells, f32, a velocity in each cell"
  std::string work;
  std::string unit;                     ///< "Gcells/s"
  std::vector<contestant> contestants;  ///< wsl first, then the peer that the last line names, then others
  std::function<void()> check;          ///< called after the last turn; throws if the results are wrong
  /// the predicted ratio to the peer on 16 threads, as predicted.hpp has it; null for none
  std::function<double()> predicted = {};
};

/// Enters a part under the name that the summary and the command line use. It is created when its turn
/// comes.
bool enter(const std::string& name, std::function<part()> make);

/// Seconds that a function takes.
double seconds(const std::function<void()>& run);

}  // namespace bench
