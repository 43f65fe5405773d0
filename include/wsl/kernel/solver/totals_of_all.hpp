// SPDX-License-Identifier: MIT
// An all-reduce of a few words in a single step, for the few large PEs of a computer: each PE has a color on
// which it sends its words to all others, and adds up those of all PEs in their order. So no PE waits for a
// sum on its way from PE to PE, and all of them learn the totals at the same time. It takes a color for each
// of most_pes PEs; more of them add up along chains (collective/all_reduce.hpp).
//   constexpr totals_of_all sum{.first = 8, .words = 5};   // colors 8 to 55
//   endpoint<sum> summing; ... summing.start(me, mem(x), then<&worker::next>())
#pragma once
#include "../../collective/all_reduce.hpp"
#include "running_sum.hpp"

namespace wsl::solver {

struct totals_of_all {
  using element = f32;
  static constexpr const char* name = "totals_of_all";
  static constexpr int most_pes = 43, colors = most_pes + 5;

  int first = 0;  ///< the first of its colors
  int words = 1;  ///< the length of the arrays at most

  constexpr color<f32> of(int pe) const { return {first + pe}; }
  constexpr all_reduce<f32> chains() const {
    return {.first = first + most_pes, .words = words, .place = total_at::centre};
  }
  constexpr void wire(layout& l) const {
    collective::claim_colors<f32>(l, name, first, most_pes, l.grid());
    chains().wire(l);
    if (l.width() * l.height() > most_pes) return;
    for (int y = 0; y < l.height(); ++y)
      for (int x = 0; x < l.width(); ++x)
        broadcast<f32>{.first = of(y * l.width() + x).id, .root = {x, y}}.wire_paths(l, name);
  }

  template <auto net>
  class part {
   public:
    /// Adds up the arrays of all PEs, which are equally long, and leaves the totals in each of them.
    void start(pe& me, memory<f32> sums, completion done) {
      const int pes = me.width() * me.height();
      if (pes > most_pes) return chains_.start(me, sums, done);
      sums_ = sums, done_ = done, heard_ = 0;
      if (pes > 1)
        for (int k = 0; k < sums.length(); ++k) me.send(net.of(own(me)), sums[k]);
      go_on(me);
    }

   private:
    static int own(const pe& me) { return me.y() * me.width() + me.x(); }
    void go_on(pe& me) {
      const int pes = me.width() * me.height(), n = sums_.length();
      while (heard_ < pes) {
        const int from = heard_++;
        const memory<f32> theirs = mem(all_[from]).part(0, n);
        if (from != own(me)) return me.async(mov(theirs, fabin(net.of(from))), then<&part::go_on>());
        for (int k = 0; k < n; ++k) theirs[k] = sums_[k];
      }
      for (int k = 0; k < n; ++k) {
        running_sum sum;
        for (int from = 0; from < pes; ++from) sum.add(all_[from][k]);
        sums_[k] = sum.value();
      }
      collective::finish(me, net.first, unused_, done_);
    }

    memory<f32> sums_{nullptr, 0};
    completion done_{};
    int heard_ = 0;
    f32 all_[most_pes][std::size_t{net.words}]{}, unused_ = 0;
    endpoint<net.chains()> chains_;

   public:
    using tasks = task_list<local<&part::go_on>, use<&part::chains_>,
                            collective::uses_colors<f32, net.first, most_pes>>;
  };
};

}  // namespace wsl::solver
