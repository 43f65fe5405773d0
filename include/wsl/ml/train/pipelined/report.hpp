// SPDX-License-Identifier: MIT
// How busy the strips of a pipeline were in a step. wsl/ml/train/report.hpp prints it.
#pragma once
#include <string>
#include <vector>

#include "../../../engine/outcome.hpp"

namespace wsl::ml {

struct pipeline_report {
  struct strip {
    std::string layers;                     ///< the first and the last stage that have a part of it
    f64 share = 0;                          ///< of the model's operations
    f64 forward = 0, back = 0, update = 0;  ///< seconds of work
    f64 fill = 0, drain = 0;                ///< seconds before its first work and after its last
    f64 work() const { return forward + back + update; }
  };
  std::vector<strip> strips;
  f64 seconds = 0;  ///< of the step; for each strip: fill, work, waiting in between, drain
  int micro_batches = 0;
  /// bytes of parameters on the wafer: all of them, and copies of shared ones
  u64 resident = 0;
  outcome traffic;  ///< of the fabric, with its own counters

  f64 utilisation(const strip& s) const { return seconds > 0 ? s.work() / seconds : 0; }
  /// What remains of an even pipeline's time when it fills and drains: micro-batches / (micro-batches +
  /// strips - 1).
  f64 at_best() const {
    return static_cast<f64>(micro_batches) /
           static_cast<f64>(micro_batches + static_cast<int>(strips.size()) - 1);
  }
};

}  // namespace wsl::ml
