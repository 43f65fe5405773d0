// SPDX-License-Identifier: MIT
// A PE of the wafer: it keeps the activations of its sequences and does the stages' work on each slab that comes by. On the way
// back its gradient of the slab joins those of the other workers on the way to the slab's server.
#pragma once
#include "itinerary.hpp"
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

  /// The sequences of a batch that belong to row y of h.
  static int first_sequence(const batch& b, int y, int h) { return static_cast<int>(i64{b.sequences} * y / h); }

  void step(pe& me, const network* n, const itinerary* way, batch b) {
    begin(me, *n, b);
    trips_ = &way->trips();
    next_ = 0;
    slabs_.begin(way->longest()), gradients_.begin(way->longest());
    take(me);
    work(me);
  }

  /// Does what can be done, in the order of the itinerary; goes on when a slab has come or a gradient has gone.
  void work(pe& me) {
    for (; next_ < trips_->size(); ++next_) {
      const trip& t = (*trips_)[next_];
      if ((t.brings && slabs_.empty()) || (t.returns() && gradients_.full())) return;
      if (t.is_slab()) use(me, t);
      else if (t.back) t.of->backward(at);
      else t.of->forward(at);
    }
  }
  void came(pe& me) {
    slabs_.push();
    slabs_.busy = false;
    take(me);
    me.activate<&worker::work>();
  }
  void gone(pe& me) {
    gradients_.pop();
    gradients_.busy = false;
    give(me);
    me.activate<&worker::work>();
  }

  static consteval auto tasks() {
    using namespace wires;
    return table(launch<&worker::step>(), local<&worker::came>(), local<&worker::gone>(), local<&worker::work>(), reads_slabs(), sends<home>(),
                 sends<south_from(0)>(), sends<south_from(1)>(), sends<north_from(0)>(), sends<north_from(1)>(), reads<south_from(0)>(),
                 reads<south_from(1)>(), reads<north_from(0)>(), reads<north_from(1)>());
  }

 private:
  /// A few slabs or gradients, first in first out: the fabric is at one end and the work at the other.
  class queue {
   public:
    void begin(std::size_t longest) {
      first_ = count_ = trip_ = 0, busy = false;
      for (std::vector<f32>& x : numbers_) x.resize(longest);
    }
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == places; }
    std::vector<f32>& front() { return numbers_[first_ % places]; }
    std::vector<f32>& back() { return numbers_[(first_ + count_) % places]; }
    void push() { ++count_; }
    void pop() { ++first_, --count_; }
    /// The next trip that the fabric carries; null after the last.
    template <class Wanted>
    const trip* next(const std::vector<trip>& all, Wanted wanted) {
      while (trip_ < all.size() && !wanted(all[trip_])) ++trip_;
      return trip_ < all.size() ? &all[trip_++] : nullptr;
    }
    bool busy = false;  ///< the fabric works on one

   private:
    static constexpr std::size_t places = 4;
    std::vector<f32> numbers_[places];
    std::size_t first_ = 0, count_ = 0, trip_ = 0;
  };

  void begin(pe& me, const network& n, const batch& b) {
    const int from = first_sequence(b, me.y(), me.height()), count = first_sequence(b, me.y() + 1, me.height()) - from;
    const std::size_t first = static_cast<std::size_t>(from * b.length), tokens = static_cast<std::size_t>(count * b.length);
    if (at.sequences() != count || at.length() != b.length) at.resize(n.widths(), n.stages().size(), count, b.length);
    const auto mine = [&](auto all) { return all.empty() ? all : all.subspan(first, tokens); };
    at.ids = mine(b.ids), at.targets = mine(b.targets), at.mask = mine(b.mask), at.weight = b.weight, at.loss = 0;
    at.forget_gradients();
    if (!b.features.empty()) copy(at.value(0), matrix(b.features.data() + first * static_cast<std::size_t>(n.width(0)), at.tokens(), n.width(0)));
  }

  void use(pe& me, const trip& t) {
    const slab s{t.which, t.row, matrix(t.brings ? slabs_.front().data() : nullptr, t.rows, t.columns)};
    if (t.back) t.of->backward(at, s, matrix(gradients_.back().data(), t.rows, t.columns));
    else t.of->forward(at, s);
    if (t.brings) slabs_.pop(), take(me);
    if (t.returns()) gradients_.push(), give(me);
  }

  /// Lets the next slab come while there is room for it.
  void take(pe& me) {
    if (slabs_.busy || slabs_.full()) return;
    const trip* t = slabs_.next(*trips_, [](const trip& x) { return x.brings; });
    if (!t) return;
    slabs_.busy = true;
    me.async(mov(mem(std::span(slabs_.back()).first(t->size())), fabin(wires::slabs(t->server))), then<&worker::came>());
  }

  /// Sends the next gradient toward the row of its server, with the sums that come from beyond; those from both ends meet there.
  void give(pe& me) {
    if (gradients_.busy || gradients_.empty()) return;
    const trip& t = *gradients_.next(*trips_, [](const trip& x) { return x.returns(); });
    gradients_.busy = true;
    const auto mine = mem(std::span(gradients_.front()).first(t.size()));
    const int y = me.y(), last = me.height() - 1;
    const auto to = fabout(y == t.server ? wires::home : y < t.server ? wires::south_from(y) : wires::north_from(y));
    const auto from_north = fabin(wires::south_from(y + 1)), from_south = fabin(wires::north_from(y + 1));  // neighbours differ in parity
    const bool north = y > 0 && y <= t.server, south = y < last && y >= t.server;
    constexpr auto sum = [](f32 a, f32 b, f32 c) { return a + b + c; };
    if (north && south) me.async(map(sum, to, from_north, mine, from_south), then<&worker::gone>());
    else if (north) me.async(wsl::add(to, from_north, mine), then<&worker::gone>());
    else if (south) me.async(wsl::add(to, mine, from_south), then<&worker::gone>());
    else me.async(mov(to, mine), then<&worker::gone>());
  }

  const std::vector<trip>* trips_ = nullptr;
  std::size_t next_ = 0;
  queue slabs_, gradients_;
};

}  // namespace wsl::ml
