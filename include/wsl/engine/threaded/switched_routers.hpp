// SPDX-License-Identifier: MIT
// The routers whose route of a color is not known before the run, because the color has a switch, a filter or
// a teardown there. The threaded engine resolves routes to their final receivers once, but only up to the
// next such router. To the rest of the engine a switched router is one more reader, with a cursor for every
// writer whose words come to it, and one more writer, with a channel for every port that it may send through;
// forwarding.hpp moves its words. A layout without changing routes has none.
#pragma once
#include "../../support/flat_vector.hpp"
#include "../router_switch.hpp"

namespace wsl::engines {

/// One color at one router.
struct switched_router {
  coord at;
  int color = 0;
  ports outputs;  ///< each has a channel, in the order of every_port
  u32 first_channel = 0, first_cursor = 0;
  router_switch way;
};

/// All switched routers of a layout.
class switched_routers {
 public:
  static constexpr u32 none = ~u32{0};

  [[gnu::cold]] explicit switched_routers(const layout& plan) {
    const switched_paths switched(plan);
    if (!switched.any()) return;
    for (const path_record& p : plan.paths()) {
      if (p.phase > 0 || !switched.has(p)) continue;
      blocks_.push_back({&p, size()});
      for (int i = 0; i < p.where.count(); ++i) {
        const coord c = p.where.nth(i);
        all_.push_back({c, p.color, plan.route_at(c, p.color).to, 0, 0, router_switch(plan, c, p)});
      }
    }
  }

  u32 size() const { return static_cast<u32>(all_.size()); }
  switched_router& operator[](u32 j) { return all_[j]; }
  const switched_router& operator[](u32 j) const { return all_[j]; }

  /// The number of the switched router of a color at a PE, or none.
  u32 find(coord c, int color) const {
    for (const block& b : blocks_)
      if (b.path->color == color && b.path->where.has(c))
        return b.first + static_cast<u32>(b.path->where.rank(c));
    return none;
  }

 private:
  /// The routers of one path are contiguous.
  struct block {
    const path_record* path = nullptr;
    u32 first = 0;
  };
  support::flat_vector<block> blocks_;
  support::flat_vector<switched_router> all_;
};

}  // namespace wsl::engines
