// SPDX-License-Identifier: MIT
// Between the memory and several wafers: weights fan out to all of them, and gradients are added up on the way back, along a tree
// whose root is their server. A node belongs to a wafer; it adds that wafer's gradient and those of the nodes below it, in this order,
// so the sum is always the same. After the SwarmX of Cerebras' weight streaming. See examples/90_cluster.cpp.
#pragma once
#include "itinerary.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// A node whose sums go 2^level columns to the west, with so many nodes below it.
template <int level, int children>
struct swarm_node {
  const itinerary* way = nullptr;
  std::size_t trip_now = 0;
  int added = 0;                 ///< children
  std::vector<f32> sum;

  void step(pe& me, const itinerary* w) {
    way = w, trip_now = 0;
    sum.resize(children > 1 ? way->longest() : 0);
    next(me);
  }
  /// Goes on with the next gradient of the server in this row.
  void next(pe& me) {
    const std::vector<trip>& all = way->trips();
    while (trip_now < all.size() && !all[trip_now].returns_to(wires::number_in(me.y()))) ++trip_now;
    if (trip_now == all.size()) return;
    const int words = static_cast<int>(all[trip_now++].size());
    const auto up = fabout(wires::up(level), words);
    added = 1;
    if constexpr (children == 0) me.async(mov(up, fabin(wires::home)), then<&swarm_node::next>());
    else if constexpr (children == 1) me.async(wsl::add(up, fabin(wires::home), fabin(wires::up(0))), then<&swarm_node::next>());
    else me.async(wsl::add(part(words), fabin(wires::home), fabin(wires::up(0))), then<&swarm_node::add_next>());
  }
  void add_next(pe& me) {
    const auto so_far = part(static_cast<int>(way->trips()[trip_now - 1].size()));
    const auto from = fabin(wires::up(added++));
    if (added < children) me.async(wsl::add(so_far, so_far, from), then<&swarm_node::add_next>());
    else me.async(wsl::add(fabout(wires::up(level)), so_far, from), then<&swarm_node::next>());
  }

  static consteval auto tasks() {
    return table(launch<&swarm_node::step>(), local<&swarm_node::next>(), local<&swarm_node::add_next>(), sends<wires::up(level)>(),
                 wires::reads_sums<children>());
  }

 private:
  wsl::memory<f32> part(int words) { return mem(std::span(sum)).part(0, words); }
};

/// Calls f.operator()<level, children>(columns) for each kind of node that a cluster of so many wafers has, with the area of those nodes
/// in one column at a time.
template <class F>
void each_swarm_node(int wafers, F f) {
  for (int x = 1; x < wafers; ++x)
    [&]<int... kind>(std::integer_sequence<int, kind...>) {
      const auto try_kind = [&]<int level, int children>() {
        if constexpr (children <= level)
          if (wires::level_of(x) == level && wires::children(x, wafers) == children) f.template operator()<level, children>(rows(0, end, 2).column(x));
      };
      (try_kind.template operator()<kind / wires::levels, kind % wires::levels>(), ...);
    }(std::make_integer_sequence<int, wires::levels * wires::levels>{});
}

}  // namespace wsl::ml
