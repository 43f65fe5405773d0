// SPDX-License-Identifier: MIT
// The nodes between the memory and several wafers, after the SwarmX of Cerebras' weight streaming. Weights
// fan out to all wafers; in the backward pass gradients are added up along a tree whose root is their memory
// server. A node belongs to a wafer. It adds its wafer's gradient and the sums of its children in this order,
// so the result is always the same. See examples/90_cluster.cpp.
#pragma once
#include <boost/hana/for_each.hpp>
#include <boost/hana/range.hpp>

#include "schedule.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// The part that all kinds of nodes share, so that it is compiled once.
class swarm_branch {
 public:
  void step(pe& me, const streaming_schedule* schedule, int level, int children) {
    schedule_ = schedule, level_ = level, children_ = children, next_transfer_ = 0;
    sum_.resize(children > 1 ? schedule->max_size() : 0);
    next(me);
  }
 private:
  /// Starts with the next gradient of the server in this row, if there is one.
  void next(pe& me) {
    const std::vector<weight_transfer>& all = schedule_->transfers();
    while (next_transfer_ < all.size() && !all[next_transfer_].is_returned_to(wires::index_in_row(me.y())))
      ++next_transfer_;
    if (next_transfer_ == all.size()) return;
    const int words = static_cast<int>(all[next_transfer_++].size());
    const auto up = fabout(wires::up(level_), words);
    added_ = 1;
    if (children_ == 0) me.async(mov(up, fabin(wires::to_server)), then<&swarm_branch::next>());
    else if (children_ == 1)
      me.async(wsl::add(up, fabin(wires::to_server), fabin(wires::up(0))), then<&swarm_branch::next>());
    else
      me.async(wsl::add(part(words), fabin(wires::to_server), fabin(wires::up(0))),
               then<&swarm_branch::add_next>());
  }
  void add_next(pe& me) {
    const auto so_far = part(static_cast<int>(schedule_->transfers()[next_transfer_ - 1].size()));
    const auto from = fabin(wires::up(added_++));
    if (added_ < children_) me.async(wsl::add(so_far, so_far, from), then<&swarm_branch::add_next>());
    else me.async(wsl::add(fabout(wires::up(level_)), so_far, from), then<&swarm_branch::next>());
  }
  wsl::memory<f32> part(int words) { return mem(std::span(sum_)).part(0, words); }

  const streaming_schedule* schedule_ = nullptr;
  int level_ = 0, children_ = 0;
  std::size_t next_transfer_ = 0;
  int added_ = 0;  // children whose sums are in, or on their way
  std::vector<f32> sum_;

 public:
  using tasks = task_list<local<&swarm_branch::next>, local<&swarm_branch::add_next>>;
};

/// A node with some children that sends its sums 2^level columns to the west.
template <int level, int children>
struct swarm_node {
  swarm_branch branch;

  void step(pe& me, const streaming_schedule* schedule) { branch.step(me, schedule, level, children); }
  using tasks = task_list<launch<&swarm_node::step>, use<&swarm_node::branch>, sends<wires::up(level)>,
                          wires::reads_sums<children>>;
};

/// Calls f(level, children, area) for the nodes of each wafer but the first. Level and number of children are
/// integral constants; the area is the column's row of ports.
template <class F>
void each_swarm_node(int wafers, F f) {
  namespace hana = boost::hana;
  for (int x = 1; x < wafers; ++x)
    hana::for_each(hana::range_c<int, 0, wires::levels>, [&](auto level) {
      // A node has at most as many children as its level.
      hana::for_each(hana::range_c<int, 0, level.value + 1>, [&](auto children) {
        if (wires::level_of(x) == level.value && wires::children(x, wafers) == children.value)
          f(level, children, rows(0, edge, 2).column(x));
      });
    });
}

}  // namespace wsl::ml
