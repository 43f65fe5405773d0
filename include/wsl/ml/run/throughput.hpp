// SPDX-License-Identifier: MIT
// The throughput of a run: samples a second since the last log entry and since the start, and the time left.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// A duration as hours, minutes and seconds: 3661 s is "1:01:01".
inline std::string duration_text(f64 seconds) {
  const i64 s = seconds < 0 ? 0 : static_cast<i64>(seconds + 0.5);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

class throughput {
 public:
  using clock = std::chrono::steady_clock;

  explicit throughput(clock::time_point now = clock::now()) : start_(now), last_(now) {}

  /// Adds the samples that were done since the last call.
  void add(i64 samples, clock::time_point now = clock::now()) {
    const f64 took = seconds(last_, now);
    rate_ = took > 0 ? static_cast<f64>(samples) / took : 0;
    samples_ += samples, last_ = now;
  }
  /// Excludes some time, such as that of a checkpoint.
  void skip(clock::duration d) { start_ += d, last_ += d; }

  f64 rate() const { return rate_; }  ///< samples a second between the last two calls of `add`
  f64 global_rate() const { return elapsed() > 0 ? static_cast<f64>(samples_) / elapsed() : 0; }
  f64 elapsed() const { return seconds(start_, last_); }
  i64 samples() const { return samples_; }
  f64 time_for(i64 samples) const {
    return global_rate() > 0 ? static_cast<f64>(samples) / global_rate() : 0;
  }

 private:
  static f64 seconds(clock::time_point from, clock::time_point to) {
    return std::chrono::duration<f64>(to - from).count();
  }
  clock::time_point start_, last_;
  f64 rate_ = 0;
  i64 samples_ = 0;
};

}  // namespace wsl::ml
