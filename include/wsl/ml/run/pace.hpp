// SPDX-License-Identifier: MIT
// How fast a run is: samples a second since the last look and since the start, and the time that is left.
#pragma once
#include <chrono>
#include <cstdio>
#include <string>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// 3661 s is "1:01:01".
inline std::string clock_text(f64 seconds) {
  const i64 s = seconds < 0 ? 0 : static_cast<i64>(seconds + 0.5);
  char text[40];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", static_cast<long long>(s / 3600),
                static_cast<long long>(s / 60 % 60), static_cast<long long>(s % 60));
  return text;
}

class pace {
 public:
  using clock = std::chrono::steady_clock;

  explicit pace(clock::time_point now = clock::now()) : start_(now), last_(now) {}

  /// Samples that were done since the last call.
  void add(i64 samples, clock::time_point now = clock::now()) {
    const f64 took = seconds(last_, now);
    rate_ = took > 0 ? static_cast<f64>(samples) / took : 0;
    samples_ += samples, last_ = now;
  }
  /// Lets time pass that is not counted, as that of a checkpoint.
  void skip(clock::duration d) { start_ += d, last_ += d; }

  f64 rate() const { return rate_; }  ///< samples a second between the last two looks
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
