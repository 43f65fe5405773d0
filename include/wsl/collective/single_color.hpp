// SPDX-License-Identifier: MIT
// An all-reduce that needs a single color, for programs with few colors left: all_reduce.hpp with `.colors =
// 1`. It runs in three stages, each with its own routes on the same color: the rows reduce, each in a star
// with its root at the east end; the column of these roots reduces; and the total is broadcast. The last
// command of a stage tears the color down at the routers that it passes, and the program of each PE opens it
// again with the routes of the PE's next stage.
//   constexpr all_reduce<f32> sum{.first = 5, .words = 3, .colors = 1};
// The cost is that of the two stars and of the broadcast, S + 5 cycles for each change of stage and S + 9 at
// the end (S + 1 for single values), where S = 6 cycles end one operation and begin the next.
#pragma once
#include "../program/descriptor/box.hpp"
#include "broadcast.hpp"
#include "combine.hpp"
#include "reduce_cost.hpp"

namespace wsl::collective {

/// The layout of a single-color all-reduce, for an all_reduce.
namespace single_color {

template <class Net>
constexpr void wire(layout& l, const Net& net) {
  using T = typename Net::element;
  const region r = rectangle_of(l, net.where, net.name);
  claim_colors<T>(l, net.name, net.first, 1, r);
  int stage = 0;
  for (axis a : {axis::x, axis::y})
    if (const line_reduce star = net.reduce_part().along(r, a); star.colors() > 0)
      star.template wire<T>(l, net.first, phase{stage++});
  if (stage > 0) net.broadcast_part().wire_paths(l, net.name, phase{stage});
}

/// A stage ends with a task that is told of the teardown, and one that begins the next stage.
inline constexpr f64 change = restart + begin + 1;
/// So does the last stage. Its teardown follows the end of the root's operation, but a single value needs
/// none.
constexpr f64 end(int words) { return words > 1 ? change + begin : change - begin; }

template <class Net>
constexpr f64 cycles(const layout& l, const Net& net, int words) {
  const region r = rectangle_of(l, net.where, net.name);
  f64 sum = 0;
  for (axis a : {axis::x, axis::y})
    if (const line_reduce star = net.reduce_part().along(r, a); star.colors() > 0)
      sum += reduce_cost{star, words}.cycles() + change;
  return sum + net.broadcast_part().cycles(l, words) + (sum > 0 ? end(words) : 0);
}

}  // namespace single_color

/// The state and the tasks of a PE.
template <auto net>
class single_color_all_reduce {
  using T = typename decltype(net)::element;
  using Combine = typename decltype(net)::combine;
  static constexpr color<T> line{net.first};

 public:
  /// Combines the arrays of all PEs of a team and leaves the total in each of them. The arrays are equally
  /// long.
  void start(pe& me, memory<T> array, completion done = then_nothing) {
    const region r = rectangle_of(me, net.where, net.name);
    if (array.length() < 1) faults::a_collective_moves_at_least_one_word(net.name, me.at());
    if (stage_ != idle) faults::the_last_call_is_under_way(net.name, me.at());
    must_agree_in_team<net>(me, r, array.length());
    if (size_of_team(r, net.among) == 1) return finish(me, net.first, array[0], done);
    array_ = array, done_ = done;
    rows_ = lines_of(r, axis::x, net.among, net.reduce_part().root, net.name);
    columns_ = lines_of(r, axis::y, net.among, net.reduce_part().root, net.name);
    distance_ = {rows_.distance_of(me.x() - r.x0), columns_.distance_of(me.y() - r.y0)};
    go_on(me);
  }

 private:
  int broadcast_stage() const { return (rows_.size() > 1) + (columns_.size() > 1); }
  bool is_root() const { return distance_.x == 0 && distance_.y == 0; }
  /// The lines that reduce in the current stage.
  const lines& stage_lines() const { return stage_ == 0 && rows_.size() > 1 ? rows_ : columns_; }
  int distance() const { return &stage_lines() == &rows_ ? distance_.x : distance_.y; }

  // Begins the next stage of this PE. A PE outside the column of the roots skips the second stage.
  void go_on(pe& me) {
    stage_ = stage_ == 0 && rows_.size() > 1 && distance_.x > 0 ? broadcast_stage() : stage_ + 1;
    if (stage_ == broadcast_stage())
      return is_root() ? send(me)
                       : me.async(mov(array_, fabin(line)), then<&single_color_all_reduce::stage_ended>());
    distance() > 0 ? send(me) : receive(me);
  }
  void send(pe& me) {
    if (array_.length() == 1) return me.send(line, array_[0]), sent(me);
    me.async(mov(fabout(line), array_), then<&single_color_all_reduce::sent>());
  }
  /// The farthest PE of a star, and in the last stage the root, are the last to send, so they tear the
  /// color down.
  void sent(pe& me) {
    if (stage_ == broadcast_stage() || distance() == stage_lines().reach(0)) me.send_control(line, teardown);
    else me.send_control(line, switch_adv);
    me.activate<&single_color_all_reduce::stage_ended>();
  }
  // One operation receives the arrays of all PEs.
  void receive(pe& me) {
    const int senders = stage_lines().size() - 1;
    const auto all = box(array_, {senders, array_.length()}, {0, 1});
    me.async(combine_elements<Combine>(all, fabin(line), all), then<&single_color_all_reduce::stage_ended>());
  }
  void torn_down(pe& me) { me.unblock<&single_color_all_reduce::stage_ended>(); }
  /// This PE's part of the stage is done, and the color is torn down at its router.
  void stage_ended(pe& me) {
    me.block<&single_color_all_reduce::stage_ended>();
    if (stage_ == broadcast_stage()) {
      stage_ = idle;
      me.reopen(line, phase{0});
      return finish(me, net.first, array_[0], done_);
    }
    go_on(me);
    me.reopen(line, phase{stage_});
  }

  memory<T> array_{nullptr, 0};
  completion done_{};
  lines rows_, columns_;
  coord distance_;
  static constexpr int idle = -1;
  int stage_ = idle;

 public:
  using tasks =
      task_list<local<&single_color_all_reduce::sent>, local<&single_color_all_reduce::stage_ended, blocked>,
                on_teardown<line, &single_color_all_reduce::torn_down>, uses_colors<T, net.first, 1>,
                may_steer<line, switch_adv, teardown>>;
};

}  // namespace wsl::collective
