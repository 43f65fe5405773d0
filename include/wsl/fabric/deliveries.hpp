// SPDX-License-Identifier: MIT
// Where the wavelets of a color go: routes do not change while a fabric runs, so each place where a color enters the fabric is
// resolved once, before the run, to the ramps and edges of the grid that it reaches.
#pragma once

#include "../core/flat_vector.hpp"
#include "../layout/layout.hpp"

namespace wsl::engines {

class deliveries {
 public:
  explicit deliveries(const layout& plan) : plan_(plan), grid_(plan.grid()) {
    for (const path_record& p : plan.paths()) paths_[p.color].push_back(&p);
  }

  /// The route of a color on a PE, both sides empty where there is none; of a route that changes, all ports that it uses.
  route at(coord c, int color) const {
    if (plan_.changes()) return plan_.route_at(c, color);
    for (const path_record* p : paths_[color])
      if (p->where.has(c)) return p->how;
    return {};
  }

  /// Follows a color from the router where it leaves the ramp or enters the grid. Calls to_ramp(c) for every PE that receives it
  /// and to_edge(c, side) for every stream; returns the number of links that one wavelet crosses.
  template <class Ramp, class Edge>
  int follow(coord from, int color, Ramp to_ramp, Edge to_edge) {
    int links = 0;
    ahead_.clear();
    ahead_.push_back(from);
    while (!ahead_.empty()) {
      const coord c = ahead_.back();
      ahead_.pop_back();
      const ports to = at(c, color).to;
      if (to.has(ramp)) to_ramp(c);
      for (port side : every_side) {
        if (!to.has(side)) continue;
        ++links;
        if (const coord next = c + step(side); grid_.has(next)) ahead_.push_back(next);
        else to_edge(c, side);
      }
    }
    return links;
  }

 private:
  const layout& plan_;
  region grid_;
  flat_vector<const path_record*> paths_[max_colors];
  flat_vector<coord> ahead_;
};

}  // namespace wsl::engines
