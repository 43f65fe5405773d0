// SPDX-License-Identifier: MIT
// Neighbouring workers of a column exchange blocks of numbers, to the south and to the north at the same
// time. A worker may have to wait for the block of one neighbour before it sends to the other, because it
// passes a part of it on. The blocks travel on the colors of the sums of gradients, which must be idle.
//   It is not collective::halo_exchange, with which the PEs of a stencil fill their rims: there all PEs have
// tiles of one shape and colors of their own, and here a row may have no lines of an image, or fewer than its
// neighbours read, and the workers have no colors left.
#pragma once
#include <functional>
#include <span>
#include <utility>

#include "wires.hpp"

namespace wsl::ml {

/// The numbers that come to a worker from the neighbour on one side, and those that go to the one on the
/// other side; there may be none.
struct passing_block {
  std::span<f32> from, to;
  bool waits = false;                  ///< it sends only when all have come, since it passes some of them on
  std::function<void()> arrived = {};  ///< called when all have come, before it sends if it waits
};

class neighbour_exchange {
 public:
  void start(pe& me, passing_block to_south, passing_block to_north, std::function<void(pe&)> done) {
    blocks_[south_] = std::move(to_south), blocks_[north_] = std::move(to_north), done_ = std::move(done);
    open_ = 0;
    for (const passing_block& b : blocks_) open_ += !b.from.empty() + !b.to.empty();
    if (open_ == 0) return done_(me);
    begin<south_>(me);
    begin<north_>(me);
  }

  template <int way>
  void received(pe& me) {
    if (blocks_[way].arrived) blocks_[way].arrived();
    if (blocks_[way].waits) send<way>(me);
    end(me);
  }
  template <int way>
  void sent(pe& me) {
    end(me);
  }

 private:
  static constexpr int south_ = 0, north_ = 1;

  static color<f32> color_from(int way, int worker) {
    return way == south_ ? wires::south_from(worker) : wires::north_from(worker);
  }
  template <int way>
  void begin(pe& me) {
    const passing_block& b = blocks_[way];
    if (!b.from.empty())
      me.async(mov(mem(b.from), fabin(color_from(way, wires::index_in_column(me) + 1))),
               then<&neighbour_exchange::received<way>>());
    if (!b.waits) send<way>(me);
  }
  template <int way>
  void send(pe& me) {
    if (!blocks_[way].to.empty())
      me.async(mov(fabout(color_from(way, wires::index_in_column(me))), mem(blocks_[way].to)),
               then<&neighbour_exchange::sent<way>>());
  }
  void end(pe& me) {
    if (--open_ == 0) done_(me);
  }

  passing_block blocks_[2];
  std::function<void(pe&)> done_;
  int open_ = 0;

 public:
  using tasks = task_list<
      local<&neighbour_exchange::received<south_>>, local<&neighbour_exchange::received<north_>>,
      local<&neighbour_exchange::sent<south_>>, local<&neighbour_exchange::sent<north_>>,
      sends<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>,
      reads<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>>;
};

}  // namespace wsl::ml
