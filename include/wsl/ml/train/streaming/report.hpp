// SPDX-License-Identifier: MIT
// Where a step of training went: the time of its phases, which follow each other without a gap, and what
// passed between the memory and the wafers. wsl/ml/train/report.hpp prints it.
#pragma once
#include <algorithm>
#include <chrono>
#include <vector>

#include "../../../engine/outcome.hpp"

namespace wsl::ml {

using wall_clock = std::chrono::steady_clock;

inline f64 seconds(wall_clock::duration d) { return std::chrono::duration<f64>(d).count(); }

struct step_report {
  struct phase {
    const char* name;
    f64 seconds;  ///< by the clock on the wall
    f64 work;     ///< seconds that PEs computed in it, all together
  };
  f64 seconds = 0;            ///< of the step, by the clock on the wall
  std::vector<phase> phases;  ///< their seconds sum to those of the step
  /// bytes of weights that left the memory, each counted once however many wafers it reached
  u64 sent_forward = 0, sent_back = 0;
  u64 returned = 0;  ///< bytes of gradients that came back to it
  /// the most bytes of weights that a PE held at a time; its neighbours hold copies
  u64 peak_weights = 0;
  /// bytes of the largest two layers that follow each other: never less than the peak
  u64 two_layers = 0;
  outcome traffic;  ///< of the fabric, with its own counters
};

/// Cuts the time since it was made into phases. What it says of the step as a whole is from its own two looks
/// at the clock.
class stopwatch {
 public:
  explicit stopwatch(step_report& r, wall_clock::time_point began = wall_clock::now())
      : report_(r), began_(began), last_(began) {
    r.phases.clear(), r.seconds = 0;
  }
  /// A phase has ended now, or earlier than now; it began when the one before ended, and if that is later it
  /// took no time.
  void phase(const char* name, f64 work, wall_clock::time_point ended = wall_clock::now()) {
    const wall_clock::time_point end = std::max(ended, last_);
    report_.phases.push_back({name, ml::seconds(end - last_), work});
    report_.seconds = ml::seconds(end - began_);
    last_ = end;
  }

 private:
  step_report& report_;
  wall_clock::time_point began_, last_;
};

}  // namespace wsl::ml
