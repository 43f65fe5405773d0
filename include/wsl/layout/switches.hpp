// SPDX-License-Identifier: MIT
// A route that changes: a router keeps up to four positions for each color, and control wavelets that pass it choose among them.
//   .path(red, at(1, 1), ramp >> west, switches{.pos1 = {.to = north}, .pos2 = {.to = east}, .ring = true})
// Position 0 is the path's route. A position says what changes: a side that it leaves out stays as it is in the position before. A
// wavelet from a port that the current position does not take waits in the router. See examples/16_switches.cpp.
#pragma once
#include "../core/control.hpp"
#include "../core/port.hpp"

namespace wsl {

/// When a router takes the first command out of a control wavelet that it passes on, so that the next router sees the one after it.
enum class pop : u8 {
  never,              ///< every router on the way carries out the same command
  always,             ///< the k-th router on the way carries out the k-th command
  on_advance,         ///< only if the command is advance
  on_advance_or_nop,
};

constexpr const char* name_of(pop when) {
  constexpr const char* names[] = {"never", "always", "on advance", "on advance or nop"};
  return names[static_cast<int>(when)];
}

struct switches {
  route pos1{}, pos2{}, pos3{};
  int start = 0;      ///< the position in which the fabric starts
  bool ring = false;  ///< an advance leads from the last position to position 0; else it stays in the last one
  wsl::pop pop = wsl::pop::never;
};

inline constexpr int max_positions = 4;

/// A path of phase n takes the place of the color's path on its PEs when their program, after a teardown, calls
/// `me.reopen(color, phase{n})`. All paths without a phase are phase 0, in which the fabric starts.
struct phase {
  int number = 0;
};
inline constexpr int max_phases = 16;

/// Says that a path lets no wavelet in until the PE's program reopens the color, as after a teardown.
struct starts_closed_t {};
inline constexpr starts_closed_t starts_closed{};

/// The switch of one path: its positions in full.
struct switch_record {
  int path = 0;  ///< which of the layout's paths
  route position[max_positions]{};
  int count = 0;
  int start = 0;
  bool ring = false;
  wsl::pop pop = wsl::pop::never;

  /// What the router takes and gives in some position.
  constexpr route every() const {
    route used;
    for (int i = 0; i < count; ++i) used = {used.from | position[i].from, used.to | position[i].to};
    return used;
  }
  /// Where the switch stands after a command.
  constexpr int after(command what, int at) const {
    if (what == advance) return at + 1 < count ? at + 1 : ring ? 0 : at;
    return what == reset ? 0 : at;
  }
  /// What the router makes of a control wavelet that it passes on.
  constexpr control_word passed_on(control_word w) const {
    const command what = w.head();
    const bool pops = what == advance ? pop != wsl::pop::never
                                      : pop == wsl::pop::always || (pop == wsl::pop::on_advance_or_nop && what == nop);
    return pops ? w.popped() : w;
  }
};

constexpr bool given(const route& r) { return !r.from.empty() || !r.to.empty(); }

/// The route of a position that changes the one before.
constexpr route changed(const route& before, const route& change) {
  return {change.from.empty() ? before.from : change.from, change.to.empty() ? before.to : change.to};
}

}  // namespace wsl
