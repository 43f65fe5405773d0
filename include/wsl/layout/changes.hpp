// SPDX-License-Identifier: MIT
// The records of routes that change, and of filters, in a layout. The options that create them are in
// switches.hpp and filters.hpp.
#pragma once
#include "../core/control.hpp"
#include "../core/port.hpp"

namespace wsl {

/// The cases in which a router removes the first command from a control wavelet that it passes on, so that
/// the next router sees the next command.
enum class pop : u8 {
  never,       ///< every router on the way carries out the same command
  always,      ///< the k-th router on the way carries out the k-th command
  on_advance,  ///< only if the command is advance
  on_advance_or_nop,
};

namespace detail {

inline constexpr int max_positions = 4;

/// The switch of one path: its positions in full.
struct switch_record {
  short path = 0;                                 ///< the index of the path in the layout
  u8 from[max_positions]{}, to[max_positions]{};  ///< the ports of each position
  u8 count = 0, start = 0;
  bool ring = false;
  wsl::pop pop = wsl::pop::never;

  constexpr route position(int i) const {
    route r;
    r.from.bits = from[i], r.to.bits = to[i];
    return r;
  }
  /// The ports that the router uses in any position.
  constexpr route every() const {
    route used;
    for (int i = 0; i < count; ++i) used = {used.from | position(i).from, used.to | position(i).to};
    return used;
  }
  /// The position after a command.
  constexpr int after(command what, int at) const {
    if (what == switch_adv) return at + 1 < count ? at + 1 : ring ? 0 : at;
    return what == switch_rst ? 0 : at;
  }
  /// The control word that the router passes on.
  constexpr control_word passed_on(control_word w) const {
    const command what = w.head();
    const bool pops = what == switch_adv
                          ? pop != wsl::pop::never
                          : pop == wsl::pop::always || (pop == wsl::pop::on_advance_or_nop && what == nop);
    return pops ? w.popped() : w;
  }
};

/// The filter of one path, on all its PEs: it keeps wavelets whose index is `first` to `last`, or the first
/// `last` + 1 of every `period`. From PE to PE the range of the index moves, or the number with which
/// the PE begins to count.
struct filter_record {
  int path = 0;  ///< the index of the path in the layout
  bool by_index = false;
  int first = 0, last = 0;
  int period = 0, start = 0;
  int per_column = 0, per_row = 0;
  bool counts_data = true, counts_control = false;
  bool holds_control = false;  ///< keeps only some of the control wavelets as well

  constexpr bool sensible() const { return first <= last && (by_index || (first >= 0 && last < period)); }
};

}  // namespace detail

class layout;
struct diagnostic;
struct path_record;
namespace rules {
struct route_segment;
template <class T>
class scratch;
}  // namespace rules

namespace detail {

/// The rules for layouts with such routes or filters (rules/switches.hpp, rules/filters.hpp). They are
/// functions that the layout points to, so that programs without them do not compile them.
struct change_rules {
  u64 (*colors)(const layout&);  ///< the colors that have such rules
  diagnostic (*of_color)(const layout&, int color);
  diagnostic (*of_filters)(const layout&);
  /// Appends the positions of a path's switch, all or one; returns how many there are.
  int (*positions)(const layout&, const path_record&, int only, rules::scratch<rules::route_segment>& found);
};

}  // namespace detail

}  // namespace wsl
