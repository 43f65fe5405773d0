// SPDX-License-Identifier: MIT
// A barrier: no PE of a row, a column or the rectangle goes on before all have come. It is an all-reduce of
// one word that nobody looks at, with the reduce that is the quickest for it.
//   constexpr collective::barrier meeting{.first = 8};
//   awaited<meeting> all_here; ... co_await all_here(me);
// or with a completion: endpoint<meeting> meet; ... meet.start(me, then<&worker::next>());
#pragma once
#include "all_reduce.hpp"

namespace wsl::collective {

struct barrier {
  using element = u32;
  static constexpr const char* name = "barrier";

  int first = 0;     ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  int colors = 2;  ///< of the reduce, for each axis, and one more; with 1 there is no other

  constexpr all_reduce<u32, larger> word() const {
    return {.first = first,
            .where = where,
            .among = among,
            .words = 1,
            .how = tactic::automatic,
            .colors = colors,
            .place = among == team::rectangle ? total_at::corner : total_at::cheaper};
  }
  constexpr void wire(layout& l) const { word().wire(l); }
  /// The cost on a layout, in cycles.
  constexpr f64 cycles(const layout& l) const { return word().cycles(l, 1); }

  template <auto net>
  class part {
   public:
    /// `done` happens when every PE of the team has called this.
    void start(pe& me, completion done = then_nothing) { joining_.start(me, mem(word_), done); }

   private:
    endpoint<net.word()> joining_;
    u32 word_[1]{};

   public:
    using tasks = task_list<use<&part::joining_>>;
  };
};

}  // namespace wsl::collective
