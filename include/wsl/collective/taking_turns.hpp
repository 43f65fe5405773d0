// SPDX-License-Identifier: MIT
// An all-reduce on one color: first the rows have it, each a star with its root at the east end, then the
// column of these roots, and at last the way back. The last command of each stage tears the color down at the
// routers that it passes, and each PE's program opens it again for the PE's next stage. It is for programs
// with few colors left: all_reduce.hpp with `.colors = 1`.
//   constexpr all_reduce<f32> sum{.first = 5, .words = 3, .colors = 1};
// Its cost is that of the stars and of the broadcast, S + 7 cycles for each change between them and S + 13 at
// the end, S + 1 for single values, with S = 12 to end an operation and begin one.
#pragma once
#include "../program/descriptor/box.hpp"
#include "broadcast.hpp"
#include "combine.hpp"
#include "reduce_cost.hpp"

namespace wsl::collective {

/// The layout's side of it, for an all_reduce.
namespace turns {

template <class Net>
constexpr void wire(layout& l, const Net& net) {
  using T = typename Net::element;
  const region r = ground(l, net.where, net.name);
  take_colors<T>(l, net.name, net.first, 1, r);
  int stage = 0;
  for (axis a : {axis::x, axis::y})
    if (const line_reduce star = net.gathering().along(r, a); star.colors() > 0)
      star.template wire<T>(l, net.first, phase{stage++});
  if (stage > 0) net.spreading().wire_paths(l, net.name, phase{stage});
}

/// A stage ends with a task that hears of the teardown and one that begins the next.
inline constexpr f64 change = restart + begin + 1;
/// So does the last; there the teardown follows when the root's operation has ended, but a single value needs
/// none.
constexpr f64 end(int words) { return words > 1 ? change + begin : change - begin; }

template <class Net>
constexpr f64 cycles(const layout& l, const Net& net, int words) {
  const region r = ground(l, net.where, net.name);
  f64 sum = 0;
  for (axis a : {axis::x, axis::y})
    if (const line_reduce star = net.gathering().along(r, a); star.colors() > 0)
      sum += reduce_cost{star, words}.cycles() + change;
  return sum + net.spreading().cycles(l, words) + (sum > 0 ? end(words) : 0);
}

}  // namespace turns

/// What a PE keeps of it, and what it does.
template <auto net>
class taking_turns {
  using T = typename decltype(net)::element;
  using Combine = typename decltype(net)::combine;
  static constexpr color<T> line{net.first};

 public:
  /// Joins the arrays of all PEs of a team and leaves the total in each.
  void start(pe& me, memory<T> array, completion done = none<T>(net.first)) {
    const region r = ground(me, net.where, net.name);
    if (array.length() < 1) misuse::a_collective_moves_at_least_one_word(net.name, me.at());
    if (stage_ != idle) misuse::the_last_call_is_under_way(net.name, me.at());
    if (team_size(r, net.among) == 1) return finish(me, net.first, array[0], done);
    array_ = array, done_ = done;
    rows_ = lines_of(r, axis::x, net.among, net.gathering().root, net.name);
    columns_ = lines_of(r, axis::y, net.among, net.gathering().root, net.name);
    away_ = {rows_.distance_of(me.x() - r.x0), columns_.distance_of(me.y() - r.y0)};
    go_on(me);
  }

 private:
  int spreading() const { return (rows_.size() > 1) + (columns_.size() > 1); }
  bool is_root() const { return away_.x == 0 && away_.y == 0; }
  /// Those of a reducing stage.
  const lines& crowd() const { return stage_ == 0 && rows_.size() > 1 ? rows_ : columns_; }
  int away() const { return &crowd() == &rows_ ? away_.x : away_.y; }

  // The next stage of this PE: who is not in the column of the roots has no part in its turn.
  void go_on(pe& me) {
    stage_ = stage_ == 0 && rows_.size() > 1 && away_.x > 0 ? spreading() : stage_ + 1;
    if (stage_ == spreading())
      return is_root() ? send(me) : me.async(mov(array_, fabin(line)), then<&taking_turns::over>());
    away() > 0 ? send(me) : receive(me);
  }
  void send(pe& me) {
    if (array_.length() == 1) return me.send(line, array_[0]), sent(me);
    me.async(mov(fabout(line), array_), then<&taking_turns::sent>());
  }
  /// The farthest PE of a star, and the root on the way back, are the last to send.
  void sent(pe& me) {
    if (stage_ == spreading() || away() == crowd().reach(0)) me.send_control(line, teardown);
    else me.send_control(line, switch_adv);
    me.activate<&taking_turns::over>();
  }
  // The arrays of all PEs come in one operation.
  void receive(pe& me) {
    const int senders = crowd().size() - 1;
    const auto all = box(array_, {senders, array_.length()}, {0, 1});
    me.async(join<Combine>(all, fabin(line), all), then<&taking_turns::over>());
  }
  void torn(pe& me) { me.unblock<&taking_turns::over>(); }
  /// What this PE does in a stage is done, and the color is torn down at its router.
  void over(pe& me) {
    me.block<&taking_turns::over>();
    if (stage_ == spreading()) {
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
  coord away_;
  static constexpr int idle = -1;
  int stage_ = idle;

 public:
  using tasks = task_list<local<&taking_turns::sent>, local<&taking_turns::over, blocked>,
                          on_teardown<line, &taking_turns::torn>, uses_colors<T, net.first, 1>,
                          may_steer<line, switch_adv, teardown>>;
};

}  // namespace wsl::collective
