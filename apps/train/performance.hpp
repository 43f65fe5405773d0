// SPDX-License-Identifier: MIT
// The performance of a run, and its utilization of the computers.
#pragma once
#include <string>
#include <wsl/ml/run/throughput.hpp>
#include <wsl/ml/train/pipelined/pipeline_report.hpp>
#include <wsl/ml/train/streaming/step_report.hpp>

namespace train_app {

/// The measured peak of this computer in operations a second: products of f32 tiles that stay in a core's
/// cache, which is the fastest multiplication of this program, on `threads` threads at a time (0: one for
/// each core, or WSL_THREADS). It is the best of some rounds, which take about 20 ms. The number of a data
/// sheet is somewhat higher.
wsl::f64 measured_peak(int threads);

/// Bytes a second to and from a disk.
struct disk_speed {
  wsl::f64 read = 0, write = 0;
};
/// The speed of the disk of a folder, for a file of 64 MB that is written there, read, and gone. Throws
/// support::file_error if that is not possible.
disk_speed measured_disk(const std::string& folder);

struct performance {
  const wsl::ml::throughput& speed;  ///< in samples a second
  wsl::i64 tokens;                   ///< the number of tokens of a sample
  /// operations of a sample, and the peak of all computers in operations a second
  wsl::f64 flops, peak;
  std::string weights;  ///< the format of travelling weights

  wsl::f64 flops_per_second() const { return speed.global_rate() * flops; }
  wsl::f64 utilization() const { return flops_per_second() / peak; }
  /// JSON with the Model Zoo's keys, and the numbers that flops_utilization is computed from.
  std::string json() const;
};

/// A table of the time of a step.
std::string table_of(const wsl::ml::step_report& r, bool each_layer);
std::string table_of(const wsl::ml::pipeline_report& r, bool each_layer);

}  // namespace train_app
