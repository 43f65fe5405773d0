// SPDX-License-Identifier: MIT
// How fast a run was, and how much of what its computers can do that is.
#pragma once
#include <string>
#include <wsl/ml/run/throughput.hpp>
#include <wsl/ml/train/pipelined/pipeline_report.hpp>
#include <wsl/ml/train/streaming/step_report.hpp>

namespace train_app {

/// Operations a second of products of f32 tiles that stay in a core's cache, the fastest way in which this
/// program multiplies, by so many threads at a time (0: one a core, or WSL_THREADS): the best of some rounds,
/// which take about 20 ms. A data sheet says somewhat more.
wsl::f64 measured_peak(int threads);

struct performance {
  const wsl::ml::throughput& speed;  ///< in samples
  wsl::i64 tokens;                   ///< of a sample
  /// operations of a sample, and those that all computers together can do in a second
  wsl::f64 flops, peak;
  std::string weights;  ///< what they travelled as

  wsl::f64 flops_per_second() const { return speed.global_rate() * flops; }
  wsl::f64 utilization() const { return flops_per_second() / peak; }
  /// With the Model Zoo's keys, and what flops_utilization was made of.
  std::string json() const;
};

/// Where a step went.
std::string table_of(const wsl::ml::step_report& r);
std::string table_of(const wsl::ml::pipeline_report& r);

}  // namespace train_app
