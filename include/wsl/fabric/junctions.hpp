// SPDX-License-Identifier: MIT
// Where a color's way is not known before the run. Routes are resolved to their receivers once, but only up to the next router with a
// gate: there stands a junction. To the threaded engine it is one more reader, with an inlet for everyone whose words come to it, and
// one more writer, with a channel for each port that it may send through.
#pragma once
#include <bit>

#include "../core/flat_vector.hpp"
#include "../program/engine_link.hpp"
#include "gate.hpp"

namespace wsl::engines {

struct junction {
  coord at;
  int color = 0;
  gate way;
  ports outputs;  ///< each has a channel, in the order of every_port
  u32 first_channel = 0, first_inlet = 0;
  membership in;

  u32 channels() const { return static_cast<u32>(std::popcount(outputs.bits)); }
  /// The channel of an output among those of all.
  u32 channel_of(port p) const {
    u32 before = first_channel;
    for (port q : every_port) {
      if (q == p) break;
      before += outputs.has(q);
    }
    return before;
  }
};

class junctions {
 public:
  static constexpr u32 none = ~u32{0};

  explicit junctions(const layout& plan) {
    const gated_paths gated(plan);
    for (const path_record& p : plan.paths()) {
      if (!gated.any()) break;
      if (p.phase > 0 || !gated.has(p)) continue;
      blocks_.push_back({&p, static_cast<u32>(list_.size())});
      for (int i = 0; i < p.where.count(); ++i) {
        const coord c = p.where.nth(i);
        list_.push_back({c, p.color, gate(plan, c, p), plan.route_at(c, p.color).to, 0, 0, {}});
      }
    }
  }

  u32 size() const { return static_cast<u32>(list_.size()); }
  junction& operator[](u32 i) { return list_[i]; }
  const junction& operator[](u32 i) const { return list_[i]; }
  const junction* begin() const { return list_.begin(); }
  const junction* end() const { return list_.end(); }

  /// The number of the junction of a color at a PE, or none.
  u32 find(coord c, int color) const {
    for (const block& b : blocks_)
      if (b.path->color == color && b.path->where.has(c)) return b.first + static_cast<u32>(b.path->where.rank(c));
    return none;
  }

 private:
  struct block {
    const path_record* path = nullptr;
    u32 first = 0;
  };
  flat_vector<block> blocks_;
  flat_vector<junction> list_;
};

}  // namespace wsl::engines
