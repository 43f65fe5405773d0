// SPDX-License-Identifier: MIT
// A PE of a pipeline: it keeps its part of the model's layers, their moments and gradients. Micro-batches
// come from the west and go on to the east; their gradients come back. A PE goes back before it goes forward,
// so at most as many micro-batches are on their way as there are PEs ahead ("one forward, one back"). After
// the last one it changes its parameters where they are.
#pragma once
#include "../../model/batch.hpp"
#include "../run.hpp"
#include "../streaming/report.hpp"
#include "mailbox.hpp"
#include "strips.hpp"

namespace wsl::ml {

/// What a PE does in a step.
struct pipeline_order {
  const strips* of;
  memory* store;
  batch all;
  int micro_batches;
  learning how;
  dropout_generator random = {};
  bool back = false;

  int first_sequence(int k) const { return static_cast<int>(i64{all.sequences} * k / micro_batches); }
  int sequences(int k) const { return first_sequence(k + 1) - first_sequence(k); }
  std::size_t tokens(int k) const {
    return static_cast<std::size_t>(sequences(k)) * static_cast<std::size_t>(all.length);
  }
};

/// What a PE says of a step.
struct strip_log {
  f64 forward = 0, back = 0, update = 0;   ///< seconds of work
  wall_clock::time_point began, finished;  ///< its first work and its last
};

class strip_worker {
 public:
  strip_log log;
  f64 loss = 0, sum_of_squares = 0;
  std::vector<f32> logits;  ///< of the last strip, without a way back

  void step(pe& me, pipeline_order o) {
    order_ = o, here_ = &(*o.of)[me.x()];
    log = {}, loss = sum_of_squares = 0, ahead_ = back_ = 0;
    logits.clear();
    places_.resize(static_cast<std::size_t>(o.back ? me.width() - me.x() : 1));
    open_loans();
    from_west_.open(), from_east_.open();
    listen(me);
    work(me);
  }
  /// Changes the parameters here; for gradients that had to wait for their norm.
  void learn(pe&, f32 scale) {
    timed(log.update, [&] {
      for (const stage_part& p : here_->parts)
        if (p.which >= 0 && p.owned) change(p, scale);
    });
  }

  /// Does what can be done; goes on when something has come or gone.
  void work(pe& me) {
    while (back_ < order_.micro_batches) {
      if (order_.back && back_ < ahead_ && (last(me) || from_east_.full()) &&
          (me.x() == 0 || to_west_.empty()))
        go_back(me);
      else if (ahead_ < order_.micro_batches && ahead_ - back_ < static_cast<int>(places_.size()) &&
               (me.x() == 0 || from_west_.full()) && (last(me) || to_east_.empty()))
        go_forward(me);
      else return;
      listen(me);
    }
  }
  void came_from_west(pe& me) { from_west_.close(), me.activate<&strip_worker::work>(); }
  void came_from_east(pe& me) { from_east_.close(), me.activate<&strip_worker::work>(); }
  void gone_west(pe& me) { to_west_.open(), me.activate<&strip_worker::work>(); }
  void gone_east(pe& me) { to_east_.open(), me.activate<&strip_worker::work>(); }

 private:
  /// A parameter that another PE owns, or that this one lends to another.
  struct loan {
    std::vector<f32> numbers, gradients;
  };

  static bool last(const pe& me) { return me.x() + 1 == me.width(); }
  place& place_of(int k) { return places_[static_cast<std::size_t>(k) % places_.size()]; }

  void open_loans() {
    const auto open = [&](std::size_t k) {
      const std::size_t size = order_.store->numbers[k].size();
      loans_[k].numbers.resize(size), loans_[k].gradients.assign(size, 0);
    };
    for (std::size_t k : here_->west.borrowed) open(k);
    for (std::size_t k : here_->east.borrowed) open(k);
    for (const stage_part& p : here_->parts)
      if (p.which >= 0 && !p.owned) open(p.parameter);
  }
  /// Of a packet for micro-batch k.
  std::size_t words(const boundary& b, const std::vector<int>& values, int k, bool with_borrowed) const {
    std::size_t n = 0;
    for (int v : values)
      n += static_cast<std::size_t>(here_->widths[static_cast<std::size_t>(v)]) * order_.tokens(k);
    for (std::size_t p : b.borrowed) n += with_borrowed ? order_.store->numbers[p].size() : 0;
    return n;
  }
  /// Lets the next packets come, if they may.
  void listen(pe& me) {
    if (me.x() > 0 && ahead_ < order_.micro_batches && from_west_.waits())
      me.async(mov(from_west_.room(words(here_->west, here_->west.values, ahead_, ahead_ == 0)),
                   fabin(pipes::east_from(me.x() - 1))),
               then<&strip_worker::came_from_west>());
    if (!last(me) && order_.back && back_ < order_.micro_batches && from_east_.waits())
      me.async(mov(from_east_.room(
                       words(here_->east, here_->east.gradients, back_, back_ + 1 == order_.micro_batches)),
                   fabin(pipes::west_from(me.x() + 1))),
               then<&strip_worker::came_from_east>());
  }

  void go_forward(pe& me) {
    const int k = ahead_++;
    place& at = place_of(k);
    begin(at, k);
    timed(log.forward, [&] {
      arrive(me, at, k);
      for (const stage_part& p : here_->parts)
        if (p.which < 0) p.of->forward(at);
        else p.of->forward(at, p.use(numbers_of(p)));
    });
    if (last(me)) {
      loss += at.loss;
      if (!order_.back) keep_logits(at);
    } else {
      packer out = to_east_.pack(words(here_->east, here_->east.values, k, k == 0));
      for (int v : here_->east.values) out.put(at.value(v));
      if (k == 0)
        for (std::size_t p : here_->east.borrowed) out.put(whole(loans_[p].numbers));
      me.async(mov(fabout(pipes::east_from(me.x())), to_east_.words()), then<&strip_worker::gone_east>());
    }
    if (!order_.back) ++back_;
  }
  /// The micro-batch's values, from the host or from the west, and with the first of a step what is borrowed.
  void arrive(const pe& me, place& at, int k) {
    if (me.x() > 0) {
      unpacker in = from_west_.unpack();
      for (int v : here_->west.values) in.get(at.value(v));
      if (k == 0)
        for (std::size_t p : here_->west.borrowed) in.get(whole(loans_[p].numbers));
    } else if (!order_.all.features.empty()) {
      const matrix<f32> x = at.value(0);
      copy(x, matrix(order_.all.features.data() +
                         i64{order_.first_sequence(k)} * order_.all.length * x.columns(),
                     x.rows(), x.columns()));
    }
    if (k == 0)
      for (const stage_part& p : here_->parts)
        if (auto l = loans_.find(p.parameter); p.which >= 0 && p.owned && l != loans_.end())
          std::copy_n(stored(order_.store->numbers, p), p.size(), l->second.numbers.data() + p.first());
  }

  void go_back(pe& me) {
    const int k = back_++;
    const bool ends = back_ == order_.micro_batches;
    place& at = place_of(k);
    timed(log.back, [&] {
      if (!last(me)) {
        unpacker in = from_east_.unpack();
        for (int v : here_->east.gradients) in.get(all_of_gradient(at, v));
        if (ends)
          for (std::size_t p : here_->east.borrowed) in.add(whole(loans_[p].gradients));
      }
      for (auto p = here_->parts.rbegin(); p != here_->parts.rend(); ++p)
        if (p->which < 0) p->of->backward(at);
        else add_gradient(at, *p, k == 0);
    });
    if (me.x() > 0) {
      packer out = to_west_.pack(words(here_->west, here_->west.gradients, k, ends));
      for (int v : here_->west.gradients) out.put(at.gradient(v));
      if (ends)
        for (std::size_t p : here_->west.borrowed) out.put(whole(loans_[p].gradients));
      me.async(mov(fabout(pipes::west_from(me.x())), to_west_.words()), then<&strip_worker::gone_west>());
    }
    if (ends) finish(me);
  }
  static matrix<f32> all_of_gradient(place& at, int v) {
    bool sets = false;
    return at.gradient(v, sets);
  }
  void add_gradient(place& at, const stage_part& p, bool first) {
    f32* sum =
        p.owned ? stored(order_.store->gradients, p) : loans_[p.parameter].gradients.data() + p.first();
    const matrix<f32> whole(sum, p.rows, p.columns);
    if (first) return p.of->backward(at, p.use(numbers_of(p)), whole);
    scratch_.resize(p.size());
    const matrix<f32> one(scratch_.data(), p.rows, p.columns);
    p.of->backward(at, p.use(numbers_of(p)), one);
    add(whole, one);
  }
  /// All gradients are here.
  void finish(pe& me) {
    for (const stage_part& p : here_->parts) {
      if (p.which < 0 || !p.owned) continue;
      f32* gradient = stored(order_.store->gradients, p);
      if (auto l = loans_.find(p.parameter); l != loans_.end())
        add(matrix<f32>(gradient, p.rows, p.columns),
            matrix<const f32>(l->second.gradients.data() + p.first(), p.rows, p.columns));
      for (std::size_t i = 0; i < p.size() && !order_.how.now(); ++i)
        sum_of_squares += static_cast<f64>(gradient[i]) * static_cast<f64>(gradient[i]);
    }
    if (order_.how.now()) learn(me, 1);
  }
  void change(const stage_part& p, f32 scale) {
    order_.how.change(order_.store->of->parameters()[p.parameter], stored(order_.store->numbers, p),
                      {stored(order_.store->first, p), stored(order_.store->second, p)},
                      stored(order_.store->gradients, p), scale, static_cast<int>(p.size()));
  }

  void begin(place& at, int k) {
    const batch& b = order_.all;
    const int first = order_.first_sequence(k), count = order_.sequences(k);
    const std::size_t from = static_cast<std::size_t>(first) * static_cast<std::size_t>(b.length);
    if (at.sequences() != count || at.length() != b.length)
      at.resize(here_->widths, order_.store->of->stages().size(), count, b.length);
    const auto mine = [&](auto all) { return all.empty() ? all : all.subspan(from, order_.tokens(k)); };
    at.ids = mine(b.ids), at.targets = mine(b.targets), at.mask = mine(b.mask), at.weight = b.weight,
    at.loss = 0;
    at.random = {order_.random.on, order_.random.key, first};
    at.zero_grad();
  }
  void keep_logits(place& at) {
    const matrix<f32> y = at.value(order_.store->of->logits());
    logits.insert(logits.end(), y.first(), y.first() + i64{y.rows()} * y.columns());
  }
  f32* numbers_of(const stage_part& p) {
    return p.owned ? stored(order_.store->numbers, p) : loans_[p.parameter].numbers.data() + p.first();
  }
  static f32* stored(parameter_store& of, const stage_part& p) { return of[p.parameter].data() + p.first(); }
  static matrix<f32> whole(std::vector<f32>& x) { return {x.data(), 1, static_cast<int>(x.size())}; }
  template <class F>
  void timed(f64& seconds_of, F f) {
    const wall_clock::time_point from = wall_clock::now();
    if (log.began == wall_clock::time_point{}) log.began = from;
    f();
    log.finished = wall_clock::now();
    seconds_of += seconds(log.finished - from);
  }

  pipeline_order order_{};
  const strip* here_ = nullptr;
  int ahead_ = 0, back_ = 0;   ///< micro-batches that have gone forward, and back
  std::vector<place> places_;  ///< of micro-batches on their way
  std::map<std::size_t, loan> loans_;
  std::vector<f32> scratch_;
  inbox from_west_, from_east_;
  outbox to_west_, to_east_;

 public:
  using tasks =
      task_list<launch<&strip_worker::step>, launch<&strip_worker::learn>,
                long_running<local<&strip_worker::work>>, local<&strip_worker::came_from_west>,
                local<&strip_worker::came_from_east>, local<&strip_worker::gone_west>,
                local<&strip_worker::gone_east>,
                reads<pipes::east_from(0), pipes::east_from(1), pipes::west_from(0), pipes::west_from(1)>,
                sends<pipes::east_from(0), pipes::east_from(1), pipes::west_from(0), pipes::west_from(1)>>;
};

}  // namespace wsl::ml
