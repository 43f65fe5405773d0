// SPDX-License-Identifier: MIT
// The curves of a run for the dashboard: its loss.csv, and the samples a second that its log tells.
#pragma once
#include <string>
#include <vector>

namespace cluster {

struct curve_point {
  double step = 0, value = 0;
};
struct run_curves {
  std::vector<curve_point> train, eval;  ///< losses
  std::vector<curve_point> rate;         ///< samples a second
};

/// The losses of a loss.csv; lines that are not whole yet are left out.
void read_losses(const std::string& csv, run_curves& to);
/// The rates of a log's lines "| Train Device=..., Step=50, Loss=..., Rate=123.4 samples/sec, ...".
void read_rates(const std::string& log, run_curves& to);
/// At most so many points, evenly chosen; the first and the last stay.
std::vector<curve_point> thinned(const std::vector<curve_point>& all, std::size_t most);
/// The last table of a log that begins with "| MODULE NAME", with its lines above and below; empty if there
/// is none.
std::string profile_in(const std::string& log);

}  // namespace cluster
