// SPDX-License-Identifier: MIT
// The nodes between the memory and several wafers, after the SwarmX of Cerebras' weight streaming. Weights
// fan out to all wafers; in the backward pass gradients are added up along a tree whose root is their memory
// server. A node belongs to a wafer. It adds its wafer's gradient and the sums of its children in this order,
// so the result is always the same. See examples/90_cluster.cpp.
#pragma once
#include "layer_times.hpp"
#include "schedule.hpp"
#include "wires.hpp"

namespace wsl::ml {

class swarm_node {
 public:
  /// The schedules are those of each column.
  void step(pe& me, const std::vector<streaming_schedule>* schedules, wafer_grid grid) {
    grid_ = grid, column_ = grid.column_of(me.x());
    const int wafer = grid.wafer_of(me.x());
    schedule_ = &(*schedules)[static_cast<std::size_t>(column_)];
    level_ = wires::level_of(wafer), children_ = wires::children(wafer, grid.wafers), next_transfer_ = 0;
    sum_.resize(children_ > 1 ? schedule_->max_gradients() : 0);
    next(me);
  }

 private:
  /// Starts with the next gradient of the server in this row, if there is one.
  void next(pe& me) {
    const std::vector<weight_transfer>& all = schedule_->transfers();
    while (next_transfer_ < all.size() && !all[next_transfer_].is_returned_to(wires::index_in_column(me)))
      ++next_transfer_;
    if (next_transfer_ == all.size()) return;
    thread_times::now_at(all[next_transfer_].of->number);
    const int words = static_cast<int>(all[next_transfer_++].gradients());
    const auto up = fabout(sums(level_), words);
    added_ = 1;
    if (children_ == 0) me.async(mov(up, fabin(wires::to_server)), then<&swarm_node::next>());
    else if (children_ == 1)
      me.async(wsl::add(up, fabin(wires::to_server), fabin(sums(0))), then<&swarm_node::next>());
    else
      me.async(wsl::add(part(words), fabin(wires::to_server), fabin(sums(0))), then<&swarm_node::add_next>());
  }
  void add_next(pe& me) {
    const auto so_far = part(static_cast<int>(schedule_->transfers()[next_transfer_ - 1].gradients()));
    const auto from = fabin(sums(added_++));
    if (added_ < children_) me.async(wsl::add(so_far, so_far, from), then<&swarm_node::add_next>());
    else me.async(wsl::add(fabout(sums(level_)), so_far, from), then<&swarm_node::next>());
  }
  wsl::memory<f32> part(int words) { return mem(std::span(sum_)).part(0, words); }
  color<f32> sums(int level) const { return wires::up(grid_, level, column_); }

  wafer_grid grid_;
  int column_ = 0;
  const streaming_schedule* schedule_ = nullptr;
  int level_ = 0, children_ = 0;
  std::size_t next_transfer_ = 0;
  int added_ = 0;  // children whose sums are in, or on their way
  std::vector<f32> sum_;

 public:
  using tasks = task_list<launch<&swarm_node::step>, local<&swarm_node::next>, local<&swarm_node::add_next>,
                          sends<wires::all_sums>, reads<wires::to_server, wires::all_sums>>;
};

}  // namespace wsl::ml
