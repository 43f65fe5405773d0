// SPDX-License-Identifier: MIT
// Energies of lookups in tables of nuclear data: bins of energies with a weight each, within which an energy
// is as probable as any other. A number from 0 to 1 stands for an energy, and ascends with it. See
// lookups.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "random_stream.hpp"

namespace wsl::monte_carlo {

class spectrum {
 public:
  /// Bin i has the energies from edges[i] to edges[i + 1]. Throws std::invalid_argument unless there is one
  /// edge more than weights, edges are positive and ascend, weights are finite and not negative, and one is
  /// positive.
  spectrum(std::vector<f64> edges, const std::vector<f64>& weights) : edges_(std::move(edges)), below_{0} {
    if (weights.empty() || edges_.size() != weights.size() + 1)
      support::bad_argument(
          {"a spectrum of ", weights.size(), " bins has one edge more, not ", edges_.size()});
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (!(edges_[i] > (i ? edges_[i - 1] : 0)) || !std::isfinite(edges_[i]))
        support::bad_argument(
            {"the edges of a spectrum are positive and ascend, which edge ", i + 1, " does not"});
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
        support::bad_argument(
            {"the weights of a spectrum are finite and not negative, which weight ", i + 1, " is not"});
      below_.push_back(below_.back() + weights[i]);
    }
    if (!(below_.back() > 0) || !std::isfinite(below_.back()))
      support::bad_argument({"the weights of a spectrum have no positive sum"});
    for (f64& x : below_) x /= below_.back();
    below_.back() = 1;
  }
  /// Equally many energies a factor, from `lowest` to `highest`, in bins of equal lethargy.
  static spectrum by_lethargy(f64 lowest, f64 highest, int bins = 1000) {
    std::vector<f64> edges;
    for (int i = 0; i <= bins; ++i)
      edges.push_back(i == bins ? highest : lowest * std::pow(highest / lowest, static_cast<f64>(i) / bins));
    return {std::move(edges), std::vector<f64>(static_cast<std::size_t>(std::max(bins, 0)), 1.0)};
  }

  f64 lowest() const { return edges_.front(); }
  f64 highest() const { return edges_.back(); }
  /// The energy of which a part `number` of all energies is below.
  f64 energy(f64 number) const {
    const auto above = std::upper_bound(below_.begin(), below_.end(), number);
    const auto i = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - below_.begin() - 1, 0)),
                            below_.size() - 2);
    const f64 part = std::clamp((number - below_[i]) / (below_[i + 1] - below_[i]), 0.0, 1.0);
    return std::min(edges_[i + 1], edges_[i] + part * (edges_[i + 1] - edges_[i]));
  }

 private:
  std::vector<f64> edges_, below_;  // below_[i]: the part of energies below edges_[i]
};

}  // namespace wsl::monte_carlo
