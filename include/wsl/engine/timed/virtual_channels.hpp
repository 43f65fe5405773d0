// SPDX-License-Identifier: MIT
// The routers of a layout, sorted for the timed engine. A virtual_channel is one color that enters a router
// by one port. Lanes that share an output port, at once or through others, take turns: they make up a
// arbiter. A virtual_channel that only passes on to one side and shares its port with no other
// virtual_channel can hold up nobody; it belongs to no arbiter but to the run of links and routers that it is
// part of. Where the color has a gate, its virtual_channels have all ports that they may use at some time.
#pragma once
#include <algorithm>
#include <span>
#include <tuple>

#include "../../support/flat_vector.hpp"
#include "../resolved_routes.hpp"
#include "../router_switch.hpp"

namespace wsl::engines {

/// One color on one router: how its PE sends and receives it.
struct channel_node {
  static constexpr u32 none = ~u32{0};
  u8 color = 0;
  route how;                   ///< all that it uses at some time, if it changes
  u32 up = none, down = none;  ///< pipes from and to the PE
  u32 router_switch = none;    ///< its number, if the route changes
  i8 injects = 0;              ///< its priority where it comes from the PE
};

struct virtual_channel {
  u32 router = 0;
  u8 color = 0;
  port from = ramp;
  ports to;
  bool passes = false, changes = false;
  i8 rank = 0;      ///< the higher go first
  u16 arbiter = 0;  ///< of its router, from 1 on
  u32 pipe = 0;     ///< in which its words come
};

class virtual_channels {
 public:
  explicit virtual_channels(const layout& plan) : plan_(&plan), gated_(plan), grid_(plan.grid()) {
    place_nodes();
    place_lanes();
  }

  u32 router_at(coord c) const { return static_cast<u32>(grid_.rank(c)); }
  coord coord_of(u32 router) const { return grid_.nth(static_cast<int>(router)); }
  bool on_grid(coord c) const { return grid_.has(c); }

  /// In the order of their colors.
  std::span<channel_node> nodes_of(u32 router) {
    return {nodes_.data() + first_node_[router], nodes_.data() + first_node_[router + 1]};
  }
  channel_node* node_of(u32 router, int color) {
    for (channel_node& n : nodes_of(router))
      if (n.color == color) return &n;
    return nullptr;
  }
  /// Lanes of one arbiter stand together, in the order of color and port.
  std::span<virtual_channel> all() { return {all_.data(), all_.data() + all_.size()}; }
  virtual_channel* at(u32 router, int color, port from) {
    for (u32 i = first_[router]; i < first_[router + 1]; ++i)
      if (all_[i].color == color && all_[i].from == from) return &all_[i];
    return nullptr;
  }
  /// The virtual_channel that the words of a virtual_channel enter through a side of its router; of a
  /// virtual_channel that passes the only one.
  virtual_channel* behind(const virtual_channel& l, port side) {
    const coord c = coord_of(l.router);
    return at(router_at(c + wsl::step(side)), color_behind(*plan_, c, l.color, side), opposite(side));
  }
  virtual_channel* after(const virtual_channel& l) { return behind(l, only_side(l.to)); }
  u32 router_switches() const { return switches_; }
  static port only_side(ports to) {
    for (port p : every_side)
      if (to.has(p)) return p;
    return ramp;
  }

 private:
  void place_nodes() {
    first_node_ = support::flat_vector<u32>(static_cast<std::size_t>(grid_.count()) + 1);
    const auto each = [&](auto use) {
      for (const path_record& p : plan_->paths())
        for (int i = 0; i < p.where.count() && p.phase == 0; ++i) use(router_at(p.where.nth(i)), p);
    };
    each([&](u32 r, const path_record&) { ++first_node_[r + 1]; });
    for (std::size_t r = 1; r < first_node_.size(); ++r) first_node_[r] += first_node_[r - 1];
    nodes_ = support::flat_vector<channel_node>(first_node_.back());
    support::flat_vector<u32> next(first_node_);
    each([&](u32 r, const path_record& p) {
      channel_node& n = nodes_[next[r]++];
      n.color = static_cast<u8>(p.color);
      n.how = p.how;
      n.injects = p.injects;
      if (!gated_.has(p)) return;
      n.how = plan_->route_at(coord_of(r), p.color);
      n.router_switch = switches_++;
    });
    for (u32 r = 0; r + 1 < first_node_.size(); ++r) {
      const auto here = nodes_of(r);
      std::sort(here.begin(), here.end(),
                [](const channel_node& a, const channel_node& b) { return a.color < b.color; });
    }
  }

  void place_lanes() {
    first_ = support::flat_vector<u32>(first_node_.size());
    for (u32 r = 0; r + 1 < first_node_.size(); ++r) {
      first_[r] = static_cast<u32>(all_.size());
      int users[5] = {};
      for (const channel_node& n : nodes_of(r))
        for (port from : every_port) {
          if (!n.how.from.has(from)) continue;
          all_.push_back({.router = r,
                          .color = n.color,
                          .from = from,
                          .to = n.how.to,
                          .changes = n.router_switch != channel_node::none});
          if (from == ramp) all_.back().rank = n.injects;
          for (port p : every_port) users[index_of(p)] += n.how.to.has(p);
        }
      make_boards({all_.begin() + first_[r], all_.end()}, users);
    }
    first_[first_.size() - 1] = static_cast<u32>(all_.size());
  }

  void make_boards(std::span<virtual_channel> here, const int (&users)[5]) {
    u8 shared[5] = {};  // the ports of each arbiter
    int arbiters = 0;
    for (virtual_channel& l : here) {
      l.passes = passes(l, users);
      if (l.passes) continue;
      u8 mine = l.to.bits;
      int kept = 0;
      for (int b = 0; b < arbiters; ++b) {
        if (shared[b] & mine) mine = static_cast<u8>(mine | shared[b]);
        else shared[kept++] = shared[b];
      }
      shared[kept] = mine;
      arbiters = kept + 1;
    }
    for (virtual_channel& l : here)
      for (int b = 0; b < arbiters; ++b)
        if (!l.passes && (l.to.bits & shared[b])) l.arbiter = static_cast<u16>(b + 1);
    std::sort(here.begin(), here.end(), [](const virtual_channel& a, const virtual_channel& b) {
      return std::tuple(a.arbiter, a.color, index_of(a.from)) <
             std::tuple(b.arbiter, b.color, index_of(b.from));
    });
  }
  bool passes(const virtual_channel& l, const int (&users)[5]) const {
    if (l.changes || l.from == ramp || l.to.has(ramp) || !l.to.single()) return false;
    const port side = only_side(l.to);
    return users[index_of(side)] == 1 && on_grid(coord_of(l.router) + wsl::step(side));
  }

  const layout* plan_;
  switched_paths gated_;
  u32 switches_ = 0;
  region grid_;
  support::flat_vector<u32> first_node_, first_;
  support::flat_vector<channel_node> nodes_;
  support::flat_vector<virtual_channel> all_;
};

}  // namespace wsl::engines
