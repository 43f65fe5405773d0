// SPDX-License-Identifier: MIT
// The utilization of a pipeline's strips in a step. train/report_text.hpp prints it.
#pragma once
#include <string>
#include <vector>

#include "../../../engine/outcome.hpp"

namespace wsl::ml {

struct pipeline_report {
  /// A strip is the share of the model's layers that one PE has. Times are in seconds.
  struct strip {
    std::string layers;  ///< its first and its last stage
    int replica = 0;
    f64 share = 0;                              ///< its share of the operations of all replicas
    f64 forward = 0, backward = 0, update = 0;  ///< work
    f64 fill = 0, drain = 0;                    ///< idle before its first work and after its last
    f64 work() const { return forward + backward + update; }
  };
  std::vector<strip> strips;
  f64 seconds = 0;  ///< elapsed in the step; for each strip the sum of fill, work, waits and drain
  int micro_batches = 0, replicas = 1;  ///< micro-batches of each replica
  /// Bytes of parameters on the wafer, with the copies of those that several strips share and of replicas.
  u64 resident = 0;
  outcome counters;  ///< the counts of the fabric

  f64 utilisation(const strip& s) const { return seconds > 0 ? s.work() / seconds : 0; }
  /// The utilisation of a perfectly even pipeline, which still fills and drains:
  /// micro-batches / (micro-batches + strips - 1).
  f64 ideal_utilisation() const {
    return static_cast<f64>(micro_batches) /
           static_cast<f64>(micro_batches + static_cast<int>(strips.size()) / replicas - 1);
  }
};

}  // namespace wsl::ml
