// SPDX-License-Identifier: MIT
// A PE of the wafer: it keeps the activations of its sequences and does the stages' work on each slab that comes by. On the way
// back its gradient of the slab joins those of the other workers on the way to the slab's server.
#pragma once
#include <array>

#include "queues.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// What the host gives for a step: `sequences` of `length` tokens each; numbers of tokens, or `width` features for each.
struct batch {
  std::span<const i32> ids = {};
  std::span<const f32> features = {};
  std::span<const i32> targets = {};
  std::span<const f32> mask = {};  ///< empty: every token counts
  int sequences = 0, length = 1;
  f32 weight = 0;             ///< of one token in the loss; 0: 1 / (tokens that count)
};

class worker {
 public:
  place at;

  /// The sequences of a batch that belong to worker y of h.
  static int first_sequence(const batch& b, int y, int h) { return static_cast<int>(i64{b.sequences} * y / h); }

  void step(pe& me, const network* n, const itinerary* way, batch b) {
    begin(me, *n, b);
    way_ = way;
    next_ = 0;
    out_.begin(way->longest(), wires::workers_of(me));
    for (int server = 0; server < wires::workers_of(me); ++server) {
      in_[server].begin(way->longest());
      take(me, server);
    }
    work(me);
  }

  /// Does what can be done, in the order of the itinerary; goes on when a slab has come or a gradient has gone.
  void work(pe& me) {
    for (; next_ < way_->trips().size(); ++next_) {
      const trip& t = way_->trips()[next_];
      if ((t.brings && in_[t.server].empty()) || (t.returns() && !out_.has_room(t))) return;
      if (t.is_slab()) use(me, t);
      else if (t.back) t.of->backward(at);
      else t.of->forward(at);
    }
  }
  template <int server>
  void came(pe& me) {
    in_[server].push();
    take(me, server);
    me.activate<&worker::work>();
  }
  template <int lane>
  void gone(pe& me) {
    out_.finish(lane);
    give(me);
    me.activate<&worker::work>();
  }

  static consteval auto tasks() {
    using namespace wires;
    constexpr auto arrivals = []<int... y>(std::integer_sequence<int, y...>) { return table(local<&worker::came<y>>()...); };
    return table(launch<&worker::step>(), arrivals(std::make_integer_sequence<int, most>{}), local<&worker::gone<home_lane>>(),
                 local<&worker::gone<south_lane>>(), local<&worker::gone<north_lane>>(), local<&worker::work>(), reads_slabs(), sends<home>(),
                 sends<south_from(0)>(), sends<south_from(1)>(), sends<north_from(0)>(), sends<north_from(1)>(), reads<south_from(0)>(),
                 reads<south_from(1)>(), reads<north_from(0)>(), reads<north_from(1)>());
  }

 private:
  static constexpr int home_lane = 0, south_lane = 1, north_lane = 2;

  void begin(pe& me, const network& n, const batch& b) {
    const int y = wires::number_in(me.y()), all_workers = wires::workers_of(me);
    const int from = first_sequence(b, y, all_workers), count = first_sequence(b, y + 1, all_workers) - from;
    const std::size_t first = static_cast<std::size_t>(from * b.length), tokens = static_cast<std::size_t>(count * b.length);
    if (at.sequences() != count || at.length() != b.length) at.resize(n.widths(), n.stages().size(), count, b.length);
    const auto mine = [&](auto all) { return all.empty() ? all : all.subspan(first, tokens); };
    at.ids = mine(b.ids), at.targets = mine(b.targets), at.mask = mine(b.mask), at.weight = b.weight, at.loss = 0;
    at.forget_gradients();
    if (!b.features.empty()) copy(at.value(0), matrix(b.features.data() + first * static_cast<std::size_t>(n.width(0)), at.tokens(), n.width(0)));
  }

  void use(pe& me, const trip& t) {
    const slab s{t.which, t.row, matrix(t.brings ? in_[t.server].front() : nullptr, t.rows, t.columns)};
    if (t.back) t.of->backward(at, s, matrix(out_.of(t).data(), t.rows, t.columns));
    else t.of->forward(at, s);
    if (t.brings) {
      in_[t.server].pop();
      take(me, t.server);
    }
    if (t.returns()) {
      out_.made(t);
      give(me);
    }
  }

  /// Lets the next slab of a server come.
  void take(pe& me, int server) {
    const trip* t = in_[server].next(way_->trips(), server);
    if (t) me.async(mov(mem(in_[server].room(*t)), fabin(wires::slabs(server))), arrival(server));
  }
  static completion arrival(int server) {
    static constexpr auto all = []<int... y>(std::integer_sequence<int, y...>) { return std::array{&then<&worker::came<y>>...}; };
    return all(std::make_integer_sequence<int, wires::most>{})[static_cast<std::size_t>(server)]();
  }

  /// Sends gradients toward their servers, each with the sum of those from beyond; at the worker of their server the sums from
  /// both ends meet. A lane carries one at a time, and so does each neighbour's.
  void give(pe& me) {
    const int y = wires::number_in(me.y());
    const bool above = y > 0, below = y + 1 < wires::workers_of(me);
    while (const trip* t = out_.next(way_->trips())) {
      const int lane = t->server == y ? home_lane : t->server > y ? south_lane : north_lane;
      const bool north = above && lane != north_lane, south = below && lane != south_lane;  // where sums come from
      if (out_.busy(lane) || (north && (out_.busy(home_lane) || out_.busy(south_lane))) || (south && (out_.busy(home_lane) || out_.busy(north_lane)))) return;
      const auto mine = mem(out_.of(*t));
      const auto to = fabout(lane == home_lane ? wires::home : lane == south_lane ? wires::south_from(y) : wires::north_from(y));
      const auto from_north = fabin(wires::south_from(y + 1)), from_south = fabin(wires::north_from(y + 1));  // neighbours differ in parity
      const completion done = lane == home_lane ? then<&worker::gone<home_lane>>() : lane == south_lane ? then<&worker::gone<south_lane>>() : then<&worker::gone<north_lane>>();
      out_.start(*t, lane);
      if (north && south) me.async(map([](f32 a, f32 b, f32 c) { return a + b + c; }, to, from_north, mine, from_south), done);
      else if (north) me.async(wsl::add(to, from_north, mine), done);
      else if (south) me.async(wsl::add(to, mine, from_south), done);
      else me.async(mov(to, mine), done);
    }
  }

  const itinerary* way_ = nullptr;
  std::size_t next_ = 0;
  arrivals in_[wires::most];
  departures out_;
};

}  // namespace wsl::ml
