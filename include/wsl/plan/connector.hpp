// SPDX-License-Identifier: MIT
// Makes a layout of a floor plan: connections become nets, nets get ways, classes of nets get colors, and all
// of that becomes placements, paths and streams. Where colors run out, all nets are routed anew and avoid
// sharing PEs more, above all those where it failed (a negotiation, after L. McMurchie, C. Ebeling,
// PathFinder, 1995).
#pragma once
#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coloring.hpp"
#include "exhaustive.hpp"
#include "path_list.hpp"
#include "records.hpp"
#include "router.hpp"
#include "turn_list.hpp"

namespace wsl::planning {

class connector {
 public:
  constexpr connector(const layout& base, const std::vector<region_record>& regions,
                      const std::vector<program_record>& programs, const std::vector<inner_path>& inner,
                      const std::vector<connection>& connections)
      : base_(base),
        regions_(regions),
        programs_(programs),
        inner_(inner),
        connections_(connections),
        grid_(base.width(), base.height()),
        class_of_(static_cast<int>(regions.size()) * max_ids) {}

  constexpr layout connect() {
    settle();
    find_classes();
    for (std::size_t k = 0; k < connections_.size(); ++k) add_nets(static_cast<int>(k));
    sort_nets();
    color_somehow();
    return made();
  }

  /// After `connect`: a line for each connection.
  std::string table() const;

 private:
  static constexpr int max_ids = 64, rounds = 8;
  static constexpr std::size_t small_grid = 400;   // PEs: beyond, it is not tried to solve everything
  static constexpr std::size_t many_pieces = 500;  // from here on a layout has hardly room for more

  // ---- regions on the grid

  constexpr void settle() {
    for (const placement& p : base_.placements())
      for (int i = 0; i < p.where.count(); ++i) grid_.set_owner(p.where.nth(i), territory::of_layout);
    for (std::size_t k = 0; k < regions_.size(); ++k) {
      const wsl::region r = regions_[k].on_grid();
      for (int y = r.y0; y < r.y1; ++y)
        for (int x = r.x0; x < r.x1; ++x) {
          const int owner = grid_.owner({x, y});
          if (owner == territory::of_layout)
            faults::a_region_overlaps_a_program_of_the_layout(regions_[k].name, x, y);
          if (owner != territory::free)
            faults::two_regions_overlap(regions_[k].name, regions_[static_cast<std::size_t>(owner)].name, x,
                                        y);
          grid_.set_owner({x, y}, static_cast<int>(k));
        }
    }
  }

  // ---- classes: the colors of regions that must be one

  constexpr std::size_t node(int region, int color) const {
    return static_cast<std::size_t>(region * max_ids + color);
  }
  constexpr int node_class(int region, int color) const { return class_of(node(region, color)); }
  constexpr int class_of(std::size_t n) const { return class_of_.data()[n] - 1; }

  constexpr void find_classes() {
    rules::scratch<int> leaders(class_of_.size());  // plus 1
    int* const leader = leaders.data();
    const auto root = [&](std::size_t n) {
      while (leader[n] != static_cast<int>(n) + 1) n = static_cast<std::size_t>(leader[n] - 1);
      return n;
    };
    const auto use = [&](int region, int color) {
      const std::size_t n = node(region, color);
      if (leader[n] == 0) leader[n] = static_cast<int>(n) + 1;
      return root(n);
    };
    for (const connection& c : connections_) {
      const bool both = c.from.region >= 0 && c.to.region >= 0;
      if (c.from.region >= 0) use(c.from.region, c.from.color);
      if (c.to.region >= 0) use(c.to.region, c.to.color);
      if (both) leader[use(c.to.region, c.to.color)] = static_cast<int>(use(c.from.region, c.from.color)) + 1;
    }
    for (const inner_path& p : inner_) use(p.region, p.color);
    for (const program_record& p : programs_)
      for (u64 left = p.what->symbolic(); left; left &= left - 1)
        if (const int id = std::countr_zero(left); leader[node(p.region, id)] == 0)
          faults::the_symbolic_color_is_connected_to_nothing(
              regions_[static_cast<std::size_t>(p.region)].name, p.what->name, id - detail::first_symbolic);
    int* const of = class_of_.data();
    for (std::size_t n = 0, all = static_cast<std::size_t>(class_of_.size()); n < all; ++n) {
      if (leader[n] == 0) continue;
      const std::size_t first = root(n);
      if (of[first] == 0) of[first] = ++classes_, fixed_.push_back(-1);
      of[n] = of[first];
      const int k = class_of(n), id = static_cast<int>(n) % max_ids;
      used_.push_back(n);
      const char* region = regions_[n / max_ids].name;
      for (std::size_t i = used_.size() - 1; i-- > 0 && used_[i] / max_ids == n / max_ids;)
        if (class_of(used_[i]) == k) report_one_color(region, static_cast<int>(used_[i]) % max_ids, id);
      int& fixed = fixed_[static_cast<std::size_t>(k)];
      if (detail::is_symbolic(id)) continue;
      if (fixed >= 0 && fixed != id) faults::a_class_has_two_colors(region, fixed, id);
      fixed = id;
    }
  }

  static constexpr void report_one_color(const char* region, int one, int other) {
    if (detail::is_symbolic(one))
      faults::a_region_has_two_symbolic_colors_for_one(region, one - detail::first_symbolic,
                                                       other - detail::first_symbolic);
    if (detail::is_symbolic(other))
      faults::a_region_has_two_names_for_one_color(region, one, other - detail::first_symbolic);
    faults::a_class_has_two_colors(region, one, other);
  }

  // ---- nets

  constexpr net_end end_of(const port_data& p, int nth, ports host_side) const {
    net_end e;
    e.sides = host_side;
    if (p.region < 0) return e;
    const wsl::region on_grid = regions_[static_cast<std::size_t>(p.region)].on_grid(p.where);
    e.at = on_grid.nth(nth), e.sides = p.sides, e.inner = p.inner, e.region = p.region;
    if (p.is_switched) e.positions = &p.positions;
    return e;
  }
  constexpr void add_nets(int number) {
    const connection& c = connections_[static_cast<std::size_t>(number)];
    const bool from_host = c.from.region < 0, to_host = c.to.region < 0;
    const int of_class =
        from_host ? node_class(c.to.region, c.to.color) : node_class(c.from.region, c.from.color);
    const int outputs = from_host ? c.to.where.count() : c.from.where.count(),
              inputs = to_host ? outputs : c.to.where.count();
    if (from_host && c.deal > 0) {  // one way in, from which all get their parts
      net n;
      n.of_class = of_class, n.root = end_of(c.from, 0, c.host_side), n.calls = c.calls,
      n.connection = number;
      for (int i = 0; i < inputs; ++i) {
        n.leaves.push_back(end_of(c.to, i, c.host_side));
        n.leaves.back().deal = {c.deal, i * c.deal, inputs * c.deal};
      }
      nets_.push_back(n);
      return;
    }
    for (int i = 0; i < (outputs > inputs ? outputs : inputs); ++i) {
      const net_end from = end_of(c.from, outputs == 1 ? 0 : i, c.host_side);
      net_end to = end_of(c.to, inputs == 1 ? 0 : i, c.host_side);
      if (c.deal > 0) to.deal = {c.deal, i * c.deal, inputs * c.deal};
      add_link(of_class, from, to, c, number);
    }
  }
  /// A net with the same source goes to one more sink; one that comes to the same sink merges. Those that
  /// take turns stay apart.
  constexpr void add_link(int of_class, const net_end& from, const net_end& to, const connection& c,
                          int number) {
    int leaving = 1, coming = 1;  // with this one
    if (c.by_turns) must_end_its_turn(from, to, c);
    for (const net& n : nets_) {
      if (n.of_class != of_class || !(n.by_turns || c.by_turns)) continue;
      const bool leaves = from.at != nowhere && begins_at(n, from.at),
                 comes = to.at != nowhere && ends_at(n, to.at);
      if (leaves && comes && n.by_turns && c.by_turns) return;
      if ((leaves || comes) && n.by_turns != c.by_turns)
        faults::all_connections_of_a_port_take_turns(region_name(from.region), region_name(to.region));
      if ((leaves && n.root.inner != from.inner) || (comes && n.leaves[0].inner != to.inner))
        faults::turns_at_a_port_have_one_inner_side(region_name(from.region), region_name(to.region));
      leaving += leaves, coming += comes;
    }
    for (const auto& [end, turns] : {std::pair{&from, leaving}, std::pair{&to, coming}})
      if (const int sides = open_sides(*end); c.by_turns && turns > sides)
        faults::each_turn_has_a_side(region_name(end->region), end->at.x, end->at.y, turns, sides);
    for (net& n : nets_) {
      if (n.of_class != of_class || c.by_turns) continue;
      const char* name = region_name(n.root.region);
      const bool same_source = from.at != nowhere && !n.merges && n.root.at == from.at,
                 single = !n.merges && n.leaves.size() == 1,
                 same_sink =
                     to.at != nowhere && (n.merges ? n.root.at == to.at : single && n.leaves[0].at == to.at);
      if (same_source && same_sink) return;
      if (same_source) {
        n.leaves.push_back(to);
        return;
      }
      if (!n.merges && !single && to.at != nowhere)
        for (const net_end& e : n.leaves)
          if (e.at == to.at)
            faults::a_connection_forks_or_merges(region_name(from.region), region_name(to.region));
      if (!same_sink) continue;
      if (!c.merges || !connections_[static_cast<std::size_t>(n.connection)].merges)
        faults::several_outputs_lead_to_one_input(name, region_name(from.region), region_name(to.region));
      if (!n.merges) std::swap(n.root, n.leaves[0]), n.merges = true;
      n.leaves.push_back(from);
      return;
    }
    net n;
    n.of_class = of_class, n.root = from, n.calls = c.calls, n.connection = number, n.by_turns = c.by_turns;
    n.beside = c.from.where.count() > 1 || c.to.where.count() > 1;
    n.leaves.push_back(to);
    nets_.push_back(n);
  }
  static constexpr bool begins_at(const net& n, coord at) {
    return n.merges ? has_leaf(n, at) : n.root.at == at;
  }
  static constexpr bool ends_at(const net& n, coord at) {
    return n.merges ? n.root.at == at : has_leaf(n, at);
  }
  static constexpr bool has_leaf(const net& n, coord at) {
    for (const net_end& e : n.leaves)
      if (e.at == at) return true;
    return false;
  }
  /// Whether no other net takes turns with this one.
  constexpr bool takes_all_turns(std::size_t k) const {
    const net& n = nets_[k];
    for (const net& other : nets_)
      if (&other != &n && other.of_class == n.of_class && other.by_turns &&
          (other.root.at == n.root.at || other.leaves[0].at == n.leaves[0].at))
        return false;
    return true;
  }
  /// The sides of a port behind which there is a PE.
  constexpr int open_sides(const net_end& e) const {
    int n = 0;
    for (const port side : every_side) n += e.sides.has(side) && grid_.has(e.at + step(side));
    return n;
  }
  /// The program whose words a connection takes sends control wavelets. Those of an inner path may come from
  /// several.
  constexpr void must_end_its_turn(const net_end& from, const net_end& to, const connection& c) const {
    if (!from.inner.has(ramp)) return;
    for (const program_record& p : programs_) {
      if (p.region != from.region ||
          !regions_[static_cast<std::size_t>(p.region)].on_grid(p.where).has(from.at))
        continue;
      bool ends = false;
      for (const detail::binding& b : *p.what)
        ends = ends || (b.what == detail::role::steer && b.id == c.from.color &&
                        (b.commands & detail::command_bit(switch_adv)));
      if (!ends)
        faults::the_program_does_not_end_its_turn(region_name(from.region), region_name(to.region),
                                                  p.what->name, from.at.x, from.at.y);
    }
  }
  constexpr const char* region_name(int region) const {
    return region < 0 ? "the host" : regions_[static_cast<std::size_t>(region)].name;
  }
  static constexpr int length(const net& n) {
    if (n.root.at == nowhere || n.leaves[0].at == nowhere) return 0;
    return distance(n.root.at, n.leaves[0].at);
  }
  /// Short nets first: they have the fewest ways.
  constexpr void sort_nets() {
    std::vector<long> keys;
    for (std::size_t k = 0; k < nets_.size(); ++k)
      keys.push_back(length(nets_[k]) * 0x100000L + static_cast<long>(k));
    std::sort(keys.begin(), keys.end());
    for (const long key : keys) order_.push_back(static_cast<std::size_t>(key & 0xfffff));
  }

  // ---- ways and colors

  constexpr void color_somehow() {
    router find(grid_);
    for (int round = 0, early = 0;;) {
      if (const int lost = find_ways(find, round == 0 ? 0 : (router::hop / 8) << round); lost >= 0) {
        // nets of one color are in each other's way: perhaps not in another order
        const int of_class = nets_[static_cast<std::size_t>(lost)].of_class;
        if (++early == 1) {
          reverse_order(of_class);
          continue;
        }
        if (!negotiates(of_class)) {
          negotiating_.push_back(of_class);
          continue;
        }
        if (tries_everything()) return;
        negotiating_.clear();
        const int first = find_ways(find, 0);
        report_no_way(nets_[static_cast<std::size_t>(first < 0 ? lost : first)], find);
      }
      coloring colors = conflicts();
      int failed = -1;
      for (const int k : colors.run())
        if (failed < 0 && !goes_around(k, colors, find)) failed = k;
      if (failed < 0) {
        for (int k = 0; k < classes_; ++k) color_.push_back(colors.color(k));
        return;
      }
      if (round == rounds) {
        if (tries_everything()) return;
        report_no_color(colors, failed);
      }
      penalize(failed);
      ++round;
    }
  }
  constexpr void reverse_order(int of_class) {
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < order_.size(); ++k)
      if (nets_[order_[k]].of_class == of_class) places.push_back(k);
    for (std::size_t k = 0; 2 * k + 1 < places.size(); ++k)
      std::swap(order_[places[k]], order_[places[places.size() - 1 - k]]);
  }
  /// On a small grid, looks for any solution.
  constexpr bool tries_everything() {
    if (grid_.size() > small_grid) return false;
    std::vector<exhaustive::class_rules> rules(static_cast<std::size_t>(classes_), exhaustive::class_rules{});
    const u64 all = conflicts().all();
    for (int k = 0; k < classes_; ++k) {
      rules[static_cast<std::size_t>(k)].allowed = all & allowed_colors(k);
      rules[static_cast<std::size_t>(k)].fixed = fixed_[static_cast<std::size_t>(k)];
    }
    for (const std::size_t n : used_)
      for (const std::size_t other : used_)
        if (n != other && n / max_ids == other / max_ids)
          rules[static_cast<std::size_t>(class_of(n))].apart.push_back(class_of(other));
    for (const inner_path& p : inner_)
      each_pe(p, [&](coord c) {
        rules[static_cast<std::size_t>(node_class(p.region, p.color))].inner.push_back(c);
      });
    const std::vector<u64> own = colors_of_programs();
    std::vector<u64> barred;
    for (std::size_t i = 0; i < grid_.size(); ++i) barred.push_back(barred_at(grid_.at(i), -1, own));
    exhaustive find(grid_, nets_, rules, barred, std::is_constant_evaluated() ? 5'000 : 5'000'000);
    if (!find.solve()) return false;
    for (std::size_t k = 0; k < nets_.size(); ++k) ways_[k] = find.way(k);
    for (int k = 0; k < classes_; ++k) color_.push_back(find.color(k));
    return true;
  }
  /// For a class that finds no color where it goes: gives it one, and leads it around all others of this
  /// color.
  constexpr bool goes_around(int of_class, coloring& colors, router& find) {
    if (fixed_[static_cast<std::size_t>(of_class)] >= 0) return false;
    u64 possible = colors.all() & allowed_colors(of_class);
    for (const std::size_t n : used_)
      if (class_of(n) == of_class)
        for (const std::size_t other : used_)
          if (other / max_ids == n / max_ids && other != n && colors.color(class_of(other)) >= 0)
            possible &= ~(u64{1} << colors.color(class_of(other)));
    const std::vector<u64> own = colors_of_programs();
    std::vector<net_route> before;
    for (std::size_t k = 0; k < nets_.size(); ++k)
      if (nets_[k].of_class == of_class) before.push_back(ways_[k]);
    // short detours first: a search for a long one, or for one that there is not, looks at the whole grid
    for (int nth = 0; nth < 2 * max_ids; ++nth) {
      const int color = nth % max_ids;
      if (!(possible >> color & 1)) continue;
      nth < max_ids ? find.give_up_beyond(2, 64) : find.give_up_beyond(0, 0);
      find.keep_off([&](auto keep_off) {
        for (std::size_t k = 0; k < nets_.size(); ++k)
          if (colors.color(nets_[k].of_class) == color)
            for (const net_step& s : ways_[k].steps) keep_off(s.at);
        for (const inner_path& p : inner_)
          if (colors.color(node_class(p.region, p.color)) == color) each_pe(p, keep_off);
        for (const path_record& p : base_.paths())
          for (int i = 0; p.color == color && i < p.where.count(); ++i) keep_off(p.where.nth(i));
        for (const auto& m : base_.claims())
          for (int i = 0; color >= m.first && color < m.first + m.count && i < m.where.count(); ++i)
            keep_off(m.where.nth(i));
      });
      if (!is_free(of_class, color, colors, own)) continue;
      if (!leads_again(of_class, find)) continue;
      colors.fix(of_class, color);
      find.give_up_beyond(0, 0);
      return true;
    }
    find.give_up_beyond(0, 0);
    std::size_t n = 0;
    for (std::size_t k = 0; k < nets_.size(); ++k)
      if (nets_[k].of_class == of_class) settle_way(k, before[n++]);
    return false;
  }
  template <class F>
  constexpr void each_pe(const inner_path& p, F f) const {
    const wsl::region there = regions_[static_cast<std::size_t>(p.region)].on_grid(p.where);
    for (int i = 0; i < there.count(); ++i) f(there.nth(i));
  }
  /// Whether a color is free where a class must be: at its ends and on its inner paths.
  constexpr bool is_free(int of_class, int color, const coloring& colors, const std::vector<u64>& own) const {
    bool free = true;
    const auto look = [&](coord c) {
      if (c == nowhere) return;
      grid_.each(c, [&](int other, int) { free &= other == of_class || colors.color(other) != color; });
      free &= (barred_at(c, of_class, own) >> color & 1) == 0;
    };
    for (const net& n : nets_) {
      if (n.of_class != of_class) continue;
      look(n.root.at);
      for (const net_end& e : n.leaves) look(e.at);
    }
    for (const inner_path& p : inner_)
      if (node_class(p.region, p.color) == of_class) each_pe(p, look);
    return free;
  }
  /// New ways for the nets of a class. False if one finds none; then the others may have changed.
  constexpr bool leads_again(int of_class, router& find) {
    for (std::size_t k = 0; k < nets_.size(); ++k)
      if (nets_[k].of_class == of_class) take_up(k);
    if (negotiates(of_class)) return negotiate(of_class, find, 0) < 0;
    for (const std::size_t k : order_)
      if (nets_[k].of_class == of_class && !find_way(k, find, 0)) return false;
    return true;
  }
  /// Whether the nets of a class find their ways only together.
  constexpr bool negotiates(int of_class) const {
    return std::find(negotiating_.begin(), negotiating_.end(), of_class) != negotiating_.end();
  }
  /// Ways for all nets of a class, none of which has one yet. At first they may share PEs; where they do it
  /// becomes dearer each time, until they go around each other. Returns a net that finds no way, or -1.
  constexpr int negotiate(int of_class, router& find, int sharing) {
    std::vector<std::size_t> own;
    for (const std::size_t k : order_)
      if (nets_[k].of_class == of_class) own.push_back(k);
    int most = 12;
    if (!std::is_constant_evaluated()) most = own.size() < 100 ? 60 : 20;
    int lost = static_cast<int>(own.front());
    for (int time = 1; time <= most; ++time) {
      find.share_with_own(time);
      lost = -1;
      for (const std::size_t k : own) {
        take_up(k);
        if (!find_way(k, find, sharing)) lost = static_cast<int>(k);
        if (lost >= 0) break;
      }
      if (lost >= 0) break;  // it is not for the others
      for (const std::size_t k : own)
        for (const net_step& s : ways_[k].steps)
          if (!is_end(nets_[k], s.at) && grid_.on(grid_.index(s.at), of_class).own > 1)
            find.note_meeting(s.at), lost = static_cast<int>(k);
      if (lost < 0) break;
    }
    find.share_with_own(0);
    return lost;
  }
  constexpr void take_up(std::size_t k) {
    for (const net_step& s : ways_[k].steps)
      if (!is_end(nets_[k], s.at)) grid_.remove(s.at, static_cast<int>(k));
    ways_[k] = {};
  }
  constexpr void settle_way(std::size_t k, net_route way) {
    take_up(k);
    ways_[k] = std::move(way);
    for (const net_step& s : ways_[k].steps)
      if (!is_end(nets_[k], s.at)) grid_.add(s.at, nets_[k].of_class, static_cast<int>(k));
  }
  /// The number of a net that finds no way, or -1.
  constexpr int find_ways(router& find, int sharing) {
    grid_.clear_guests();
    for (const inner_path& p : inner_)
      each_pe(p, [&](coord c) { grid_.add(c, node_class(p.region, p.color), -1); });
    for (std::size_t k = 0; k < nets_.size(); ++k) {
      const auto mark = [&](const net_end& e) {
        if (e.at != nowhere) grid_.add(e.at, nets_[k].of_class, static_cast<int>(k), true);
      };
      mark(nets_[k].root);
      for (const net_end& e : nets_[k].leaves) mark(e);
    }
    ways_.assign(nets_.size(), {});
    find.keep_off([](auto) {});
    for (const int of_class : negotiating_)
      if (const int lost = negotiate(of_class, find, sharing); lost >= 0) return lost;
    for (const std::size_t k : order_)
      if (!negotiates(nets_[k].of_class) && !find_way(k, find, sharing)) return static_cast<int>(k);
    return -1;
  }
  constexpr bool find_way(std::size_t k, router& find, int sharing) {
    net_route way = find.way_of(nets_[k], sharing);
    if (!way.found) return false;
    return settle_way(k, std::move(way)), true;
  }
  static constexpr bool is_end(const net& n, coord c) { return n.root.at == c || has_leaf(n, c); }

  constexpr coloring conflicts() const {
    coloring colors(classes_, base_.machine().colors < detail::first_symbolic ? base_.machine().colors
                                                                              : detail::first_symbolic);
    for (int k = 0; k < classes_; ++k)
      if (fixed_[static_cast<std::size_t>(k)] >= 0) colors.fix(k, fixed_[static_cast<std::size_t>(k)]);
    for (std::size_t i = 0; i < used_.size(); ++i)  // in the order of regions
      for (std::size_t k = i; k-- > 0 && used_[k] / max_ids == used_[i] / max_ids;)
        colors.keep_apart(class_of(used_[i]), class_of(used_[k]));
    for (int k = 0; k < classes_; ++k) colors.bar(k, ~allowed_colors(k));
    const std::vector<u64> own = colors_of_programs();
    const auto meets = [&](coord c, int of_class) {
      grid_.each(c, [&](int other, int) { colors.keep_apart(of_class, other); });
      colors.bar(of_class, barred_at(c, of_class, own));
    };
    for (std::size_t k = 0; k < nets_.size(); ++k)
      for (const net_step& s : ways_[k].steps) meets(s.at, nets_[k].of_class);
    for (const inner_path& p : inner_) each_pe(p, [&](coord c) { meets(c, node_class(p.region, p.color)); });
    return colors;
  }
  /// Only some colors of a machine may have switches. Where the user has chosen one, the checker judges it.
  constexpr u64 allowed_colors(int of_class) const {
    bool switched = false;
    if (fixed_[static_cast<std::size_t>(of_class)] >= 0) return ~u64{0};
    for (const net& n : nets_) {
      if (n.of_class != of_class) continue;
      switched = switched || n.by_turns || n.root.positions;
      for (const net_end& e : n.leaves) switched = switched || e.positions;
    }
    for (const inner_path& p : inner_)
      switched = switched || (p.options.switched && node_class(p.region, p.color) == of_class);
    return switched ? base_.machine().switch_colors : ~u64{0};
  }
  /// By region: the colors of the fabric that its programs name.
  constexpr std::vector<u64> colors_of_programs() const {
    std::vector<u64> own(regions_.size(), 0);
    for (const program_record& p : programs_)
      for (const detail::binding& b : *p.what)
        if (b.names_a_color() && b.id >= 0 && !detail::is_symbolic(b.id))
          own[static_cast<std::size_t>(p.region)] |= detail::color_bit(b.id);
    return own;
  }
  /// Colors that a class may not have on a PE: of programs there, of paths of the layout, of its modules.
  constexpr u64 barred_at(coord c, int of_class, const std::vector<u64>& own) const {
    u64 barred = 0;
    if (const int r = grid_.owner(c); r >= 0) {
      barred = own[static_cast<std::size_t>(r)];
      // ... but not the color that the region itself has for the class
      for (u64 left = barred; left; left &= left - 1)
        if (node_class(r, std::countr_zero(left)) == of_class) barred &= ~(left & (~left + 1));
    }
    for (const path_record& p : base_.paths())
      if (p.where.has(c)) barred |= detail::color_bit(p.color);
    for (const auto& m : base_.claims())
      if (m.where.has(c)) barred |= ((u64{1} << m.count) - 1) << m.first;
    return barred;
  }
  constexpr void penalize(int of_class) {
    for (std::size_t k = 0; k < nets_.size(); ++k)
      if (nets_[k].of_class == of_class)
        for (const net_step& s : ways_[k].steps) {
          int others = 0;
          grid_.each(s.at, [&](int other, int) { others += other != of_class; });
          grid_.penalty(s.at) += others;
        }
  }

  // ---- faults

  constexpr const char* source_of(const net& n) const {
    return region_name(connections_[static_cast<std::size_t>(n.connection)].from.region);
  }
  constexpr const char* sink_of(const net& n) const {
    return region_name(connections_[static_cast<std::size_t>(n.connection)].to.region);
  }
  constexpr void report_no_way(const net& n, const router& find) const {
    if (!std::is_constant_evaluated()) throw fault(text_of_no_way(n, find));
    faults::the_connection_finds_no_way(source_of(n), sink_of(n), find.lost().at.x, find.lost().at.y);
  }
  constexpr void report_no_color(const coloring& colors, int of_class) const {
    for (std::size_t k = 0; k < nets_.size(); ++k) {
      if (nets_[k].of_class != of_class) continue;
      coord worst = ways_[k].steps.front().at;
      int most = -1;
      for (const net_step& s : ways_[k].steps) {
        int others = 0;
        grid_.each(s.at, [&](int, int) { ++others; });
        if (others > most) most = others, worst = s.at;
      }
      if (!std::is_constant_evaluated()) throw fault(text_of_no_color(nets_[k], worst, colors));
      faults::the_connections_need_more_colors(source_of(nets_[k]), sink_of(nets_[k]), worst.x, worst.y,
                                               base_.machine().colors);
    }
    faults::the_connections_need_more_colors("a region", "itself", 0, 0, base_.machine().colors);
  }
  bool opens_to_nothing(const net_end& e) const;
  std::string text_of_no_way(const net& n, const router& find) const;
  std::string text_of_no_color(const net& n, coord worst, const coloring& colors) const;

  // ---- the layout

  constexpr layout made() const {
    layout l = base_;
    for (const program_record& p : programs_) {
      detail::color_map given;
      for (u64 left = p.what->symbolic(); left; left &= left - 1) {
        const int id = std::countr_zero(left);
        given.give(id, color_of(node_class(p.region, id)));
      }
      l.place(regions_[static_cast<std::size_t>(p.region)].on_grid(p.where), *p.what, given);
    }
    for (const inner_path& p : inner_)
      p.calls->path(l, color_of(node_class(p.region, p.color)),
                    regions_[static_cast<std::size_t>(p.region)].on_grid(p.where), p.how, p.options);
    turn_list turns;
    const std::vector<path_piece> ways = pieces(turns);
    for (const path_piece& p : ways) p.calls->path(l, p.color, p.where, p.from >> p.to, options_of(p));
    for (std::size_t k = 0; k < nets_.size(); ++k) {
      const net& n = nets_[k];
      if (n.root.at == nowhere)
        n.calls->stream(l, color_of(n.of_class), ways_[k].host, static_cast<port>(n.root.sides.bits), true);
      for (const net_end& e : n.leaves)
        if (e.at == nowhere)
          n.calls->stream(l, color_of(n.of_class), ways_[k].host, static_cast<port>(e.sides.bits), n.merges);
    }
    return l;
  }
  static constexpr path_options options_of(const path_piece& p) {
    path_options o;
    if (p.merges) o.take(merges);
    if (p.positions) o.take(*p.positions);
    if (p.deal.words > 0)
      o.take(sparse_counter_filter{
          .first = p.deal.first, .last = p.deal.first + p.deal.words - 1, .period = p.deal.of});
    return o;
  }
  /// `turns` keeps the switches that pieces name.
  constexpr std::vector<path_piece> pieces(turn_list& turns) const {
    std::vector<path_piece> all;
    std::size_t last = 0;  // where the net before begins
    for (std::size_t k = 0; k < nets_.size(); ++k) {
      const net& n = nets_[k];
      const std::size_t first = all.size();
      for (const net_step& s : ways_[k].steps) {
        if (n.by_turns && is_end(n, s.at)) {
          turns.add(s.at, color_of(n.of_class), s.from >> s.to, n.calls,
                    s.at == n.leaves[0].at && takes_all_turns(k));
          continue;
        }
        add_to(all, first,
               {{s.at.x, s.at.x + 1, s.at.y, s.at.y + 1},
                color_of(n.of_class),
                s.from,
                s.to,
                !s.from.single() && n.merges,
                s.deal,
                s.positions,
                n.calls});
      }
      if (k == 0 || nets_[k - 1].connection != n.connection || !lay_over(all, last, first)) last = first;
    }
    turns.add_to(all);
    if (all.size() > many_pieces) return joined(all);
    return all;
  }
  constexpr int color_of(int of_class) const { return color_[static_cast<std::size_t>(of_class)]; }

  const layout& base_;
  const std::vector<region_record>& regions_;
  const std::vector<program_record>& programs_;
  const std::vector<inner_path>& inner_;
  const std::vector<connection>& connections_;
  territory grid_;
  rules::scratch<int> class_of_;   // of a region's color plus 1, by `node`
  std::vector<std::size_t> used_;  // the nodes that have a class, in order
  int classes_ = 0;
  std::vector<int> fixed_, color_;  // of each class
  std::vector<net> nets_;
  std::vector<std::size_t> order_;
  std::vector<int> negotiating_;  // classes whose nets find their ways together
  std::vector<net_route> ways_;
};

}  // namespace wsl::planning
