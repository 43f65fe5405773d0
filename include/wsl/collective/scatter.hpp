// SPDX-License-Identifier: MIT
// A root has a block of words for every PE of its row, its column or the rectangle, in the order of their indices, row by row; each gets
// its own. The root sends the blocks one after the other on the color of a broadcast, and every PE keeps its own of those that come by:
// one color, and nobody stores what is not his. See examples/17_transpose.cpp.
//   constexpr scatter<f32> deal{.first = 0, .among = each_column, .root = {0, end - 1}};
//   endpoint<deal> dealing; ... dealing.start(me, mem(x), then<&worker::next>()), and at the root dealing.start(me, mem(all), mem(x), ...)
// The root's ramp is what it costs: P B + L + 2 T + 1 cycles for P blocks of B words and L links to the farthest PE, T the ramp's latency.
#pragma once
#include "broadcast.hpp"

namespace wsl::collective {

template <payload T>
struct scatter {
  using element = T;
  static constexpr const char* name = "scatter";
  static constexpr int colors = 1;

  int first = 0;          ///< its color
  area where = all;       ///< the rectangle, without strides
  team among = everyone;
  spot root = {};         ///< a row uses only x, a column only y

  constexpr broadcast<T> way() const { return {first, where, among, root}; }
  constexpr color<T> line() const { return {first}; }

  constexpr void wire(layout& l) const { way().wire(l, name); }
  /// What it takes on a layout, in cycles, with blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const { return way().cycles(l, words * team_size(ground(l, where, name), among)); }

  template <auto net>
  class part {
   public:
    /// At the root: sends its blocks, as long as `own`, and keeps its own.
    void start(pe& me, memory<T> blocks, memory<T> own, completion done = none<T>(net.first)) {
      begin(me, own, done);
      if (rank_ != root_) misuse::this_PE_is_not_the_root(name, me.at());
      if (blocks.length() != size_ * own.length()) misuse::the_blocks_do_not_fit(name, me.at(), blocks.length(), size_, own.length());
      mov(own, blocks.part(rank_ * own.length(), own.length()));
      if (size_ == 1) finish(me, net.line(), passed_, done);
      else me.async(mov(fabout(net.line()), blocks), done);
    }
    /// At every other PE: waits for its block.
    void start(pe& me, memory<T> own, completion done = none<T>(net.first)) {
      begin(me, own, done);
      if (rank_ == root_) misuse::this_PE_is_the_root(name, me.at());
      skip_before(me);
    }
    static consteval auto tasks() {
      return table(local<&part::keep>(), local<&part::skip_behind>(), reads<net.line()>(), sends<net.line()>());
    }

   private:
    void begin(pe& me, memory<T> own, completion done) {
      const region r = ground(me, net.where, name);
      if (own.length() < 1) misuse::a_collective_moves_at_least_one_word(name, me.at());
      size_ = team_size(r, net.among);
      rank_ = rank_in(r, me.at() - corner(r), net.among);
      root_ = rank_in(r, root_in(r, net.root, net.among, name), net.among);
      own_ = own, done_ = done;
    }
    void skip_before(pe& me) { me.async(mov(&passed_, fabin(net.line(), rank_ * own_.length())), then<&part::keep>()); }
    void keep(pe& me) { me.async(mov(own_, fabin(net.line())), then<&part::skip_behind>()); }
    void skip_behind(pe& me) { me.async(mov(&passed_, fabin(net.line(), (size_ - 1 - rank_) * own_.length())), done_); }

    memory<T> own_{nullptr, 0};
    completion done_{};
    int size_ = 0, rank_ = 0, root_ = 0;
    T passed_{};
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::scatter;
}
