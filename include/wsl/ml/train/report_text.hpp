// SPDX-License-Identifier: MIT
// The report of a step as tables: fmt::print("{}", ml::to_text(t.report())). The times of the phases sum to
// the step, and so do those of the layers; in a pipeline so do fill, work, waits and drain of each strip.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "pipelined/pipeline_report.hpp"
#include "streaming/step_report.hpp"

namespace wsl::ml {

/// One line for each row and one for their sum, in milliseconds.
inline std::string to_text(const std::vector<layer_times>& rows) {
  layer_times step{.name = "step"};
  std::size_t width = 26;
  for (const layer_times& x : rows) step += x, width = std::max(width, x.name.size());
  std::string out =
      fmt::format("{:<{}}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "layer, ms", width, "forward",
                  "backward", "update", "transfer", "exchange", "waiting", "all", "of step");
  const auto line = [&](const layer_times& x) {
    fmt::format_to(std::back_inserter(out),
                   "{:<{}}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>8.1f} %\n",
                   x.name, width, 1e3 * x.forward, 1e3 * x.backward, 1e3 * x.update, 1e3 * x.transfer,
                   1e3 * x.exchange, 1e3 * x.waiting, 1e3 * x.all(),
                   step.all() > 0 ? 100 * x.all() / step.all() : 0);
  };
  for (const layer_times& x : rows) line(x);
  line(step);
  return out;
}

/// Has the layers by blocks, or each of them.
inline std::string to_text(const step_report& r, bool each_layer = false) {
  std::string out = fmt::format("{:<26}{:>10}{:>10}{:>10}\n", "phase", "ms", "of step", "work, ms");
  const f64 all = r.seconds;
  f64 work = 0;
  const auto row = [&](const char* name, f64 seconds, f64 worked) {
    fmt::format_to(std::back_inserter(out), "{:<26}{:>10.3f}{:>8.1f} %{:>10.3f}\n", name, 1e3 * seconds,
                   all > 0 ? 100 * seconds / all : 0, 1e3 * worked);
  };
  for (const step_report::phase& p : r.phases) row(p.name, p.seconds, p.work), work += p.work;
  row("step", all, work);
  const auto bytes = [&](const char* name, u64 n) {
    fmt::format_to(std::back_inserter(out), "{:<26}{:>10.3f} MB\n", name, static_cast<f64>(n) / 1e6);
  };
  bytes("weights out, forward", r.sent_forward);
  bytes("weights out, backward", r.sent_backward);
  bytes("gradients in", r.returned);
  bytes("weights on a PE, at most", r.peak_weights);
  bytes("two layers", r.largest_two_layers);
  bytes("activations, all PEs", r.activations);
  if (r.sparse_weights > 0)
    fmt::format_to(std::back_inserter(out), "{:<26}{:>10.3f} % of {:.3f} M\n", "nonzeros of sparse weights",
                   100 * static_cast<f64>(r.nonzeros) / static_cast<f64>(r.sparse_weights),
                   static_cast<f64>(r.sparse_weights) / 1e6);
  if (r.micro_batches > 1)
    fmt::format_to(std::back_inserter(out), "{:<26}{:>10}\n", "micro-batches", r.micro_batches);
  if (!r.layers.empty()) {
    out += '\n';
    out += to_text(each_layer ? r.layers : by_block(r.layers));
  }
  return out;
}

/// Times are in milliseconds. A strip fills, works with waits in between, and drains.
inline std::string to_text(const pipeline_report& r) {
  std::string out = fmt::format("{:<40}{:>8}{:>8}{:>9}{:>9}{:>9}{:>8}{:>8}{:>8}\n", "strip", "work", "fill",
                                "forward", "back", "update", "waits", "drain", "busy");
  for (const pipeline_report::strip& s : r.strips) {
    const f64 waits = r.seconds - s.fill - s.work() - s.drain;
    fmt::format_to(std::back_inserter(out),
                   "{:<40}{:>6.1f} %{:>8.3f}{:>9.3f}{:>9.3f}{:>9.3f}{:>8.3f}{:>8.3f}{:>6.1f} %\n",
                   r.replicas > 1 ? fmt::format("{}: {}", s.replica, s.layers) : s.layers, 100 * s.share,
                   1e3 * s.fill, 1e3 * s.forward, 1e3 * s.backward, 1e3 * s.update, 1e3 * waits,
                   1e3 * s.drain, 100 * r.utilisation(s));
  }
  fmt::format_to(std::back_inserter(out),
                 "step {:.3f} ms, {} micro-batches: an even pipeline is busy {:.1f} % at best; {:.3f} MB of "
                 "parameters resident\n",
                 1e3 * r.seconds, r.micro_batches, 100 * r.ideal_utilisation(),
                 static_cast<f64>(r.resident) / 1e6);
  return out;
}

}  // namespace wsl::ml
