// SPDX-License-Identifier: MIT
// What a layout keeps of routes that change and of filters. How a program says it is in switches.hpp and
// filters.hpp.
#pragma once
#include "../core/control.hpp"
#include "../core/port.hpp"

namespace wsl {

/// When a router takes the first command out of a control wavelet that it passes on, so that the next router
/// sees the one after it.
enum class pop : u8 {
  never,       ///< every router on the way carries out the same command
  always,      ///< the k-th router on the way carries out the k-th command
  on_advance,  ///< only if the command is advance
  on_advance_or_nop,
};

inline constexpr int max_positions = 4;

/// The switch of one path: its positions in full.
struct switch_record {
  short path = 0;                                 ///< which of the layout's paths
  u8 from[max_positions]{}, to[max_positions]{};  ///< the ports of each position
  u8 count = 0, start = 0;
  bool ring = false;
  wsl::pop pop = wsl::pop::never;

  constexpr route position(int i) const {
    route r;
    r.from.bits = from[i], r.to.bits = to[i];
    return r;
  }
  /// What the router takes and gives in some position.
  constexpr route every() const {
    route used;
    for (int i = 0; i < count; ++i) used = {used.from | position(i).from, used.to | position(i).to};
    return used;
  }
  /// Where the switch stands after a command.
  constexpr int after(command what, int at) const {
    if (what == switch_adv) return at + 1 < count ? at + 1 : ring ? 0 : at;
    return what == switch_rst ? 0 : at;
  }
  /// What the router makes of a control wavelet that it passes on.
  constexpr control_word passed_on(control_word w) const {
    const command what = w.head();
    const bool pops = what == switch_adv
                          ? pop != wsl::pop::never
                          : pop == wsl::pop::always || (pop == wsl::pop::on_advance_or_nop && what == nop);
    return pops ? w.popped() : w;
  }
};

/// The filter of one path, on all its PEs: it keeps wavelets whose index is `first` to `last`, or the first
/// `last` + 1 of every `period`. What moves from PE to PE is the range of the index, or where the PE begins
/// to count.
struct filter_record {
  int path = 0;  ///< which of the layout's paths
  bool by_index = false;
  int first = 0, last = 0;
  int period = 0, start = 0;
  int per_column = 0, per_row = 0;
  bool counts_data = true, counts_control = false;
  bool holds_control = false;  ///< of control wavelets it keeps only some as well

  constexpr bool sensible() const { return first <= last && (by_index || (first >= 0 && last < period)); }
};

class layout;
struct diagnostic;
struct path_record;
namespace rules {
struct route_segment;
template <class T>
class scratch;
}  // namespace rules

/// What the checker asks only of layouts with such routes (rules/switches.hpp, rules/filters.hpp).
struct change_rules {
  u64 (*colors)(const layout&);  ///< that are asked about
  diagnostic (*of_color)(const layout&, int color);
  diagnostic (*of_filters)(const layout&);
  /// Appends the positions of a path's switch, all or one; returns how many there are.
  int (*positions)(const layout&, const path_record&, int only, rules::scratch<rules::route_segment>& found);
};

}  // namespace wsl
