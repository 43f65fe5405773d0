// SPDX-License-Identifier: MIT
// A broadcast: the words of a root reach every PE of its row, its column or the rectangle. It is one color
// whose route forks on its way, and one descriptor at each end. The routers copy, so no PE waits for another.
// See examples/20_gemv_collectives.cpp.
//   constexpr broadcast<f32> spread{.first = 0, .among = each_row, .root = {edge - 1}};
//   endpoint<spread> spreading; ... spreading.start(me, mem(x), then<&worker::next>())
// B words take B + P + 2 T cycles in a line of P PEs, where T is the latency of a ramp, and B + W + H - 1 + 2
// T in a rectangle of W x H.
#pragma once
#include "cost.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

template <payload T>
struct broadcast {
  using element = T;
  static constexpr const char* name = "broadcast";
  static constexpr int colors = 1;

  int first = 0;     ///< its color
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  root_position root = {};  ///< a row uses only x, a column only y
  bool echo = false;        ///< the root receives its own words as well

  constexpr color<T> line() const { return {first}; }

  /// `as` names the module for which it works, in messages.
  constexpr void wire(layout& l, const char* as = name) const {
    claim_colors<T>(l, as, first, colors, rectangle_of(l, where, as));
    wire_paths(l, as);
  }
  /// Adds only the paths, all with the same options.
  template <class... Option>
  constexpr void wire_paths(layout& l, const char* as, const Option&... options) const {
    const region r = rectangle_of(l, where, as);
    const coord c = root_in(r, root, among, as);
    const lines upright{r, axis::y, c.y};
    const lines flat{among == team::rectangle ? upright.roots() : r, axis::x, c.x};
    const ports down = among == team::row ? ports{} : upright.ways();
    if (among != team::row) wire_arms(l, upright, {}, options...);
    if (among != team::column) wire_arms(l, flat, down, options...);
    const ports out = (among == team::column ? ports{} : flat.ways()) | down | (echo ? ports{ramp} : ports{});
    if (!out.empty())
      l.path(line(), among == team::column ? upright.roots() : flat.roots(), ramp >> out, options...);
  }

  /// The cost on a layout, in cycles, for `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const region r = rectangle_of(l, where, name);
    const coord c = root_in(r, root, among, name);
    const f64 links = size_of_team(r, among) - 1;
    if (links == 0) return 0;
    return pattern{f64(words) * (1 + echo), words * links, links, distance(r, c), 1}.cycles();
  }

  template <auto net>
  class part {
   public:
    /// Sends the root's words into those of every other PE; all PEs give arrays of the same length, and may
    /// use them when `done` happens.
    void start(pe& me, memory<T> words, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      if (words.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      must_agree_in_team<net>(me, r, words.length());
      begin(me, r, words, done);
    }
    /// The same for a module that has asked what start asks.
    void begin(pe& me, const region& r, memory<T> words, const completion& done) {
      if (!is_root(me, r)) return me.async(mov(words, fabin(net.line())), done);
      if (net.echo) {
        me.async(mov(fabout(net.line()), words));
        me.async(mov(&heard_, fabin(net.line(), words.length())), done);
      } else if (size_of_team(r, net.among) > 1) me.async(mov(fabout(net.line()), words), done);
      else finish(me, net.first, heard_, done);
    }
    using tasks = uses_colors<T, net.first, colors>;

   private:
    static bool is_root(const pe& me, const region& r) {
      const coord root = root_in(r, net.root, net.among, name), at = me.at() - corner(r);
      return (net.among == team::column || at.x == root.x) && (net.among == team::row || at.y == root.y);
    }
    T heard_{};
  };

 private:
  // Both arms pass the words on and deliver a copy; `more` is a further direction in which each of their
  // PEs sends one.
  template <class... Option>
  constexpr void wire_arms(layout& l, const lines& from, ports more, const Option&... options) const {
    for (int side : {0, 1}) {
      const arm a = from.side(side);
      l.path(line(), a.beyond(), a.inward() >> (ramp | a.outward | more), options...);
      l.path(line(), a.tip(), a.inward() >> (ramp | more), options...);
    }
  }
  constexpr f64 distance(const region& r, coord c) const {
    const auto farther = [](int at, int size) { return at > size - 1 - at ? at : size - 1 - at; };
    return (among == team::column ? 0 : farther(c.x, r.columns())) +
           (among == team::row ? 0 : farther(c.y, r.rows()));
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::broadcast;
}
