// SPDX-License-Identifier: MIT
// The destinations of the wavelets of a color. Most routes do not change while a fabric runs, so each place
// where a color enters the fabric is resolved once, before the run, to the ramps, the edges of the grid and
// the switched routers that it reaches.
#pragma once
#include "../layout/layout.hpp"
#include "../support/flat_vector.hpp"

namespace wsl::engines {

/// The color with which the words of a path enter the neighbour on one side.
inline int color_behind(const layout& plan, coord at, int color, port side) {
  return plan.swapped_colors() & color_bit(color) ? plan.path_at(at, color)->color_through(side) : color;
}

class resolved_routes {
 public:
  explicit resolved_routes(const layout& plan) : plan_(plan), grid_(plan.grid()) {
    for (const path_record& p : plan.paths()) paths_[p.color].push_back(&p);
  }

  /// The route of a color on a PE; without a route both of its port sets are empty. If the route changes, all
  /// ports that it ever uses.
  route at(coord c, int color) const {
    if (plan_.changes()) return plan_.route_at(c, color);
    for (const path_record* p : paths_[color])
      if (p->where.has(c)) return p->how;
    return {};
  }

  /// Follows a color from the router that it enters through a port. Calls to_ramp(c, color) for every PE that
  /// receives it and to_edge(c, side, color) for every stream; stops(c, port, color) is called at every
  /// router and returns whether the search ends there. Returns the number of links that one wavelet crosses.
  template <class Stops, class Ramp, class Edge>
  int follow(coord from, port through, int color, Stops stops, Ramp to_ramp, Edge to_edge) {
    int links = 0;
    ahead_.clear();
    const auto enter = [&](coord c, port entered, int as) {
      if (!stops(c, entered, as)) ahead_.push_back({c, as});
    };
    enter(from, through, color);
    while (!ahead_.empty()) {
      const auto [c, as] = ahead_.back();
      ahead_.pop_back();
      const ports to = at(c, as).to;
      if (to.has(ramp)) to_ramp(c, as);
      for (port side : every_side) {
        if (!to.has(side)) continue;
        ++links;
        if (const coord next = c + step(side); grid_.has(next))
          enter(next, opposite(side), color_behind(plan_, c, as, side));
        else to_edge(c, side, as);
      }
    }
    return links;
  }

 private:
  const layout& plan_;
  region grid_;
  support::flat_vector<const path_record*> paths_[max_colors];
  struct place {
    coord at;
    int color;
  };
  support::flat_vector<place> ahead_;  // of `follow`
};

}  // namespace wsl::engines
