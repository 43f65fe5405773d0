// SPDX-License-Identifier: MIT
// A lane leads words along a row or a column, from each PE to the next one. A router has one route for a
// color, so a PE cannot receive and send on one color; neighbours therefore alternate between two:
//
//      PE 0 --first--> PE 1 --first + 1--> PE 2 --first--> PE 3 ...
//
// The module is a constant that claims the colors, wires a layout and tells each PE on which color it hears
// and on which it sends, so that all PEs of the lane run one program. See examples/28_relay.cpp.
//   constexpr lane<f32> right{0, east};   // colors 0 and 1, in every row
//   ... on<right, &part::pass>, sends<right> ...   right.send(me, x), mov(mem(y), right.fabin(me))
#pragma once
#include "line.hpp"

namespace wsl::collective {

/// The two ends of a lane, and who is beyond them. It has four bytes, as all fields of a module have.
enum class lane_ends : int {
  closed,     ///< nothing: the first PE hears nothing, and the last one sends nothing
  ring,       ///< the last PE sends to the first, on a third color that runs back past all the others
  host,       ///< the host: it writes words to the first PE and reads those of the last
  from_host,  ///< it writes only
  to_host,    ///< it reads only
};

/// A side of a PE as a field of a module, which has four bytes.
struct heading {
  int port_bits;
  constexpr heading(port side) : port_bits(static_cast<int>(side)) {}
  constexpr operator port() const { return static_cast<port>(port_bits); }
};

template <payload T>
struct lane {
  using element = T;
  static constexpr const char* name = "lane";

  int first = 0;          ///< the first of its colors: two, or three of a ring
  heading toward = east;  ///< the side to which every PE sends
  /// each row of it is a lane, or each column if they lead north or south; it may leave rows or columns out
  /// between lanes
  area where = all;
  lane_ends ends = lane_ends::closed;

  constexpr bool is_ring() const { return ends == lane_ends::ring; }
  constexpr bool hears_host() const { return ends == lane_ends::host || ends == lane_ends::from_host; }
  constexpr bool tells_host() const { return ends == lane_ends::host || ends == lane_ends::to_host; }

  constexpr support::inplace_vector<color<T>, 3> colors() const {
    support::inplace_vector<color<T>, 3> found;
    for (int i = 0; i < 2 + is_ring(); ++i) found.push_back({first + i});
    return found;
  }
  /// The side from which wavelets come, whatever their color; for a task `void pass(pe& me, f32 x, port
  /// from)`. In a ring those of the last PE count as coming from before the first.
  constexpr port arrives_from(int) const { return opposite(toward); }

  constexpr void wire(layout& l, const char* as = name) const {
    const region r = lanes_of(l, as);
    l.claim_colors(as, first, 2 + is_ring(), r);
    wire_paths(l, as);
  }
  /// Adds only the paths and streams: for a module that has claimed the colors of several lanes.
  constexpr void wire_paths(layout& l, const char* as = name) const {
    const region r = lanes_of(l, as);
    const int n = size(r);
    for (int parity : {0, 1}) {
      const region from = cells(r, lowest_sender(parity), n - 1 + backward(), 2);
      l.path(nth(parity), from, ramp >> toward);
      l.path(nth(parity), from.empty() ? from : from.shifted(step(toward)), opposite(toward) >> ramp);
    }
    const int near_end = backward() ? n - 1 : 0, far_end = n - 1 - near_end;
    if (is_ring()) wire_return(l, r, near_end, far_end);
    if (hears_host()) open(l, heard_at(near_end), cells(r, near_end, near_end + 1), true);
    if (tells_host()) open(l, sent_at(far_end), cells(r, far_end, far_end + 1), false);
  }

  /// The color on which the host writes to the first PEs, and the one on which it reads from the last ones:
  /// `d.stream_in(line.entrance(l), words)`.
  constexpr color<T> entrance(const layout& l) const {
    return heard_at(backward() ? size(lanes_of(l, name)) - 1 : 0);
  }
  constexpr color<T> exit(const layout& l) const {
    return sent_at(backward() ? 0 : size(lanes_of(l, name)) - 1);
  }

  /// Whether this PE sends to another one, or to the host; and whether it hears one. A PE outside the area of
  /// the lane does neither.
  bool has_next(const pe& me) const {
    const region r = area_of(me);
    return r.has(me.at()) && has_next(me, r);
  }
  bool has_previous(const pe& me) const {
    const region r = area_of(me);
    return r.has(me.at()) && has_previous(me, r);
  }
  /// The color on which this PE sends. Throws fault at the end of a lane that ends there.
  color<T> out(const pe& me) const {
    const region r = lanes_of(me);
    if (!has_next(me, r)) [[unlikely]]
      faults::the_lane_ends_here(me.at(), first, "sends to", "next");
    return is_ring() && is_last(me, r) ? nth(2) : sent_at(place(me, r));
  }
  /// The color on which it hears. Throws fault at the beginning of a lane that begins there.
  color<T> in(const pe& me) const {
    const region r = lanes_of(me);
    if (!has_previous(me, r)) [[unlikely]]
      faults::the_lane_ends_here(me.at(), first, "hears", "previous");
    return is_ring() && is_first(me, r) ? nth(2) : heard_at(place(me, r));
  }

  /// One word to the next PE.
  void send(pe& me, T value) const { me.send(out(me), value); }
  /// A number of another type becomes the payload, if it does so without a cast. Throws fault if an integer
  /// does not fit.
  template <detail::other_than<T> Value>
  void send(pe& me, const Value& value) const {
    send(me, detail::as_payload<T>(value));
  }
  /// Words to the next PE as the destination of an operation, and words of the one before as a source:
  /// `me.async(add(right.fabout(me), right.fabin(me), mem(x)))`.
  fabric_output<T> fabout(const pe& me, int count = as_many_as_others) const { return {out(me), count}; }
  fabric_input<T> fabin(const pe& me, int count = as_many_as_others) const { return {in(me), count}; }

 private:
  constexpr bool in_rows() const { return toward == east || toward == west; }
  constexpr bool backward() const { return toward == west || toward == north; }
  constexpr color<T> nth(int k) const { return {first + k}; }
  // Places count from the west or north. A PE sends on the color of its place's parity and hears the other.
  constexpr color<T> sent_at(int place) const { return nth(place % 2); }
  constexpr color<T> heard_at(int place) const { return nth(1 - place % 2); }
  constexpr int lowest_sender(int parity) const { return backward() && parity == 0 ? 2 : parity; }

  constexpr int size(const region& r) const { return in_rows() ? r.columns() : r.rows(); }
  /// The PEs of all lanes at places from .. to - 1, or every n-th of them.
  constexpr region cells(const region& r, int from, int to, int every = 1) const {
    if (from >= to) return {};
    const int end = from + (to - 1 - from) / every * every + 1;
    return in_rows() ? region{r.x0 + from, r.x0 + end, r.y0, r.y1, every, r.sy}
                     : region{r.x0, r.x1, r.y0 + from, r.y0 + end, r.sx, every};
  }
  constexpr void wire_return(layout& l, const region& r, int from, int to) const {
    if (from == to) return void(l.path(nth(2), r, ramp >> ramp));  // a ring of one PE
    l.path(nth(2), cells(r, to, to + 1), ramp >> opposite(toward));
    l.path(nth(2), cells(r, 1, size(r) - 1), toward >> opposite(toward));
    l.path(nth(2), cells(r, from, from + 1), toward >> ramp);
  }
  constexpr void open(layout& l, color<T> c, const region& there, bool enters) const {
    const port side = enters ? opposite(toward) : port{toward};
    const area ends_there{there.x0, there.x1, there.y0, there.y1, there.sx, there.sy};
    if (enters) l.path(c, there, side >> ramp).stream_in(c, ends_there, side);
    else l.path(c, there, ramp >> side).stream_out(c, ends_there, side);
  }

  constexpr region lanes_of(const layout& l, const char* as) const {
    if (toward == ramp) faults::a_lane_leads_to_a_side(as);
    const int along = in_rows() ? where.sx : where.sy;
    if (along != 1) faults::a_lane_leaves_out_no_PE(as, along);
    return inside_grid(l, resolve(where, l.grid()), as);
  }
  region area_of(const pe& me) const { return resolve(where, {0, me.width(), 0, me.height()}); }
  region lanes_of(const pe& me) const {
    const region r = area_of(me);
    if (!r.has(me.at())) [[unlikely]]
      faults::a_PE_outside_the_rectangle_calls(name, me.at(), r);
    return r;
  }
  int place(const pe& me, const region& r) const { return in_rows() ? me.x() - r.x0 : me.y() - r.y0; }
  bool is_first(const pe& me, const region& r) const {
    return place(me, r) == (backward() ? size(r) - 1 : 0);
  }
  bool is_last(const pe& me, const region& r) const { return place(me, r) == (backward() ? 0 : size(r) - 1); }
  bool has_next(const pe& me, const region& r) const { return is_ring() || tells_host() || !is_last(me, r); }
  bool has_previous(const pe& me, const region& r) const {
    return is_ring() || hears_host() || !is_first(me, r);
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::lane, collective::lane_ends;
}
