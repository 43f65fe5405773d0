// SPDX-License-Identifier: MIT
// A floor plan places code regions on the wafer and connects their ports: it finds ways for the wavelets
// around other regions, gives colors to all symbolic ones, and makes a layout of it, in a constant expression
// or at run time. See docs/guide/regions.md and examples/104_ports_and_connections.cpp.
//   constexpr layout l = [] {
//     floor_plan p{wse2, 9, 3};
//     const auto a = p.region<sender>("a", 1, 1), b = p.region<receiver>("b", 1, 1);
//     p.place(a, {1, 1}).place(b, {7, 1});
//     p.connect(a.output(sender::out, east), b.input(receiver::in, west));
//     return p.connected();
//   }();
//   static_assert(routed<l>());
#pragma once
#include <string>
#include <vector>

#include "../support/always_false.hpp"
#include "connector.hpp"
#include "report.hpp"
#include "stacking.hpp"

namespace wsl {

/// An option of a connection from one PE to several: each gets so many words in turn.
struct deals {
  int words = 0;
};

namespace planning {
struct by_turns_t {};
}  // namespace planning
/// An option of connections that share an output or an input, of which one is open at a time.
inline constexpr planning::by_turns_t by_turns{};

class floor_plan {
 public:
  constexpr floor_plan(const wsl::machine& target, int width, int height)
      : floor_plan(layout{target, width, height}) {}
  /// On a layout that has paths, programs and modules already: connections keep off its colors where it has
  /// paths or modules claim them, and off the PEs of its programs.
  constexpr explicit floor_plan(const layout& base) : base_(base) {}

  /// A region of so many PEs, each of which runs a program. The name is not copied, and must live as long as
  /// the plan; so must those below.
  template <class Program>
  constexpr code_region region(const char* name, int width, int height) {
    const code_region r = region(name, width, height);
    place<Program>(r, all);
    return r;
  }
  /// A region without programs; `place` puts them in.
  constexpr code_region region(const char* name, int width, int height) {
    if (width < 1 || height < 1) faults::a_region_has_at_least_one_row_and_one_column(name, width, height);
    if (regions_.size() == 32000) faults::a_floor_plan_has_at_most_32000_regions(0);
    regions_.push_back({name, width, height, {}, false});
    return {static_cast<int>(regions_.size()) - 1, name, width, height};
  }
  /// A program on some PEs of a region, in coordinates of the region: `p.place<adder>(r, column(0))`.
  template <class Program>
  constexpr floor_plan& place(const code_region& r, const area& where) {
    programs_.push_back({known(r), inside(r, where), &detail::program_of<Program>::value});
    return *this;
  }
  /// An inner path of a region, as `layout::path` has it, of a symbolic color or one of the fabric. Its
  /// options are `merges`, or `switches`, or a filter, whose `per_column` and `per_row` count from the first
  /// PE of the path.
  template <payload T, class... Option>
  constexpr floor_plan& path(const code_region& r, color<T> c, const area& where, route how,
                             const Option&... options) {
    const wsl::region there = inside(r, where);
    known_color(c.id);
    if (there.empty()) return *this;
    planning::path_options taken;
    (taken.take(options), ...);
    inner_.push_back({known(r), c.id, there, how, taken, &planning::calls_for<T>});
    return *this;
  }

  /// The place of a region: its PE in the north-west corner.
  constexpr floor_plan& place(const code_region& r, coord north_west) {
    planning::region_record& to = regions_[static_cast<std::size_t>(known(r))];
    if (to.is_placed) faults::the_region_is_placed_twice(to.name);
    if (north_west.x < 0 || north_west.y < 0 || north_west.x > base_.width() - to.width ||
        north_west.y > base_.height() - to.height)
      faults::the_region_leaves_the_grid(to.name, north_west.x, north_west.y, base_.width(), base_.height());
    to.at = north_west, to.is_placed = true;
    return *this;
  }
  /// The first region at a place and the others to its east, with `gap` free columns between each two.
  /// Regions that nobody places are placed by `connected`.
  constexpr floor_plan& hstack(coord north_west, int gap, std::initializer_list<code_region> in_a_row) {
    for (const code_region& r : in_a_row) place(r, north_west), north_west.x += r.width() + on_grid(gap);
    return *this;
  }
  constexpr floor_plan& vstack(coord north_west, int gap, std::initializer_list<code_region> in_a_column) {
    for (const code_region& r : in_a_column) place(r, north_west), north_west.y += r.height() + on_grid(gap);
    return *this;
  }

  /// Words of an output go to an input. Ports of as many PEs are connected one by one, in row-major order;
  /// one PE with several sends to all of them. An output may be connected to several inputs, too.
  template <payload T>
  constexpr floor_plan& connect(const region_port<T>& from, const region_port<T>& to) {
    return add(from.data(), to.data(), &planning::calls_for<T>, false);
  }
  /// With the option `merges`, words of several outputs may come to one PE, in any order.
  template <payload T>
  constexpr floor_plan& connect(const region_port<T>& from, const region_port<T>& to,
                                const detail::merge_t&) {
    return add(from.data(), to.data(), &planning::calls_for<T>, true);
  }
  /// With `by_turns`, connections that begin or end at one PE have one color and one queue there, and a
  /// switch lets them through one after the other, in the order in which they are made: an output ends its
  /// turn with `me.send_control(color, switch_adv)`, which its program declares (`steers`), and after the
  /// last it is the first one's turn again. Each needs a side of that PE, so there are at most four.
  template <payload T>
  constexpr floor_plan& connect(const region_port<T>& from, const region_port<T>& to,
                                const planning::by_turns_t&) {
    if (from.data().is_switched || to.data().is_switched)
      faults::a_port_of_turns_has_its_own_switches(name(from.data()), name(to.data()));
    add(from.data(), to.data(), &planning::calls_for<T>, true);  // n to 1 is possible, as with merges
    connections_.back().merges = false, connections_.back().by_turns = true;
    return *this;
  }
  template <payload T, class Other>
  constexpr floor_plan& connect(const region_port<T>&, const region_port<T>&, const planning::by_turns_t&,
                                const Other&) {
    static_assert(support::always_false<Other>, "wsl: by_turns is the only option of a connection");
    return *this;
  }
  /// With `deals{.words = n}`, the first PE of the input gets the first n words, the second one the next n,
  /// and so on, from the beginning again after the last: one output for all of them (CSL's demultiplexer).
  template <payload T>
  constexpr floor_plan& connect(const region_port<T>& from, const region_port<T>& to, const deals& how) {
    if (how.words < 1 || from.data().where.count() != 1) faults::one_output_deals_words(name(from.data()));
    return add(from.data(), to.data(), &planning::calls_for<T>, false, how.words);
  }
  /// The host writes words into a port, or reads them from one: a way from, or to, some PE at that side of
  /// the grid, for each PE of the port.
  template <payload T>
  constexpr floor_plan& stream_in(const region_port<T>& to, port side) {
    return add_host(to.data(), side, false, &planning::calls_for<T>);
  }
  template <payload T>
  constexpr floor_plan& stream_in(const region_port<T>&, port, const planning::by_turns_t&) {
    static_assert(support::always_false<T>,
                  "wsl: streams of the host take no turns: let them enter a region that does");
    return *this;
  }
  /// The words of one stream are dealt out over the PEs of the port.
  template <payload T>
  constexpr floor_plan& stream_in(const region_port<T>& to, port side, const deals& how) {
    if (how.words < 1) faults::one_output_deals_words("the host");
    return add_host(to.data(), side, false, &planning::calls_for<T>, how.words);
  }
  template <payload T>
  constexpr floor_plan& stream_out(const region_port<T>& from, port side) {
    return add_host(from.data(), side, true, &planning::calls_for<T>);
  }

  /// The layout: regions placed, connections routed, colors given. A fault says what cannot be done, and
  /// which regions it is about. The checker still has the last word: `routed`, `check`, `fabric`.
  constexpr layout connected() const {
    std::vector<planning::region_record> placed = regions_;
    planning::place_the_rest(placed, connections_, base_.width(), base_.height());
    planning::connector c(base_, placed, programs_, inner_, connections_);
    return c.connect();
  }
  /// A table of the connections: from where to where, color, hops, PEs that it passes.
  std::string table() const {
    std::vector<planning::region_record> placed = regions_;
    planning::place_the_rest(placed, connections_, base_.width(), base_.height());
    planning::connector c(base_, placed, programs_, inner_, connections_);
    return c.connect(), c.table();
  }

 private:
  /// A gap beyond the grid leads as far beyond it as any other.
  constexpr int on_grid(int gap) const {
    const int most = base_.width() + base_.height();
    return gap > most ? most : gap < -most ? -most : gap;
  }
  constexpr int known(const code_region& r) const {
    if (r.number() < 0 || static_cast<std::size_t>(r.number()) >= regions_.size() ||
        regions_[static_cast<std::size_t>(r.number())].name != r.name())
      faults::the_region_is_of_another_floor_plan(r.number());
    return r.number();
  }
  /// A color of the fabric must be one of this machine.
  constexpr void known_color(int id) const {
    const int colors = base_.machine().colors;
    const bool known = id >= 0 && id < detail::max_colors && (detail::is_symbolic(id) || id < colors);
    if (!known) faults::a_color_id_must_be_below_the_number_of_colors_of_the_machine(id, colors);
  }
  constexpr wsl::region inside(const code_region& r, const area& where) const {
    const wsl::region found = resolve(where, {0, r.width(), 0, r.height()});
    if (!found.empty() && (found.x0 < 0 || found.y0 < 0 || found.x1 > r.width() || found.y1 > r.height()))
      faults::the_area_is_outside_of_its_region(r.name(), r.width(), r.height());
    return found;
  }
  constexpr floor_plan& add(const planning::port_data& from, const planning::port_data& to,
                            const planning::payload_calls* calls, bool may_merge, int deal = 0) {
    const char *a = name(from), *b = name(to);
    known_color(from.color), known_color(to.color);
    if (!from.is_output || to.is_output) faults::an_output_is_connected_to_an_input(a, b);
    const int n = from.where.count(), m = to.where.count();
    if (n != m && n != 1 && !(m == 1 && may_merge))
      faults::the_ports_have_different_numbers_of_pes(a, n, b, m);
    for (const planning::connection& c : connections_)
      if (same(c.from, from) && same(c.to, to)) faults::the_ports_are_connected_already(a, b);
    connections_.push_back({from, to, ports{}, may_merge, false, deal, calls});
    return *this;
  }
  constexpr floor_plan& add_host(const planning::port_data& here, port side, bool out,
                                 const planning::payload_calls* calls, int deal = 0) {
    const char* a = name(here);
    known_color(here.color);
    if (here.is_output != out)
      faults::an_output_is_connected_to_an_input(out ? a : "the host", out ? "the host" : a);
    if (side == ramp) faults::a_port_is_at_a_side_of_its_region(a);
    const planning::port_data outside;
    connections_.push_back({out ? here : outside, out ? outside : here, side, false, false, deal, calls});
    return *this;
  }
  static constexpr bool same(const planning::port_data& a, const planning::port_data& b) {
    return a.region == b.region && a.color == b.color && a.where == b.where;
  }
  /// The name of a port's region, which is one of this plan.
  constexpr const char* name(const planning::port_data& p) const {
    if (p.region < 0 || static_cast<std::size_t>(p.region) >= regions_.size())
      faults::the_region_is_of_another_floor_plan(p.region);
    const planning::region_record& r = regions_[static_cast<std::size_t>(p.region)];
    if (r.name != p.name || p.where.x1 > r.width || p.where.y1 > r.height)
      faults::the_region_is_of_another_floor_plan(p.region);
    return r.name;
  }

  layout base_;
  std::vector<planning::region_record> regions_;
  std::vector<planning::program_record> programs_;
  std::vector<planning::inner_path> inner_;
  std::vector<planning::connection> connections_;
};

}  // namespace wsl
