// SPDX-License-Identifier: MIT
// The breakdown of a step of weight streaming: the time of its phases, which follow each other without a gap,
// the time of its layers, which share it out, and the bytes that passed between the memory and the wafers.
// train/report_text.hpp prints it.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "../../../engine/outcome.hpp"
#include "../wall_clock.hpp"
#include "layer_times.hpp"

namespace wsl::ml {

struct step_report {
  struct phase {
    const char* name = "";
    f64 seconds = 0;  ///< elapsed
    f64 work = 0;     ///< seconds that PEs computed in this phase, summed over all PEs
  };
  f64 seconds = 0;            ///< elapsed in the whole step
  std::vector<phase> phases;  ///< their seconds sum to those of the step
  /// Of each stage, and last of the host; they sum to the step as well. Empty on several processes, and where
  /// a scaling_profile measures.
  std::vector<layer_times> layers;
  /// Bytes of weights that left the memory, counted once however many wafers they reached.
  u64 sent_forward = 0, sent_backward = 0;
  u64 returned = 0;  ///< bytes of gradients that came back to the memory
  /// The most bytes of weights that one PE held at a time; all workers hold copies of the same tiles.
  u64 peak_weights = 0;
  /// Bytes of weights of the largest two consecutive layers, a bound of `peak_weights`.
  u64 largest_two_layers = 0;
  /// Bytes that the workers hold for activations, their gradients, and what stages save.
  u64 activations = 0;
  /// The numbers of the parameters that are sparse, and how many of them are there.
  u64 sparse_weights = 0, nonzeros = 0;
  int micro_batches = 1;  ///< that the step had
  /// What the threads of the engine did and when, if the trainer keeps it (trainer::keep_timeline), and how
  /// many stretches were left out, because there were too many.
  std::vector<timeline_event> timeline;
  u64 lost_events = 0;
  outcome counters;  ///< the counts of the fabric
};

/// Divides the time since its construction into phases.
class stopwatch {
 public:
  explicit stopwatch(step_report& r, wall_clock::time_point began = wall_clock::now())
      : report_(r), began_(began), last_(began) {
    r.phases.clear(), r.seconds = 0;
  }
  wall_clock::time_point began() const { return began_; }
  /// Ends a phase that began when the one before it ended. If `ended` is earlier than that, the phase took no
  /// time.
  /// A phase that comes again, with each micro-batch of the step, is added to what it took before.
  void phase(const char* name, f64 work, wall_clock::time_point ended = wall_clock::now()) {
    const wall_clock::time_point end = std::max(ended, last_);
    const auto at =
        std::find_if(report_.phases.begin(), report_.phases.end(),
                     [&](const step_report::phase& p) { return std::string_view(p.name) == name; });
    step_report::phase& p = at == report_.phases.end() ? report_.phases.emplace_back() : *at;
    p.name = name, p.seconds += ml::seconds(end - last_), p.work += work;
    report_.seconds = ml::seconds(end - began_);
    last_ = end;
  }

 private:
  step_report& report_;
  wall_clock::time_point began_, last_;
};

}  // namespace wsl::ml
