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

struct worker {
  place at;
  std::vector<f32> slab_numbers, gradient;

  /// The sequences of a batch that belong to row y of h.
  static int first_sequence(const batch& b, int y, int h) { return static_cast<int>(i64{b.sequences} * y / h); }

  void begin(pe& me, const network& n, const batch& b) {
    const int from = first_sequence(b, me.y(), me.height()), count = first_sequence(b, me.y() + 1, me.height()) - from;
    const std::size_t first = static_cast<std::size_t>(from * b.length), tokens = static_cast<std::size_t>(count * b.length);
    if (at.sequences() != count || at.length() != b.length) at.resize(n.widths(), n.stages().size(), count, b.length);
    const auto mine = [&](auto all) { return all.empty() ? all : all.subspan(first, tokens); };
    at.ids = mine(b.ids), at.targets = mine(b.targets), at.mask = mine(b.mask), at.weight = b.weight, at.loss = 0;
    at.forget_gradients();
    if (!b.features.empty()) copy(at.value(0), matrix(b.features.data() + first * static_cast<std::size_t>(n.width(0)), at.tokens(), n.width(0)));
  }

  task step(pe& me, const network* n, const itinerary* way, batch b) {
    begin(me, *n, b);
    slab_numbers.resize(way->longest()), gradient.resize(way->longest());
    for (const trip& t : way->trips()) {
      if (!t.is_slab()) {
        if (t.back) t.of->backward(at);
        else t.of->forward(at);
        continue;
      }
      if (t.brings) co_await mov(mem(std::span(slab_numbers).first(t.size())), fabin(wires::slabs(t.server)));
      const slab s{t.which, t.row, matrix(slab_numbers.data(), t.rows, t.columns)};
      if (!t.back) {
        t.of->forward(at, s);
        continue;
      }
      std::fill_n(gradient.data(), t.size(), 0.f);
      t.of->backward(at, s, matrix(gradient.data(), t.rows, t.columns));
      // Toward the row of the server; there the sums from both ends meet.
      const memory_view sum = mem(std::span(gradient).first(t.size()));
      const int y = me.y(), last = me.height() - 1;
      if (y > 0 && y <= t.server) co_await wsl::add(sum, sum, fabin(wires::south_from(y - 1)));
      if (y < last && y >= t.server) co_await wsl::add(sum, sum, fabin(wires::north_from(y + 1)));
      co_await mov(fabout(y == t.server ? wires::home : y < t.server ? wires::south_from(y) : wires::north_from(y)), sum);
    }
  }

  static consteval auto tasks() {
    using namespace wires;
    return table(launch<&worker::step>(), reads_slabs(), sends<home>(), sends<south_from(0)>(),
                 sends<south_from(1)>(), sends<north_from(0)>(), sends<north_from(1)>(), reads<south_from(0)>(), reads<south_from(1)>(),
                 reads<north_from(0)>(), reads<north_from(1)>());
  }
 private:
  using memory_view = wsl::memory<f32>;
};

}  // namespace wsl::ml
