// SPDX-License-Identifier: MIT
// The ring all-reduce (reduce-scatter, then all-gather): the array is cut into one chunk for each PE; each
// chunk goes around the line once and is combined on the way, and goes around once more to reach all PEs. A
// step keeps each PE busy with two chunks. It takes three colors, those of a cyclic shift by one.
//   constexpr ring_all_reduce<f32> sum{.first = 0, .among = each_row};
//   endpoint<sum> summing; ... summing.start(me, mem(x), then<&worker::next>())
// Chunk k is combined from PE k on around the line, so the operation should be commutative as well. On P PEs
// it takes 2 (P - 1) steps of 2 B / P + 2 T + 2 cycles and a restart, and twice the way back over the line.
// It is here for comparison: with one ramp a PE, all_reduce is quicker.
#pragma once
#include "combine.hpp"
#include "shift.hpp"

namespace wsl::collective {

template <payload T, class Combine = plus>
struct ring_all_reduce {
  using element = T;
  using combine = Combine;
  static constexpr const char* name = "ring_all_reduce";
  static constexpr int colors = 3;

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = each_row;  ///< each_row or each_column

  constexpr shift<T> ring() const { return {first, where, among, 1, true}; }
  constexpr void wire(layout& l) const { ring().wire(l, name); }

  /// The cost on a layout, in cycles, for `words` words: twice around the line, the second time without
  /// combining.
  constexpr f64 cycles(const layout& l, int words) const {
    const int size = length(rectangle_of(l, where, name), ring().direction()), steps = 2 * (size - 1);
    if (size == 1) return 0;
    const f64 step =
        pattern{.contention = 2 * f64(words) / size, .distance = 1, .depth = 1}.cycles() + 1 + restart;
    return steps * step + 2 * (size - 2);  // each chunk goes back over the whole line twice
  }

  template <auto net>
  class part {
   public:
    /// Combines the words of all PEs of a line and leaves the total in each of them.
    void start(pe& me, memory<T> words, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      if (words.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      must_agree_in_team<net>(me, r, words.length());
      size_ = length(r, net.ring().direction());
      place_ = along(me.at() - corner(r), net.ring().direction());
      words_ = words, done_ = done, step_ = 0;
      step(me);
    }

   private:
    color<T> out() const { return {net.ring().out(size_, place_)}; }
    color<T> in() const { return {net.ring().in(size_, place_)}; }
    /// A chunk of about words / size words, counted back from this PE's own.
    memory<T> chunk(int back) const {
      const i64 k = (place_ - back + 2 * size_) % size_, n = words_.length();
      const int from = static_cast<int>(k * n / size_), to = static_cast<int>((k + 1) * n / size_);
      return words_.part(from, to - from);
    }

    // A chunk is sent while the one before it is received: the first time around it is combined, the second
    // time it is complete.
    void step(pe& me) {
      const int now = step_++;
      if (now == 2 * (size_ - 1)) return finish(me, net.first, words_[0], done_);
      const memory<T> coming = chunk(now + 1);
      me.async(mov(fabout(out()), chunk(now)), unblocks<&part::stepped>());
      if (now < size_ - 1)
        me.async(combine_elements<Combine>(coming, fabin(in()), coming), then<&part::stepped>());
      else me.async(mov(coming, fabin(in())), then<&part::stepped>());
    }
    void stepped(pe& me) {
      me.block<&part::stepped>();
      step(me);
    }

    memory<T> words_{nullptr, 0};
    completion done_{};
    int size_ = 0, place_ = 0, step_ = 0;

   public:
    using tasks = task_list<local<&part::stepped, blocked>, uses_colors<T, net.first, colors>>;
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::ring_all_reduce;
}
