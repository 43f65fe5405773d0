// SPDX-License-Identifier: MIT
// The workers of a column that share a sequence pass blocks of numbers to their neighbours. A block comes
// from the north and goes on to the south until the last worker that needs it has it; at each step all links
// are at work. Sums take the opposite way: a block comes from the south, each worker adds its summand to it
// on the way, word by word, and the worker that the sum is for gets it last. So sums have a fixed order. The
// blocks travel on the colors of the sums of gradients, which must be idle. After ring attention (Liu et al.,
// arXiv 2310.01889), on a line, since causal attention needs nothing of the tokens that follow.
#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "wires.hpp"

namespace wsl::ml {

class column_exchange {
 public:
  using completion = std::function<void(pe&)>;

  /// Receives `arriving`, the blocks of the workers to the north, the nearest first, and sends so many blocks
  /// to the south: `own`, and then those that have arrived.
  void bring(pe& me, std::span<f32> own, std::vector<std::span<f32>> arriving, int sends, completion done) {
    own_ = own, blocks_ = std::move(arriving), sends_ = sends, adds_ = false;
    begin(me, std::move(done));
  }
  /// Sends `leaving` to the north, for the workers there, the farthest first, all but the first `alone` as
  /// sums with blocks from the south; and then receives `own` from the south unless it is empty.
  void add_up(pe& me, std::vector<std::span<f32>> leaving, int alone, std::span<f32> own, completion done) {
    own_ = own, blocks_ = std::move(leaving), alone_ = alone, adds_ = true;
    begin(me, std::move(done));
  }

  /// A step's words have come and gone: the task is activated when they have come, and unblocked when they
  /// have gone.
  void moved(pe& me) {
    me.block<&column_exchange::moved>();
    ++step_;
    step(me);
  }

 private:
  void begin(pe& me, completion done) {
    step_ = 0, done_ = std::move(done);
    step(me);
  }
  void step(pe& me) { adds_ ? add_step(me) : bring_step(me); }
  void bring_step(pe& me) {
    const bool takes = step_ < blocks(), gives = step_ < sends_;
    if (!takes && !gives) return done_(me);
    const int y = wires::index_in_column(me);
    if (takes)
      me.async(mov(mem(block(step_)), fabin(wires::south_from(y + 1))), then<&column_exchange::moved>());
    else me.activate<&column_exchange::moved>();
    if (gives)
      me.async(mov(fabout(wires::south_from(y)), mem(step_ ? block(step_ - 1) : own_)),
               unblocks<&column_exchange::moved>());
    else me.unblock<&column_exchange::moved>();
  }
  void add_step(pe& me) {
    if (step_ > blocks() || (step_ == blocks() && own_.empty())) return done_(me);
    const int y = wires::index_in_column(me);
    const auto to = fabout(wires::north_from(y));
    const auto from = fabin(wires::north_from(y + 1));
    me.unblock<&column_exchange::moved>();  // the one operation of a step activates the task
    if (step_ == blocks()) me.async(mov(mem(own_), from), then<&column_exchange::moved>());
    else if (step_ < alone_) me.async(mov(to, mem(block(step_))), then<&column_exchange::moved>());
    else me.async(wsl::add(to, mem(block(step_)), from), then<&column_exchange::moved>());
  }
  int blocks() const { return static_cast<int>(blocks_.size()); }
  std::span<f32> block(int k) const { return blocks_[static_cast<std::size_t>(k)]; }

  std::span<f32> own_;
  std::vector<std::span<f32>> blocks_;
  int sends_ = 0, alone_ = 0, step_ = 0;
  bool adds_ = false;
  completion done_;

 public:
  using tasks = task_list<
      local<&column_exchange::moved, blocked>,
      sends<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>,
      reads<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>>;
};

}  // namespace wsl::ml
