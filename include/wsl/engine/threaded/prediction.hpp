// SPDX-License-Identifier: MIT
// The predictions of a scaling_profile as a table: of the time on each number of threads, which part is work
// that all share, and where the rest goes.
//   threads   predicted  speed-up     work  imbalance  barriers  waking  host
#pragma once
#include <cstdio>
#include <string>

#include "scaling_profile.hpp"

namespace wsl {

/// One line for each prediction, with the time in milliseconds and its parts as shares.
inline std::string to_text(std::span<const scaling_prediction> predictions) {
  const auto line = [](const char* format, auto... values) {
    char text[160];
    std::snprintf(text, sizeof text, format, values...);
    return std::string(text);
  };
  std::string out = line("%8s%14s%10s%10s%11s%10s%9s%9s%12s\n", "threads", "predicted, ms", "speed-up",
                         "work", "imbalance", "barriers", "waking", "host", "supersteps");
  for (const scaling_prediction& p : predictions) {
    const auto part = [&](f64 seconds) { return p.seconds > 0 ? 100 * seconds / p.seconds : 0; };
    out += line("%8d%14.3f%10.2f%8.1f %%%9.1f %%%8.1f %%%7.1f %%%7.1f %%%12.0f\n", p.threads, 1e3 * p.seconds,
                p.speedup, part(p.work), part(p.imbalance), part(p.barriers), part(p.waking), part(p.serial),
                p.supersteps);
  }
  return out;
}
inline std::string to_text(const support::flat_vector<scaling_prediction>& predictions) {
  return to_text(std::span(predictions.data(), predictions.size()));
}

}  // namespace wsl
