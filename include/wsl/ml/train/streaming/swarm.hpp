// SPDX-License-Identifier: MIT
// Between the memory and several wafers: weights fan out to all of them, and gradients are added up on the
// way back, along a tree whose root is their server. A node belongs to a wafer; it adds that wafer's gradient
// and those of the nodes below it, in this order, so the sum is always the same. After the SwarmX of
// Cerebras' weight streaming. See examples/90_cluster.cpp.
#pragma once
#include "schedule.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// What all nodes do, compiled once.
class swarm_branch {
 public:
  void step(pe& me, const streaming_schedule* way, int level, int children) {
    way_ = way, level_ = level, children_ = children, trip_now_ = 0;
    sum_.resize(children > 1 ? way->longest() : 0);
    next(me);
  }

 private:
  /// Goes on with the next gradient of the server in this row.
  void next(pe& me) {
    const std::vector<weight_transfer>& all = way_->weight_transfers();
    while (trip_now_ < all.size() && !all[trip_now_].returns_to(wires::number_in(me.y()))) ++trip_now_;
    if (trip_now_ == all.size()) return;
    const int words = static_cast<int>(all[trip_now_++].size());
    const auto up = fabout(wires::up(level_), words);
    added_ = 1;
    if (children_ == 0) me.async(mov(up, fabin(wires::home)), then<&swarm_branch::next>());
    else if (children_ == 1)
      me.async(wsl::add(up, fabin(wires::home), fabin(wires::up(0))), then<&swarm_branch::next>());
    else
      me.async(wsl::add(part(words), fabin(wires::home), fabin(wires::up(0))),
               then<&swarm_branch::add_next>());
  }
  void add_next(pe& me) {
    const auto so_far = part(static_cast<int>(way_->weight_transfers()[trip_now_ - 1].size()));
    const auto from = fabin(wires::up(added_++));
    if (added_ < children_) me.async(wsl::add(so_far, so_far, from), then<&swarm_branch::add_next>());
    else me.async(wsl::add(fabout(wires::up(level_)), so_far, from), then<&swarm_branch::next>());
  }
  wsl::memory<f32> part(int words) { return mem(std::span(sum_)).part(0, words); }

  const streaming_schedule* way_ = nullptr;
  int level_ = 0, children_ = 0;
  std::size_t trip_now_ = 0;
  int added_ = 0;  // children
  std::vector<f32> sum_;

 public:
  using tasks = task_list<local<&swarm_branch::next>, local<&swarm_branch::add_next>>;
};

/// A node whose sums go 2^level columns to the west, with so many nodes below it.
template <int level, int children>
struct swarm_node {
  swarm_branch branch;

  void step(pe& me, const streaming_schedule* way) { branch.step(me, way, level, children); }
  using tasks = task_list<launch<&swarm_node::step>, use<&swarm_node::branch>, sends<wires::up(level)>,
                          wires::reads_sums<children>>;
};

/// Calls f.operator()<level, children>(columns) for each kind of node that a cluster of so many wafers has,
/// with the area of those nodes in one column at a time.
template <class F>
void each_swarm_node(int wafers, F f) {
  for (int x = 1; x < wafers; ++x)
    [&]<int... kind>(std::integer_sequence<int, kind...>) {
      const auto try_kind = [&]<int level, int children>() {
        if constexpr (children <= level)
          if (wires::level_of(x) == level && wires::children(x, wafers) == children)
            f.template operator()<level, children>(rows(0, edge, 2).column(x));
      };
      (try_kind.template operator()<kind / wires::levels, kind % wires::levels>(), ...);
    }(std::make_integer_sequence<int, wires::levels * wires::levels>{});
}

}  // namespace wsl::ml
