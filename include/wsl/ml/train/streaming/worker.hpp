// SPDX-License-Identifier: MIT
// A worker is a PE of the wafer that computes: it keeps the activations of its sequences and does the work of
// the stages on each weight tile that comes. In the backward pass its gradient of the tile joins those of the
// other workers on the way to the tile's server.
#pragma once
#include <array>
#include <boost/hana/range.hpp>
#include <boost/hana/unpack.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "../../model/batch.hpp"
#include "../wall_clock.hpp"
#include "queues.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// The task of the workers in a step.
struct streaming_step {
  const network* of;
  const streaming_schedule* schedule;
  batch all;
  dropout_generator random = {};
};

/// The measurements of a worker in a step.
struct worker_times {
  f64 forward = 0, backward = 0;                       ///< seconds of work
  wall_clock::time_point forward_done, backward_done;  ///< the times at which it finished the two passes
  std::size_t held = 0, peak = 0;                      ///< numbers of weights on the PE, now and at most
};

template <class Weight>
class worker {
 public:
  activation_store activations;
  worker_times times;

  /// The first of the sequences of a batch that belong to worker k of n.
  static int first_sequence(const batch& b, int k, int n) {
    return static_cast<int>(i64{b.sequences} * k / n);
  }

  void step(pe& me, streaming_step s) {
    begin(me, *s.of, s.all, s.random);
    schedule_ = s.schedule, next_ = until_ = 0, times = {}, times.forward_done = wall_clock::now();
    out_.begin(schedule_->max_size(), wires::workers_of(me));
    for (int server = 0; server < wires::workers_of(me); ++server) in_[server].begin(schedule_->max_size());
    receive_from_all(me, 0);
    work(me);
  }

  /// Starts the computation that is possible now, in the order of the schedule, with at most one tile of each
  /// server. Meanwhile the next tiles arrive and gradients leave.
  void work(pe& me) {
    if (next_ < until_) return;
    u32 used = 0;  // servers, as a set of bits
    for (; until_ < schedule_->transfers().size(); ++until_) {
      const weight_transfer& t = schedule_->transfers()[until_];
      if (t.layer > layer_ && until_ == next_) receive_from_all(me, t.layer);
      const u32 server = u32{1} << t.server;
      if ((t.carries_weights && ((used & server) || in_[t.server].empty())) ||
          (t.returns_gradient() && !out_.has_room(t)))
        break;
      used |= t.carries_weights ? server : 0;
    }
    if (next_ < until_) me.async_compute<&worker::compute>(*this, then<&worker::computed>());
    else if (next_ == schedule_->transfers().size()) times.backward_done = wall_clock::now();
  }
  void compute() {
    for (std::size_t k = next_; k < until_; ++k) {
      const weight_transfer& t = schedule_->transfers()[k];
      timed(t, [&] {
        if (t.is_tile()) use(t);
        else t.backward ? t.of->backward(activations) : t.of->forward(activations);
      });
    }
  }
  void computed(pe& me) {
    for (; next_ < until_; ++next_) {
      const weight_transfer& t = schedule_->transfers()[next_];
      if (t.carries_weights) {
        in_[t.server].pop(), times.held -= t.size();
        receive(me, t.server);
      }
      if (t.returns_gradient()) out_.made(t);
    }
    send_gradients(me);
    work(me);
  }
  template <int server>
  void received(pe& me) {
    in_[server].push();
    receive(me, server);
    me.activate<&worker::work>();
  }
  template <direction d>
  void sent(pe& me) {
    out_.finish(d);
    send_gradients(me);
    me.activate<&worker::work>();
  }

 private:
  void begin(pe& me, const network& n, const batch& b, const dropout_generator& random) {
    const int here = wires::workers_of(me), me_of_all = me.x() * here + wires::index_in_row(me.y()),
              all_workers = me.width() * here;
    const int from = first_sequence(b, me_of_all, all_workers),
              count = first_sequence(b, me_of_all + 1, all_workers) - from;
    activation_store& a = activations;
    if (a.sequences() != count || a.length() != b.length)
      a.resize(n.widths(), n.stages().size(), count, b.length);
    a.random = {random.on, random.key, from};
    give(a, n, tokens_of(b, i64{from} * b.length, i64{from + count} * b.length));
  }

  void use(const weight_transfer& t) {
    f32* const numbers =
        t.carries_weights ? weight_format<Weight>::unpack(in_[t.server].front(), t.size(), wide_) : nullptr;
    const weight_tile tile{t.which, t.row, matrix(numbers, t.rows, t.columns), t.gathered_rows};
    if (!t.backward) return t.of->forward(activations, tile);
    const std::span<f32> gradient = out_.of(t);
    t.of->backward(activations, tile, matrix(gradient.data(), t.rows, t.columns));
    // The memory updates nothing by a gradient of which a number is not finite.
    if (!std::isfinite(activations.loss)) gradient[0] = std::numeric_limits<f32>::quiet_NaN();
  }

  template <class F>
  void timed(const weight_transfer& t, F f) {
    const wall_clock::time_point from = wall_clock::now();
    f();
    const wall_clock::time_point now = wall_clock::now();
    (t.backward ? times.backward : times.forward) += seconds(now - from);
    if (!t.backward) times.forward_done = now;
  }

  /// Lets the next tile of a server come, if it belongs to the layer at work or to the one after it.
  void receive(pe& me, int server) {
    const weight_transfer* t = in_[server].next(schedule_->transfers(), server, layer_ + 1);
    if (!t) return;
    times.held += t->size(), times.peak = std::max(times.peak, times.held);
    me.async(mov(mem(in_[server].room(*t)), fabin(wires::weight_tiles<Weight>(server))),
             then_received(server));
  }
  void receive_from_all(pe& me, int layer) {
    layer_ = layer;
    for (int server = 0; server < wires::workers_of(me); ++server) receive(me, server);
  }
  static completion then_received(int server) {
    namespace hana = boost::hana;
    static constexpr auto all = hana::unpack(hana::range_c<int, 0, wires::max_servers>, [](auto... number) {
      return std::array{&then<&worker::received<number>>...};
    });
    return all[static_cast<std::size_t>(server)]();
  }
  static completion then_sent(direction d) {
    return d == direction::server  ? then<&worker::sent<direction::server>>()
           : d == direction::south ? then<&worker::sent<direction::south>>()
                                   : then<&worker::sent<direction::north>>();
  }

  /// Sends gradients toward their servers, each as a sum with those from beyond this worker. At the worker
  /// above which the server stands, the sums from both ends of the column meet. One gradient at a time leaves
  /// in each direction, and one at a time comes from each neighbour.
  void send_gradients(pe& me) {
    const int y = wires::index_in_row(me.y());
    const bool above = y > 0, below = y + 1 < wires::workers_of(me);
    while (const weight_transfer* t = out_.next(schedule_->transfers())) {
      const direction d = t->server == y  ? direction::server
                          : t->server > y ? direction::south
                                          : direction::north;
      // The neighbours from which sums come.
      const bool north = above && d != direction::north, south = below && d != direction::south;
      if (out_.busy(d) || (north && (out_.busy(direction::server) || out_.busy(direction::south))) ||
          (south && (out_.busy(direction::server) || out_.busy(direction::north))))
        return;
      const auto mine = mem(out_.of(*t));
      const auto to = fabout(d == direction::server  ? wires::to_server
                             : d == direction::south ? wires::south_from(y)
                                                     : wires::north_from(y));
      const auto from_north = fabin(wires::south_from(y + 1)), from_south = fabin(wires::north_from(y + 1));
      out_.start(*t, d);
      if (north && south)
        me.async(map_each([](f32 a, f32 b, f32 c) { return a + b + c; }, to, from_north, mine, from_south),
                 then_sent(d));
      else if (north) me.async(wsl::add(to, from_north, mine), then_sent(d));
      else if (south) me.async(wsl::add(to, mine, from_south), then_sent(d));
      else me.async(mov(to, mine), then_sent(d));
    }
  }

  const streaming_schedule* schedule_ = nullptr;
  std::size_t next_ = 0, until_ = 0;  // the transfers from next_ to before until_ are at work
  int layer_ = 0;                     // the layer of the first of them
  tile_queue<Weight> in_[wires::max_servers];
  std::vector<f32> wide_;  // the tile at work as f32, if tiles do not travel as f32
  gradient_queue out_;

  template <int server>
  using received_from = local<&worker::received<server>>;

 public:
  using tasks = task_list<
      launch<&worker::step>, numbered<wires::max_servers, received_from>,
      local<&worker::sent<direction::server>>, local<&worker::sent<direction::south>>,
      local<&worker::sent<direction::north>>, local<&worker::work>, local<&worker::computed>,
      reads<wires::all_weight_tiles<Weight>>,
      sends<wires::to_server, wires::south_from(0), wires::south_from(1), wires::north_from(0),
            wires::north_from(1)>,
      reads<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>>;
};

}  // namespace wsl::ml
