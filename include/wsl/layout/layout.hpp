// SPDX-License-Identifier: MIT
// A layout places programs on PEs and routes colors between them. It is a plain value, built by the same
// functions in a constant expression and at run time, and nothing in it grows with the number of PEs: paths
// and placements cover areas. A layout can only be checked, drawn and given to a fabric.
#pragma once
#include <bit>

#include "../core/area.hpp"
#include "../core/builder_faults.hpp"
#include "../core/machine.hpp"
#include "../core/symbolic.hpp"
#include "../support/always_false.hpp"
#include "../support/growing_vector.hpp"
#include "../support/inplace_vector.hpp"
#include "changes.hpp"
#include "program.hpp"

namespace wsl {

namespace detail {

/// An option of a path: wavelets of its color may meet in a router, and the engine defines their order.
struct merge_t {};

}  // namespace detail
inline constexpr detail::merge_t merges{};

/// One route of one color on every PE of a region.
struct path_record {
  region where = region::none();
  int color = 0;
  route how;
  bool merges = false;
  bool closed = false;  ///< the color is closed when the fabric starts
  u8 phase = 0;
  /// words from the ramp go before (1) or after (-1) those of links that want the same port
  i8 injects = 0;
  ports swaps{};  ///< sides through which wavelets leave with the other color of the pair
  const detail::payload_type* type = nullptr;

  constexpr int color_through(port side) const {
    return color ^ int { swaps.has(side) };
  }
};

/// One program on every PE of a region.
struct placement {
  region where = region::none();
  const program* what = nullptr;
  detail::color_map colors;  ///< of its symbolic colors

  /// The colors that the entries of one role name, as a mask.
  constexpr u64 colors_of(detail::role role) const { return colors(what->colors_of(role)); }
};

namespace detail {

/// A host stream: words of a color enter or leave the fabric through one side of PEs at the edge of the grid.
struct stream_record {
  region where = region::none();
  int color = 0;
  port side = port::west;
  bool inbound = true;
  const payload_type* type = nullptr;
};

/// The colors first .. first + count - 1 belong to a library module inside a region.
struct claim {
  region where = region::none();
  const char* module = "";
  int first = 0, count = 0;
};

}  // namespace detail

class layout {
 public:
  static constexpr int max_paths = 1024, max_placements = 256, max_streams = 32, max_claims = 64,
                       max_switches = 128, max_filters = 32;

  constexpr layout(const wsl::machine& target, int width, int height)
      : machine_(target), width_(width), height_(height) {
    if (width < 1 || height < 1) faults::a_grid_has_at_least_one_row_and_one_column(width, height);
    if (width > target.width || height > target.height)
      faults::the_grid_is_larger_than_the_machine(target.name, width, height, target.width, target.height);
  }

  /// Puts a program on every PE of an area: `.place<part>(all)`.
  template <class Program>
  constexpr layout& place(const area& where) {
    return put(inside(where), detail::program_of<Program>::value), *this;
  }
  template <class Program>
  constexpr layout& place(const region& where) {
    return put(where, detail::program_of<Program>::value), *this;
  }
  /// The same with the colors of its symbolic colors: `.place<relay>(all, given_colors(relay::in, red))`.
  template <class Program>
  constexpr layout& place(const area& where, const detail::color_map& colors) {
    return put(inside(where), detail::program_of<Program>::value, colors), *this;
  }
  template <class Program>
  constexpr layout& place(const region& where, const detail::color_map& colors) {
    return put(where, detail::program_of<Program>::value, colors), *this;
  }
  /// The same for a program that is chosen at run time.
  constexpr layout& place(const area& where, const program& what) { return put(inside(where), what), *this; }
  constexpr layout& place(const region& where, const program& what, const detail::color_map& colors = {}) {
    return put(where, what, colors), *this;
  }

  /// Routes a color on every PE of an area. An area without PEs (`columns(1, edge)` of a single column) adds
  /// no route; it says that at this size of the grid the color has nowhere to go, so a program may name it
  /// without having a path.
  template <payload T>
  constexpr layout& path(color<T> c, const area& where, route how) {
    return add_path(c, inside(where), how), *this;
  }
  template <payload T>
  constexpr layout& path(color<T> c, const region& where, route how) {
    return add_path(c, where, how), *this;
  }
  /// With options: `merges`, and those of switches.hpp (`switches{...}`, `phase{n}`, `starts_closed`),
  /// filters.hpp, swaps.hpp and injection.hpp.
  template <payload T, class Where, class... Options>
  constexpr layout& path(color<T> c, const Where& where, route how, const Options&... options) {
    const int before = paths_.size();
    path(c, where, how);
    if (paths_.size() > before) (give(paths_[before], options), ...);
    return *this;
  }

  template <class Color, class... Rest>
    requires(!detail::color_like<Color>)
  constexpr layout& path(const Color&, const Rest&...) {
    static_assert(
        support::always_false<Color>,
        "wsl: a path is that of a color: .path(red, area, ramp >> east) with constexpr color<f32> red{0}");
    return *this;
  }

  /// The host writes words of this color into the grid through one side of edge PEs: `stream_in(c, at(0, 0),
  /// west)`.
  template <payload T>
  constexpr layout& stream_in(color<T> c, const area& where, port side) {
    return add_stream(c, inside(where), side, true);
  }
  /// The host reads words of this color that leave the grid through one side of edge PEs.
  template <payload T>
  constexpr layout& stream_out(color<T> c, const area& where, port side) {
    return add_stream(c, inside(where), side, false);
  }

  /// A library module takes `count` colors from `first` on for itself, inside a region.
  constexpr layout& claim_colors(const char* module, int first, int count, const region& where) {
    known_color(first), known_color(first + count - 1);
    if (where.empty()) return *this;
    if (claims_.full()) faults::the_layout_has_more_modules_than_it_can_hold(max_claims);
    claims_.push_back({where, module, first, count});
    return *this;
  }

  /// Lets library modules claim their colors and add their paths: `.wire(halo, sum)`.
  template <class... Module>
  constexpr layout& wire(const Module&... modules) {
    return (modules.wire(*this), ...), *this;
  }

  /// For options of paths: a record for the last path. Requires room.
  constexpr void add(const detail::switch_record& s, const detail::change_rules& rules) {
    switches_.push_back(s), changes_by(rules);
  }
  constexpr void add(const detail::filter_record& f, const detail::change_rules& rules) {
    filters_.push_back(f), changes_by(rules);
  }
  constexpr void add_phase(int number, const detail::change_rules& rules) {
    if (number > last_phase_) last_phase_ = number;
    changes_by(rules);
  }
  constexpr void add_injection(const path_record& p) {
    if (!machine_.prefers_injected) faults::the_machine_has_no_injection_priority(machine_.name);
    if (!every_route(p).from.has(port::ramp)) faults::what_is_injected_comes_from_the_ramp(p.color);
  }
  constexpr void add_swap(int color) {
    known_color(color | 1);
    if (!machine_.swaps_colors) faults::the_machine_does_not_swap_colors(machine_.name);
    if (changes_) faults::a_layout_swaps_colors_or_changes_routes(color);
    swapped_ |= u64{3} << (color & ~1);
  }

  constexpr const wsl::machine& machine() const { return machine_; }
  constexpr int width() const { return width_; }
  constexpr int height() const { return height_; }
  constexpr region grid() const { return {0, width_, 0, height_}; }
  constexpr bool has(coord c) const { return grid().has(c); }
  constexpr const auto& paths() const { return paths_; }
  constexpr const auto& placements() const { return placements_; }
  constexpr const auto& streams() const { return streams_; }
  constexpr const auto& claims() const { return claims_; }
  constexpr const auto& switches() const { return switches_; }
  constexpr const auto& filters() const { return filters_; }
  /// The switch or the filter of a path of this layout, or null.
  constexpr const detail::switch_record* switch_of(const path_record& p) const {
    for (const detail::switch_record& s : switches_)
      if (&paths_[s.path] == &p) return &s;
    return nullptr;
  }
  constexpr const detail::filter_record* filter_of(const path_record& p) const {
    for (const detail::filter_record& f : filters_)
      if (&paths_[f.path] == &p) return &f;
    return nullptr;
  }
  /// The ports that a path uses in some position of its switch.
  constexpr route every_route(const path_record& p) const {
    const detail::switch_record* s = switch_of(p);
    return s ? s->every() : p.how;
  }
  /// Colors that were given a path on an area without PEs.
  constexpr u64 idle_colors() const { return idle_colors_; }

  /// The PEs of an area on this grid.
  constexpr region inside(const area& a) const {
    if (a.sx < 1 || a.sy < 1 || a.sx > 16 || a.sy > 16) faults::an_area_strides_by_1_to_16(a.sx, a.sy);
    return resolve(a, grid());
  }

  /// The colors of the pairs that some path swaps.
  constexpr u64 swapped_colors() const { return swapped_; }
  constexpr int last_phase() const { return last_phase_; }
  /// Whether a route can change while the fabric runs, or a filter drops wavelets.
  constexpr bool changes() const { return changes_; }
  /// The rules for such a layout, else null.
  constexpr const detail::change_rules* rules() const { return rules_; }

  /// The path of a color on one PE, or null.
  constexpr const path_record* path_at(coord c, int color, int phase = 0) const {
    for (const path_record& p : paths_)
      if (p.color == color && p.phase == phase && p.where.has(c)) return &p;
    return nullptr;
  }
  /// The route of a color on one PE, or none (both sides empty); for a route that changes, all ports that it
  /// ever uses.
  constexpr route route_at(coord c, int color) const {
    route found;
    for (const path_record& p : paths_) {
      if (p.color != color || !p.where.has(c)) continue;
      const route how = every_route(p);
      found = {found.from | how.from, found.to | how.to};
      if (last_phase_ == 0) break;
    }
    return found;
  }
  /// The color that a color of the program on one PE stands for; itself if it is not symbolic.
  template <payload T>
  constexpr color<T> color_at(coord c, color<T> named) const {
    for (const placement& p : placements_)
      if (p.where.has(c)) named.id = p.colors(named.id);
    if (detail::is_symbolic(named.id))
      faults::no_program_there_gives_the_color_one_of_the_fabric(c.x, c.y, named.id - detail::first_symbolic);
    return named;
  }
  /// The program on one PE, or null.
  constexpr const program* program_at(coord c) const {
    for (const placement& p : placements_)
      if (p.where.has(c)) return p.what;
    return nullptr;
  }

 private:
  // GCC prints a line for each function between the user's call and the fault, before the sentence: the most
  // frequent faults are called from as few functions as possible.
  constexpr bool has_color(int id) const { return id >= 0 && id < machine_.colors; }
  constexpr void known_color(int id) const {
    if (!has_color(id))
      faults::a_color_id_must_be_below_the_number_of_colors_of_the_machine(id, machine_.colors);
  }
  constexpr bool has(const region& r) const {
    return r.x0 >= 0 && r.y0 >= 0 && r.x1 <= width_ && r.y1 <= height_;
  }
  constexpr void known_strides(const region& r) const {
    if (r.sx < 1 || r.sy < 1 || r.sx > 16 || r.sy > 16) faults::an_area_strides_by_1_to_16(r.sx, r.sy);
  }
  constexpr void put(const region& r, const program& what, const detail::color_map& colors = {}) {
    if (r.empty()) return;
    if (u64 left = colors(what.symbolic()) & detail::all_symbolic;
        left && machine_.colors <= detail::first_symbolic)
      faults::the_symbolic_color_is_given_no_color(what.name,
                                                   std::countr_zero(left) - detail::first_symbolic);
    known_strides(r);
    if (!has(r)) faults::the_area_leaves_the_grid(r.x0, r.x1, r.y0, r.y1, width_, height_);
    if (placements_.full()) faults::the_layout_has_more_placements_than_it_can_hold(max_placements);
    placements_.push_back({r, &what, colors});
  }
  template <payload T>
  constexpr void add_path(color<T> c, const region& r, route how) {
    if (!has_color(c.id))
      faults::a_color_id_must_be_below_the_number_of_colors_of_the_machine(c.id, machine_.colors);
    if (how.from.empty() || how.to.empty())
      faults::a_path_needs_a_port_to_come_from_and_a_port_to_go_to(c.id);
    if (r.empty()) {
      idle_colors_ |= detail::color_bit(c.id);
      return;
    }
    known_strides(r);
    if (!has(r)) faults::the_area_leaves_the_grid(r.x0, r.x1, r.y0, r.y1, width_, height_);
    if (paths_.full()) faults::the_layout_has_more_paths_than_it_can_hold(max_paths);
    paths_.push_back({.where = r, .color = c.id, .how = how, .type = &detail::payload_type_of<T>});
  }

  constexpr void changes_by(const detail::change_rules& rules) {
    if (swapped_) faults::a_layout_swaps_colors_or_changes_routes(std::countr_zero(swapped_));
    rules_ = &rules;
    changes_ = true;
  }
  constexpr void give(path_record& p, detail::merge_t) { p.merges = true; }
  template <class Option>
  constexpr void give(path_record& p, const Option& option) {
    option.give_to(*this, p);
  }

  template <payload T>
  constexpr layout& add_stream(color<T> c, const region& where, port side, bool inbound) {
    known_color(c.id);
    if (where.empty()) return *this;
    known_strides(where);
    if (!has(where))
      faults::the_area_leaves_the_grid(where.x0, where.x1, where.y0, where.y1, width_, height_);
    const coord first = where.nth(0) + step(side), last = where.nth(where.count() - 1) + step(side);
    const bool one_line = side == port::east || side == port::west ? where.columns() == 1 : where.rows() == 1;
    if (side == port::ramp || !one_line || has(first) || has(last))
      faults::a_stream_enters_or_leaves_through_a_side_of_the_grid(c.id);
    if (streams_.full()) faults::the_layout_has_more_streams_than_it_can_hold(max_streams);
    streams_.push_back({where, c.id, side, inbound, &detail::payload_type_of<T>});
    return *this;
  }

  wsl::machine machine_;
  int width_, height_;
  u64 idle_colors_ = 0, swapped_ = 0;
  int last_phase_ = 0;
  const detail::change_rules* rules_ = nullptr;
  // a flag, because a constant expression may not compare the address of a function that may be discarded
  bool changes_ = false;
  support::growing_vector<path_record, max_paths> paths_;
  support::growing_vector<placement, max_placements> placements_;
  support::growing_vector<detail::stream_record, max_streams> streams_;
  support::inplace_vector<detail::claim, max_claims> claims_;
  support::growing_vector<detail::switch_record, max_switches> switches_;
  support::growing_vector<detail::filter_record, max_filters> filters_;
};

}  // namespace wsl
