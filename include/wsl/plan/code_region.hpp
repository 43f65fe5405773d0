// SPDX-License-Identifier: MIT
// A code region is a rectangle of PEs with a name and its own programs, before anybody knows where it lies
// and which colors it has. Its ports say where words leave and enter it; plan/floor_plan.hpp connects them.
//   const code_region sum = plan.region<adder>("sum", 1, 4);
//   sum.input(adder::x, west)                       on each PE along the west side, to its ramp
//   sum.output(adder::out, south)                   on each PE along the south side, from its ramp
//   sum.output(adder::out, at(0, 1), east | west)   on one PE, through the side that suits
//   sum.input(adder::x, north).to(ramp | south)     to the processor, and on to an inner path
#pragma once
#include "../layout/filters.hpp"
#include "../layout/layout.hpp"
#include "../layout/switches.hpp"
#include "faults.hpp"

namespace wsl {

namespace planning {

/// A port of a region, without the type of its words.
struct port_data {
  int region = -1;  ///< number of the code region
  const char* name = "";
  int color = -1;     ///< id, symbolic or not
  wsl::region where;  ///< inside the region
  ports sides;        ///< through which words may leave or enter these PEs
  ports inner{ramp};  ///< where they come from, or go to, inside the region
  bool is_output = false;
  bool is_switched = false;
  switches positions;
};

/// The options of a path. A layout takes them as parameters, a floor plan keeps them until it is connected.
struct path_options {
  bool joins = false, switched = false, counts = false, picks = false, indexed = false;
  switches positions;
  counter_filter counter;
  sparse_counter_filter sparse;
  range_filter range;

  constexpr void take(const detail::merge_t&) { joins = true; }
  constexpr void take(const switches& s) { switched = true, positions = s; }
  constexpr void take(const counter_filter& f) { one_filter(), counts = true, counter = f; }
  constexpr void take(const sparse_counter_filter& f) { one_filter(), picks = true, sparse = f; }
  constexpr void take(const range_filter& f) { one_filter(), indexed = true, range = f; }

 private:
  constexpr void one_filter() const {
    if (counts || picks || indexed) faults::a_path_has_one_filter(0);
  }
};

/// The calls of a layout for one type of payload.
struct payload_calls {
  void (*path)(layout& to, int color, const region& where, route how, const path_options& options);
  void (*stream)(layout& to, int color, coord at, port side, bool is_input);
};
template <payload T, class Filter>
constexpr void filtered(layout& to, color<T> c, const region& where, route how, const Filter& f, bool joins) {
  if (joins) to.path(c, where, how, merges, f);
  else to.path(c, where, how, f);
}
template <payload T>
constexpr void add_path(layout& to, int color, const region& where, route how, const path_options& o) {
  const wsl::color<T> c{color};
  if (o.switched && o.joins) to.path(c, where, how, o.positions, merges);
  else if (o.switched) to.path(c, where, how, o.positions);
  else if (o.counts) filtered(to, c, where, how, o.counter, o.joins);
  else if (o.picks) filtered(to, c, where, how, o.sparse, o.joins);
  else if (o.indexed) filtered(to, c, where, how, o.range, o.joins);
  else if (o.joins) to.path(c, where, how, merges);
  else to.path(c, where, how);
}
template <payload T>
constexpr void add_stream(layout& to, int color, coord c, port side, bool is_input) {
  if (is_input) to.stream_in(wsl::color<T>{color}, at(c.x, c.y), side);
  else to.stream_out(wsl::color<T>{color}, at(c.x, c.y), side);
}
template <payload T>
inline constexpr payload_calls calls_for{&add_path<T>, &add_stream<T>};

inline constexpr ports every_way = ports{east} | ports{west} | ports{north} | ports{south};

}  // namespace planning

/// Where words of one color leave or enter a region: one stream of words for each of its PEs.
template <payload T>
class region_port {
 public:
  constexpr explicit region_port(const planning::port_data& d) : data_(d) {}
  /// An output: where its words come from on its PEs, the ramp if not said. Other ports are those of an inner
  /// path of the region that ends here.
  constexpr region_port from(ports inner) const { return with(inner, true); }
  /// An input: where its words go, the ramp if not said. Other ports are those of an inner path that begins.
  constexpr region_port to(ports inner) const { return with(inner, false); }
  /// With switches on its PEs: an output changes where words come from, `.pos1 = {.from = south}`, an input
  /// where they go.
  constexpr region_port switched(const switches& positions) const {
    planning::port_data d = data_;
    d.is_switched = true, d.positions = positions;
    return region_port(d);
  }
  constexpr const planning::port_data& data() const { return data_; }

 private:
  constexpr region_port with(ports inner, bool is_output) const {
    if (data_.is_output != is_output) faults::outputs_come_from_and_inputs_go_to(data_.region);
    planning::port_data d = data_;
    d.inner = inner;
    return region_port(d);
  }
  planning::port_data data_;
};

/// A region of a floor plan: what `floor_plan::region` returns. It is a small value that names the region.
class code_region {
 public:
  constexpr code_region(int number, const char* name, int width, int height)
      : number_(number), name_(name), width_(width), height_(height) {}
  constexpr int number() const { return number_; }
  constexpr const char* name() const { return name_; }
  constexpr int width() const { return width_; }
  constexpr int height() const { return height_; }

  /// Words of a color leave on each PE along a side of the region.
  template <payload T>
  constexpr region_port<T> output(color<T> c, port side) const {
    return at_side(c, side, true);
  }
  /// ... or on some PEs, in coordinates of the region, through any of these sides.
  template <payload T>
  constexpr region_port<T> output(color<T> c, const area& where, ports sides = planning::every_way) const {
    return port_at(c, where, sides, true);
  }
  /// Words of a color enter on each PE along a side, or on some PEs.
  template <payload T>
  constexpr region_port<T> input(color<T> c, port side) const {
    return at_side(c, side, false);
  }
  template <payload T>
  constexpr region_port<T> input(color<T> c, const area& where, ports sides = planning::every_way) const {
    return port_at(c, where, sides, false);
  }

 private:
  template <payload T>
  constexpr region_port<T> at_side(color<T> c, port side, bool is_output) const {
    switch (side) {
      case port::east: return port_at(c, column(edge - 1), east, is_output);
      case port::west: return port_at(c, column(0), west, is_output);
      case port::north: return port_at(c, row(0), north, is_output);
      case port::south: return port_at(c, row(edge - 1), south, is_output);
      case port::ramp: break;
    }
    faults::a_port_is_at_a_side_of_its_region(name_);
  }
  template <payload T>
  constexpr region_port<T> port_at(color<T> c, const area& where, ports sides, bool is_output) const {
    const region inside{0, width_, 0, height_}, found = resolve(where, inside);
    if (found.empty() || found.x0 < 0 || found.y0 < 0 || found.x1 > width_ || found.y1 > height_)
      faults::the_port_is_outside_of_its_region(name_, width_, height_);
    if (sides.empty() || sides.has(ramp)) faults::a_port_is_at_a_side_of_its_region(name_);
    return region_port<T>({number_, name_, c.id, found, sides, ramp, is_output, false, {}});
  }

  int number_;
  const char* name_;
  int width_, height_;
};

}  // namespace wsl
