// SPDX-License-Identifier: MIT
// The virtual channels of a layout's routers. A virtual channel is one color that enters a router by one
// port; it is the unit of buffering and arbitration, as in any network on chip. Channels of a router that
// share an output port, directly or through others, take turns: they form the group of one arbiter. A channel
// that only passes words on to one side, and shares that side with no other, delays no other; it has no
// arbiter and belongs to a straight run of links and routers, unless that would cross a cut of the grid
// (grid_cut.hpp). A channel whose route may change has all ports that it may ever use.
#pragma once
#include <algorithm>
#include <span>
#include <tuple>

#include "../../support/flat_vector.hpp"
#include "../resolved_routes.hpp"
#include "../router_switch.hpp"
#include "grid_cut.hpp"

namespace wsl::engines {

/// One color at one router: its route, and how the router's PE sends and receives it.
struct channel_node {
  static constexpr u32 none = ~u32{0};
  u8 color = 0;
  route how;                   ///< every port that it ever uses, if the route changes
  u32 up = none, down = none;  ///< the pipes from and to the PE
  u32 router_switch = none;    ///< the number of its switch, if the route changes
  i8 injects = 0;              ///< the priority of words from the PE
};

struct virtual_channel {
  u32 router = 0;
  u8 color = 0;
  port from = ramp;
  ports to;
  bool passes = false;    ///< it belongs to no arbiter
  bool switched = false;  ///< its route may change
  i8 rank = 0;            ///< higher ranks go first
  u16 group = 0;          ///< the group of channels of its router that take turns, counted from 1
  u32 pipe = 0;           ///< the pipe through which its words arrive
};

class virtual_channels {
 public:
  virtual_channels(const layout& plan, const grid_cut& cut)
      : plan_(&plan), switched_paths_(plan), cut_(cut), grid_(plan.grid()) {
    add_nodes();
    add_channels();
  }

  u32 router_at(coord c) const { return static_cast<u32>(grid_.rank(c)); }
  coord coord_of(u32 router) const { return grid_.nth(static_cast<int>(router)); }
  bool on_grid(coord c) const { return grid_.has(c); }

  /// The nodes of a router in the order of their colors.
  std::span<channel_node> nodes_of(u32 router) {
    return {nodes_.data() + first_node_[router], nodes_.data() + first_node_[router + 1]};
  }
  channel_node* node_of(u32 router, int color) {
    for (channel_node& n : nodes_of(router))
      if (n.color == color) return &n;
    return nullptr;
  }
  const channel_node* node_of(u32 router, int color) const {
    return const_cast<virtual_channels*>(this)->node_of(router, color);
  }
  /// All channels; those of one group are contiguous, in the order of color and port.
  std::span<virtual_channel> all() { return {all_.data(), all_.data() + all_.size()}; }
  virtual_channel* at(u32 router, int color, port from) {
    for (u32 i = first_[router]; i < first_[router + 1]; ++i)
      if (all_[i].color == color && all_[i].from == from) return &all_[i];
    return nullptr;
  }
  /// The channel of the neighboring router that words enter when they leave `vc` through a side.
  virtual_channel* behind(const virtual_channel& vc, port side) {
    const coord c = coord_of(vc.router);
    return at(router_at(c + wsl::step(side)), color_behind(*plan_, c, vc.color, side), opposite(side));
  }
  /// The same for a channel that leaves its router through one side only.
  virtual_channel* behind(const virtual_channel& vc) { return behind(vc, only_side(vc.to)); }
  u32 router_switches() const { return switches_; }
  template <class Condition>
  std::size_t count(Condition holds) const {
    std::size_t n = 0;
    for (const channel_node& node : nodes_) n += holds(node);
    return n;
  }
  u64 bytes() const {
    return nodes_.capacity() * sizeof(channel_node) + first_node_.capacity() * sizeof(u32) +
           all_.capacity() * sizeof(virtual_channel) + first_.capacity() * sizeof(u32);
  }
  /// Forgets all channels, but not the nodes.
  void forget_all() { all_ = {}, first_ = {}; }
  static port only_side(ports to) {
    for (port p : every_side)
      if (to.has(p)) return p;
    return ramp;
  }

 private:
  void add_nodes() {
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
      if (!switched_paths_.has(p)) return;
      n.how = plan_->route_at(coord_of(r), p.color);
      n.router_switch = switches_++;
    });
    for (u32 r = 0; r + 1 < first_node_.size(); ++r) {
      const auto here = nodes_of(r);
      std::sort(here.begin(), here.end(),
                [](const channel_node& a, const channel_node& b) { return a.color < b.color; });
    }
  }

  void add_channels() {
    first_ = support::flat_vector<u32>(first_node_.size());
    all_.reserve(count_of_channels());
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
                          .switched = n.router_switch != channel_node::none});
          if (from == ramp) all_.back().rank = n.injects;
          for (port p : every_port) users[index_of(p)] += n.how.to.has(p);
        }
      group({all_.begin() + first_[r], all_.end()}, users);
    }
    first_[first_.size() - 1] = static_cast<u32>(all_.size());
  }

  std::size_t count_of_channels() const {
    std::size_t n = 0;
    for (const channel_node& node : nodes_)
      for (port from : every_port) n += node.how.from.has(from);
    return n;
  }

  // Groups are the connected components of the channels of a router, two of which are connected by a common
  // port.
  void group(std::span<virtual_channel> here, const int (&users)[5]) {
    u8 shared[5] = {};  // the ports of each group
    int groups = 0;
    for (virtual_channel& vc : here) {
      vc.passes = passes(vc, users);
      if (vc.passes) continue;
      u8 mine = vc.to.bits;
      int kept = 0;
      for (int g = 0; g < groups; ++g) {
        if (shared[g] & mine) mine = static_cast<u8>(mine | shared[g]);
        else shared[kept++] = shared[g];
      }
      shared[kept] = mine;
      groups = kept + 1;
    }
    for (virtual_channel& vc : here)
      for (int g = 0; g < groups; ++g)
        if (!vc.passes && (vc.to.bits & shared[g])) vc.group = static_cast<u16>(g + 1);
    std::sort(here.begin(), here.end(), [](const virtual_channel& a, const virtual_channel& b) {
      return std::tuple(a.group, a.color, index_of(a.from)) < std::tuple(b.group, b.color, index_of(b.from));
    });
  }
  bool passes(const virtual_channel& vc, const int (&users)[5]) const {
    if (vc.switched || vc.from == ramp || vc.to.has(ramp) || !vc.to.single()) return false;
    const port side = only_side(vc.to);
    const coord c = coord_of(vc.router);
    if (cut_.is_between(c, side) || cut_.is_between(c, vc.from)) return false;
    return users[index_of(side)] == 1 && on_grid(c + wsl::step(side));
  }

  const layout* plan_;
  switched_paths switched_paths_;
  grid_cut cut_;
  u32 switches_ = 0;
  region grid_;
  support::flat_vector<u32> first_node_, first_;
  support::flat_vector<channel_node> nodes_;
  support::flat_vector<virtual_channel> all_;
};

}  // namespace wsl::engines
