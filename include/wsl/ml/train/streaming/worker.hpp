// SPDX-License-Identifier: MIT
// A PE of the wafer: it keeps the activations of its sequences and does the stages' work on each slab that
// comes by. On the way back its gradient of the slab joins those of the other workers on the way to the
// slab's server.
#pragma once
#include <array>

#include "../../model/batch.hpp"
#include "queues.hpp"
#include "report.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// What a worker does in a step.
struct work_order {
  const network* of;
  const streaming_schedule* way;
  batch all;
  dropout_generator random = {};
};

/// What a worker says of its step.
struct work_log {
  f64 forward = 0, back = 0;                ///< seconds of work
  wall_clock::time_point turned, finished;  ///< when it was done with either
  std::size_t held = 0, peak = 0;           ///< numbers of weights, now and at most
};

template <class Weight>
class worker {
 public:
  place at;
  work_log log;

  /// The sequences of a batch that belong to worker k of n.
  static int first_sequence(const batch& b, int k, int n) {
    return static_cast<int>(i64{b.sequences} * k / n);
  }

  void step(pe& me, work_order w) {
    begin(me, *w.of, w.all, w.random);
    way_ = w.way, next_ = until_ = 0, log = {}, log.turned = wall_clock::now();
    out_.begin(way_->longest(), wires::workers_of(me));
    for (int server = 0; server < wires::workers_of(me); ++server) in_[server].begin(way_->longest());
    take_from_all(me, 0);
    work(me);
  }

  /// Lets the stages do what can be done now, in the order of the itinerary, with no more than one slab of
  /// each server: meanwhile the next ones come, and gradients go.
  void work(pe& me) {
    if (next_ < until_) return;
    u32 used = 0;  // servers
    for (; until_ < way_->weight_transfers().size(); ++until_) {
      const weight_transfer& t = way_->weight_transfers()[until_];
      if (t.layer > layer_ && until_ == next_) take_from_all(me, t.layer);
      const u32 server = u32{1} << t.server;
      if ((t.brings && ((used & server) || in_[t.server].empty())) || (t.returns() && !out_.has_room(t)))
        break;
      used |= t.brings ? server : 0;
    }
    if (next_ < until_) me.async_compute<&worker::compute>(*this, then<&worker::computed>());
    else if (next_ == way_->weight_transfers().size()) log.finished = wall_clock::now();
  }
  void compute() {
    for (std::size_t k = next_; k < until_; ++k) {
      const weight_transfer& t = way_->weight_transfers()[k];
      timed(t, [&] {
        if (t.is_slab()) use(t);
        else t.back ? t.of->backward(at) : t.of->forward(at);
      });
    }
  }
  void computed(pe& me) {
    for (; next_ < until_; ++next_) {
      const weight_transfer& t = way_->weight_transfers()[next_];
      if (t.brings) {
        in_[t.server].pop(), log.held -= t.size();
        take(me, t.server);
      }
      if (t.returns()) out_.made(t);
    }
    give(me);
    work(me);
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

 private:
  static constexpr int home_lane = 0, south_lane = 1, north_lane = 2, lanes = 3;

  void begin(pe& me, const network& n, const batch& b, const dropout_generator& random) {
    const int here = wires::workers_of(me), me_of_all = me.x() * here + wires::number_in(me.y()),
              all_workers = me.width() * here;
    const int from = first_sequence(b, me_of_all, all_workers),
              count = first_sequence(b, me_of_all + 1, all_workers) - from;
    const std::size_t first = static_cast<std::size_t>(from * b.length),
                      tokens = static_cast<std::size_t>(count * b.length);
    if (at.sequences() != count || at.length() != b.length)
      at.resize(n.widths(), n.stages().size(), count, b.length);
    const auto mine = [&](auto all) { return all.empty() ? all : all.subspan(first, tokens); };
    at.ids = mine(b.ids), at.targets = mine(b.targets), at.mask = mine(b.mask), at.weight = b.weight,
    at.loss = 0;
    at.random = {random.on, random.key, from};
    at.zero_grad();
    if (!b.features.empty())
      copy(at.value(0),
           matrix(b.features.data() + first * static_cast<std::size_t>(n.width(0)), at.tokens(), n.width(0)));
  }

  void use(const weight_transfer& t) {
    f32* const numbers =
        t.brings ? weight_format<Weight>::unpack(in_[t.server].front(), t.size(), wide_) : nullptr;
    const weight_tile s{t.which, t.row, matrix(numbers, t.rows, t.columns), t.gathered_rows};
    t.back ? t.of->backward(at, s, matrix(out_.of(t).data(), t.rows, t.columns)) : t.of->forward(at, s);
  }

  template <class F>
  void timed(const weight_transfer& t, F f) {
    const wall_clock::time_point from = wall_clock::now();
    f();
    const wall_clock::time_point now = wall_clock::now();
    (t.back ? log.back : log.forward) += seconds(now - from);
    if (!t.back) log.turned = now;
  }

  /// Lets the next slab of a server come, if it belongs to the layer at work or the one after it.
  void take(pe& me, int server) {
    const weight_transfer* t = in_[server].next(way_->weight_transfers(), server, layer_ + 1);
    if (!t) return;
    log.held += t->size(), log.peak = std::max(log.peak, log.held);
    me.async(mov(mem(in_[server].room(*t)), fabin(wires::weight_tiles<Weight>(server))), arrival(server));
  }
  void take_from_all(pe& me, int layer) {
    layer_ = layer;
    for (int server = 0; server < wires::workers_of(me); ++server) take(me, server);
  }
  static completion arrival(int server) {
    static constexpr auto all = []<int... y>(std::integer_sequence<int, y...>) {
      return std::array{&then<&worker::came<y>>...};
    };
    return all(std::make_integer_sequence<int, wires::most>{})[static_cast<std::size_t>(server)]();
  }

  /// Sends gradients toward their servers, each with the sum of those from beyond; at the worker of their
  /// server the sums from both ends meet. A lane carries one at a time, and so does each neighbour's.
  void give(pe& me) {
    const int y = wires::number_in(me.y());
    const bool above = y > 0, below = y + 1 < wires::workers_of(me);
    while (const weight_transfer* t = out_.next(way_->weight_transfers())) {
      const int lane = t->server == y ? home_lane : t->server > y ? south_lane : north_lane;
      // where sums come from
      const bool north = above && lane != north_lane, south = below && lane != south_lane;
      if (out_.busy(lane) || (north && (out_.busy(home_lane) || out_.busy(south_lane))) ||
          (south && (out_.busy(home_lane) || out_.busy(north_lane))))
        return;
      const auto mine = mem(out_.of(*t));
      const auto to = fabout(lane == home_lane    ? wires::home
                             : lane == south_lane ? wires::south_from(y)
                                                  : wires::north_from(y));
      // neighbours differ in parity
      const auto from_north = fabin(wires::south_from(y + 1)), from_south = fabin(wires::north_from(y + 1));
      const completion done = lane == home_lane    ? then<&worker::gone<home_lane>>()
                              : lane == south_lane ? then<&worker::gone<south_lane>>()
                                                   : then<&worker::gone<north_lane>>();
      out_.start(*t, lane);
      if (north && south)
        me.async(map_each([](f32 a, f32 b, f32 c) { return a + b + c; }, to, from_north, mine, from_south),
                 done);
      else if (north) me.async(wsl::add(to, from_north, mine), done);
      else if (south) me.async(wsl::add(to, mine, from_south), done);
      else me.async(mov(to, mine), done);
    }
  }

  const streaming_schedule* way_ = nullptr;
  std::size_t next_ = 0, until_ = 0;  ///< trips: those between are at work
  int layer_ = 0;                     ///< of the first
  arrivals<Weight> in_[wires::most];
  std::vector<f32> wide_;  ///< the slab at work, if slabs are no f32
  departures out_;

  template <int server>
  using arrival_from = local<&worker::came<server>>;
  template <int lane>
  using departure_in = local<&worker::gone<lane>>;

 public:
  using tasks = task_list<
      launch<&worker::step>, numbered<wires::most, arrival_from>, numbered<lanes, departure_in>,
      local<&worker::work>, local<&worker::computed>, reads<wires::all_weight_tiles<Weight>>,
      sends<wires::home, wires::south_from(0), wires::south_from(1), wires::north_from(0),
            wires::north_from(1)>,
      reads<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>>;
};

}  // namespace wsl::ml
