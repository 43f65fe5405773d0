// SPDX-License-Identifier: MIT
// A multiplexer: a line of PEs that makes one stream of the streams of several PEs, so many words of each in
// turn. Its order is defined, which that of paths that merge is not. Words pass a PE of the line in the
// router, where a switch lets through first those of its own processor, then those from behind it.
//   const mux<f32, 4, 8> y(plan, "y", south);  // 4 PEs below each other, 8 words of each in turn
//   plan.connect(rows.output(tile::y, east), y.input()).stream_out(y.output(), east);
#pragma once
#include "../program/declarations.hpp"
#include "../program/descriptor/ops.hpp"
#include "floor_plan.hpp"

namespace wsl {

namespace planning {

/// Sends `words` words that come in, and then the command for the switches: of its own router, or, at the end
/// of the line, of all.
template <payload T, int words, bool is_last>
struct mux_station {
  static constexpr auto in = symbolic<T>(0), line = symbolic<T>(1);
  void begin(pe& me) {
    me.async(mov(fabout(line, words), fabin(in, words)), then<&mux_station::sent>(), serves);
  }
  void sent(pe& me) {
    me.send_control(line, is_last ? switch_rst : switch_adv);
    begin(me);
  }
  using tasks = task_list<local<&mux_station::begin, active>, local<&mux_station::sent>, reads<in>,
                          sends<line>, steers<line, is_last ? switch_rst : switch_adv>>;
};
/// The second of two PEs: nobody's words pass it.
template <payload T>
struct mux_follower {
  static constexpr auto in = symbolic<T>(0), line = symbolic<T>(1);
  void begin(pe& me) { me.async(mov(fabout(line, forever), fabin(in, forever))); }
  using tasks = task_list<local<&mux_follower::begin, active>, reads<in>, sends<line>>;
};
/// The first PE: sends its own words, then those of the line. Commands for switches end here.
template <payload T, int words, int behind>
struct mux_head {
  static constexpr auto in = symbolic<T>(0), line = symbolic<T>(1), out = symbolic<T>(2);
  void begin(pe& me) {
    me.async(mov(fabout(out, words), fabin(in, words)), then<&mux_head::others>(), serves);
  }
  void others(pe& me) {
    if constexpr (behind > 0)
      me.async(mov(fabout(out, words * behind), fabin(line, words * behind)), then<&mux_head::begin>(),
               serves);
    else begin(me);
  }
  using tasks = task_list<local<&mux_head::begin, active>, local<&mux_head::others>, reads<in>,
                          when<(behind > 0), reads<line>>, sends<out>>;
};

}  // namespace planning

/// `count` PEs that take `words` words each from their input in turn, the first PE first: the n-th PE of the
/// output that is connected, row by row, has the n-th turn. All inputs bring the same number of words, a
/// multiple of `words`: a run that ends inside a round, when those of one PE have come and those of a PE
/// before it have not, is a deadlock.
template <payload T, int count, int words>
  requires(count > 0 && words > 0)
class mux {
  using head = planning::mux_head<T, words, count - 1>;

 public:
  /// The color of its words: at the place of the mux, `l.color_at(place, y.out)` is that of the fabric.
  static constexpr color<T> out = head::out;

  /// A line that grows `toward` a side, east or south, from its first PE. The plan places it: `plan.place(y,
  /// at)`.
  constexpr mux(floor_plan& to, const char* name, port toward)
      : region_(to.region(name, toward == east ? count : 1, toward == east ? 1 : count)) {
    if (toward != east && toward != south) faults::a_mux_grows_to_the_east_or_south(name);
    const auto pes = [toward](bound first, bound end) {
      return toward == east ? columns(first, end) : rows(first, end);
    };
    const port back = opposite(toward);
    to.place<head>(region_, pes(0, 1));
    if constexpr (count > 1) to.path(region_, head::line, pes(0, 1), toward >> ramp);
    if constexpr (count == 2) to.place<planning::mux_follower<T>>(region_, pes(1, 2));
    if constexpr (count > 2) {
      to.place<planning::mux_station<T, words, false>>(region_, pes(1, edge - 1));
      to.place<planning::mux_station<T, words, true>>(region_, pes(edge - 1, edge));
      to.path(region_, head::line, pes(1, edge - 1), ramp >> back, switches{.pos1 = {.from = toward}});
    }
    if constexpr (count > 1) to.path(region_, head::line, pes(edge - 1, edge), ramp >> back);
  }
  constexpr operator const code_region&() const { return region_; }
  /// One PE for each stream that comes in, through any side.
  constexpr region_port<T> input() const { return region_.input(head::in, all); }
  /// All words leave from the first PE.
  constexpr region_port<T> output() const { return region_.output(head::out, at(0, 0)); }

 private:
  code_region region_;
};

}  // namespace wsl
