// SPDX-License-Identifier: MIT
// A step of training as a table: `fmt::print("{}", ml::to_text(t.report()))`. Its rows of time sum to the step.
#pragma once
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "stream/report.hpp"

namespace wsl::ml {

inline std::string to_text(const step_report& r) {
  std::string out = fmt::format("{:<26}{:>10}{:>10}{:>10}\n", "phase", "ms", "of step", "work, ms");
  const f64 all = r.seconds();
  f64 work = 0;
  const auto row = [&](const char* name, f64 seconds, f64 worked) {
    fmt::format_to(std::back_inserter(out), "{:<26}{:>10.3f}{:>8.1f} %{:>10.3f}\n", name, 1e3 * seconds, all > 0 ? 100 * seconds / all : 0, 1e3 * worked);
  };
  for (const step_report::phase& p : r.phases) row(p.name, p.seconds, p.work), work += p.work;
  row("step", all, work);
  const auto bytes = [&](const char* name, u64 n) { fmt::format_to(std::back_inserter(out), "{:<26}{:>10.3f} MB\n", name, static_cast<f64>(n) / 1e6); };
  bytes("weights out, forward", r.sent_forward);
  bytes("weights out, backward", r.sent_back);
  bytes("gradients in", r.returned);
  bytes("weights on a PE, at most", r.peak_weights);
  bytes("two layers", r.two_layers);
  return out;
}

}  // namespace wsl::ml
