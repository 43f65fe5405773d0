// SPDX-License-Identifier: MIT
// The oracle of the checker: it finds the faults of a small layout the slow way, with tables that have one
// entry per PE, and with wavelets that are really sent around. It shares nothing with the checker but the
// builder's data, and says of every fault everywhere it occurs.
#pragma once
#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <wsl/layout/faults/table.hpp>
#include <wsl/layout/layout.hpp>

namespace oracle {

using namespace wsl;
using namespace wsl::detail;

struct spot {
  int color = -1;
  coord at{-1, -1};
  port side = port::ramp;
};

/// Everything that any record says about one color on one PE, in one phase or in all of them.
struct router {
  int routes = 0;
  std::vector<route> positions;                                    // of its switch, or its only route
  bool from[5] = {}, to[5] = {};                                   // by index_of(port)
  std::vector<const payload_type*> type_from[5], type_to[5];       // of the records that use the port
  std::vector<const payload_type*> streams_in[5], streams_out[5];  // of the host streams at the side
  bool unmerged = false;
};

class findings {
 public:
  explicit findings(const layout& l) : l_(l), colors_(l.machine().colors) {
    for (int phase = every; phase <= l.last_phase(); ++phase) {
      routers_.emplace_back();
      for (int c = 0; c < colors_; ++c)
        routers_.back().emplace_back(static_cast<size_t>(l.width() * l.height()));
      fill(phase);
    }
    for (phase_ = 0; phase_ <= l.last_phase(); ++phase_)
      for (int c = 0; c < colors_; ++c) color_rules(c);
    phase_ = every;
    for (int c = 0; c < colors_; ++c) stream_rules(c), switch_rules(c);
    filter_rules();
    claims();
    programs();
    liveness();
  }

  bool has(fault_kind f) const { return !spots_[static_cast<int>(f)].empty(); }
  bool has(fault_kind f, int color) const {
    const auto& s = spots_[static_cast<int>(f)];
    return std::any_of(s.begin(), s.end(), [&](const spot& p) { return p.color == color; });
  }
  bool confirms(const diagnostic& d) const {
    const auto& s = spots_[static_cast<int>(d.kind)];
    const auto same = [&](const spot& p) { return p.color == d.color && p.at == d.at && p.side == d.side; };
    return std::any_of(s.begin(), s.end(), same) &&
           (d.kind != fault_kind::a_fork_meets_itself_again || parts_at(d));
  }
  /// The number of copies of a wavelet from the router of `at` that reach `target`, at its ramp or a
  /// stream_out. Requires a color without circles.
  int resolved_routes(int color, coord at, coord target) const {
    std::vector<int> arrivals(static_cast<size_t>(l_.width() * l_.height()));
    send(color, {at, 0}, arrivals);
    return arrivals[index(target)];
  }
  bool reaches_somebody(int color, coord at) const {
    const router& r = cell(color, at);
    if (r.to[0]) return true;
    for (port p : every_side)
      if (r.to[index_of(p)] && (!l_.has(at + step(p)) || reaches_somebody(color, at + step(p)))) return true;
    return false;
  }
  /// In the phase that is looked at, or in any.
  const router& cell(int color, coord at) const {
    return routers_[static_cast<size_t>(phase_ + 1)][static_cast<size_t>(color)][index(at)];
  }

 private:
  size_t index(coord c) const { return static_cast<size_t>(c.y * l_.width() + c.x); }
  router& at(int color, coord c, int phase) {
    return routers_[static_cast<size_t>(phase + 1)][static_cast<size_t>(color)][index(c)];
  }
  void report(fault_kind f, int color, coord c, port side = port::ramp) {
    spots_[static_cast<int>(f)].push_back({color, c, side});
  }

  template <class Function>
  void each_pe(Function f) const {
    for (int y = 0; y < l_.height(); ++y)
      for (int x = 0; x < l_.width(); ++x) f(coord{x, y});
  }

  static std::vector<route> positions_of(const layout& l, const path_record& p) {
    for (const switch_record& s : l.switches())
      if (&l.paths()[s.path] == &p) {
        std::vector<route> all;
        for (int i = 0; i < s.count; ++i) all.push_back(s.position(i));
        return all;
      }
    return {p.how};
  }

  void fill(int phase) {
    each_pe([&](coord c) {
      for (const path_record& p : l_.paths()) {
        if (!p.where.has(c) || (p.phase != phase && phase != every)) continue;
        router& r = at(p.color, c, phase);
        ++r.routes;
        for (const route& how : positions_of(l_, p)) add(r, how, p);
      }
      for (const stream_record& s : l_.streams()) {
        if (!s.where.has(c)) continue;
        router& r = at(s.color, c, phase);
        (s.inbound ? r.streams_in : r.streams_out)[index_of(s.side)].push_back(s.type);
      }
    });
  }
  static void add(router& r, const route& how, const path_record& p) {
    r.positions.push_back(how);
    int inputs = 0;
    for (port q : every_port) {
      if (how.from.has(q)) r.from[index_of(q)] = true, r.type_from[index_of(q)].push_back(p.type), ++inputs;
      if (how.to.has(q)) r.to[index_of(q)] = true, r.type_to[index_of(q)].push_back(p.type);
    }
    if (inputs > 1 && !p.merges) r.unmerged = true;
  }

  void color_rules(int c) {
    bool overlap = false;
    each_pe([&](coord p) {
      const router& r = cell(c, p);
      if (r.routes > 1) report(fault_kind::two_paths_of_one_color_cover_one_pe, c, p), overlap = true;
      if (r.unmerged) report(fault_kind::a_path_with_several_inputs_must_say_merge, c, p);
      for (port side : every_side) link_rules(c, p, side);
    });
    if (overlap) return;
    bool circle = false;
    each_pe([&](coord p) {
      for (int i = 0; i < positions(c, p); ++i)
        for (port side : every_side)
          for (const node& next : after({p, i}, c, side))
            if (reach(c, next).count({p, i}))
              report(fault_kind::the_route_goes_in_a_circle, c, p, side), circle = true;
    });
    int most = 0;
    each_pe([&](coord p) { most = std::max(most, positions(c, p)); });
    for (together_ = 0; together_ < most; ++together_)
      if (!circle) each_pe([&](coord p) { arrivals_from(c, p); });
    together_ = every;
  }

  void link_rules(int c, coord p, port side) {
    const router& r = cell(c, p);
    const int i = index_of(side), back = index_of(opposite(side));
    const coord q = p + step(side);
    if (!l_.has(q)) {
      if (r.to[i] && r.streams_out[i].empty()) report(fault_kind::the_path_leaves_the_grid, c, p, side);
      if (r.from[i] && r.streams_in[i].empty())
        report(fault_kind::the_path_listens_beyond_the_grid, c, p, side);
    } else {
      const router& n = cell(c, q);
      if (r.to[i] && !n.from[back]) report(fault_kind::the_neighbour_does_not_listen, c, p, side);
      if (r.from[i] && !n.to[back]) report(fault_kind::the_path_listens_to_silence, c, p, side);
      if (differ(r.type_to[i], n.type_from[back]))
        report(fault_kind::the_neighbour_expects_another_type, c, p, side);
    }
    if (differ(r.streams_in[i], r.type_from[i]) || differ(r.streams_out[i], r.type_to[i]))
      report(fault_kind::the_stream_carries_another_type, c, p, side);
  }
  void stream_rules(int c) {
    each_pe([&](coord p) {
      const router& r = cell(c, p);
      for (port side : every_side) {
        const int i = index_of(side);
        if (!r.streams_in[i].empty() && !r.from[i])
          report(fault_kind::the_stream_in_enters_no_path, c, p, side);
        if (!r.streams_out[i].empty() && !r.to[i])
          report(fault_kind::the_stream_out_leaves_no_path, c, p, side);
        if (r.streams_in[i].size() > 1 || r.streams_out[i].size() > 1)
          report(fault_kind::two_streams_use_one_side_of_one_pe, c, p, side);
      }
    });
  }

  using types = std::vector<const payload_type*>;
  static bool differ(const types& a, const types& b) {
    for (auto* s : a)
      for (auto* t : b)
        if (s != t) return true;
    return false;
  }

  /// A router that stands in one of its positions.
  struct node {
    coord at;
    int position;
    friend bool operator<(const node& a, const node& b) {
      return std::tuple(a.at.x, a.at.y, a.position) < std::tuple(b.at.x, b.at.y, b.position);
    }
  };
  int positions(int c, coord p) const { return static_cast<int>(cell(c, p).positions.size()); }
  bool stands(int c, coord p, int i) const {
    return together_ < 0 || i == std::min(together_, positions(c, p) - 1);
  }
  /// The nodes that a wavelet reaches from a node through a side: the positions of the neighbour that listen
  /// there.
  std::vector<node> after(const node& n, int c, port side) const {
    std::vector<node> found;
    const coord q = n.at + step(side);
    if (!l_.has(q) || !cell(c, n.at).positions[static_cast<size_t>(n.position)].to.has(side)) return found;
    for (int i = 0; i < positions(c, q); ++i)
      if (stands(c, q, i) && cell(c, q).positions[static_cast<size_t>(i)].from.has(opposite(side)))
        found.push_back({q, i});
    return found;
  }
  std::set<node> reach(int c, const node& from) const {
    std::set<node> seen{from};
    std::vector<node> pending{from};
    while (!pending.empty()) {
      const node p = pending.back();
      pending.pop_back();
      for (port side : every_side)
        for (const node& q : after(p, c, side))
          if (seen.insert(q).second) pending.push_back(q);
    }
    return seen;
  }
  /// One wavelet copied by every fork on its way; counts how often it arrives at each router.
  void send(int c, const node& p, std::vector<int>& arrivals) const {
    ++arrivals[index(p.at)];
    for (port side : every_side)
      for (const node& q : after(p, c, side)) send(c, q, arrivals);
  }
  void arrivals_from(int c, coord p) {
    if (positions(c, p) == 0) return;
    std::vector<int> arrivals(static_cast<size_t>(l_.width() * l_.height()));
    send(c, {p, std::min(together_, positions(c, p) - 1)}, arrivals);
    each_pe([&](coord q) {
      if (arrivals[index(q)] > 1) report(fault_kind::a_fork_meets_itself_again, c, q);
    });
  }
  bool parts_at(const diagnostic& d) const {
    for (int i = 0; i < positions(d.color, d.fork); ++i) {
      int branches = 0;
      for (port side : every_side)
        for (const node& q : after({d.fork, i}, d.color, side))
          for (const node& r : reach(d.color, q)) branches += r.at == d.at;
      if (branches > 1) return true;
    }
    return false;
  }

  // ---- what changes -----------------------------------------------------------------------------
  const path_record& path(int i) const { return l_.paths()[i]; }

  void switch_rules(int c) {
    for (const switch_record& s : l_.switches()) {
      const coord first = path(s.path).where.nth(0);
      if (path(s.path).color != c) continue;
      if (!(l_.machine().switch_colors >> c & 1))
        report(fault_kind::the_machine_cannot_switch_the_color, c, first);
      for (int i = 1; i < s.count; ++i) {
        const route now = s.position(i), old = s.position(i - 1);
        if (l_.machine().position_sides == 1 && now.from != old.from && now.to != old.to)
          report(fault_kind::a_position_changes_both_sides, c, first);
        if ((now.from != old.from && !now.from.single()) || (now.to != old.to && !now.to.single()))
          report(fault_kind::a_position_has_several_ports, c, first);
      }
    }
    command_rules(c);
    each_pe([&](coord p) {
      bool late = false, able = false;
      for (const path_record& r : l_.paths())
        late = late || (r.color == c && r.where.has(p) && (r.phase > 0 || r.closed));
      for (const placement& q : l_.placements())
        for (const binding& b : *q.what)
          able = able || (q.where.has(p) && b.what == role::torn_down && b.id == c);
      if (late && !able) report(fault_kind::no_program_reopens_the_color, c, p);
      bool first = false, later = false;
      for (const path_record& r : l_.paths()) (r.phase > 0 ? later : first) |= r.color == c && r.where.has(p);
      if (later && !first) report(fault_kind::the_phase_has_no_beginning, c, p);
    });
  }

  bool share(const region& a, const region& b, port through = port::ramp) const {
    bool found = false;
    each_pe([&](coord p) { found = found || (a.has(p) && b.has(p + step(through))); });
    return found;
  }
  /// Commands go from path to path: from one that some PE of the program sends into, over those of which some
  /// PE hands on to some PE.
  void command_rules(int c) {
    using stand = std::pair<int, int>;  // a path and a position
    std::vector<int> brought(static_cast<size_t>(l_.paths().size()));
    const auto route_of = [&](const stand& s) {
      return positions_of(l_, path(s.first))[static_cast<size_t>(s.second)];
    };
    const auto each_stand = [&](auto use) {
      for (int i = 0; i < l_.paths().size(); ++i)
        for (int k = 0; k < static_cast<int>(positions_of(l_, path(i)).size()); ++k)
          if (path(i).color == c) use(stand{i, k});
    };
    for (const placement& q : l_.placements())
      for (const binding& b : *q.what) {
        if (b.what != role::steer || b.id != c) continue;
        std::set<stand> seen;
        std::vector<stand> pending;
        const auto enter = [&](const stand& s) {
          if (seen.insert(s).second) pending.push_back(s);
        };
        each_stand([&](const stand& s) {
          if (route_of(s).from.has(ramp) && share(q.where, path(s.first).where)) enter(s);
        });
        while (!pending.empty()) {
          const stand s = pending.back();
          pending.pop_back();
          each_stand([&](const stand& t) {
            for (port side : every_side)
              if (route_of(s).to.has(side) && route_of(t).from.has(opposite(side)) &&
                  share(path(s.first).where, path(t.first).where, side))
                enter(t);
          });
        }
        bool meets = false;
        for (const stand& s : seen) {
          brought[static_cast<size_t>(s.first)] |= b.commands;
          for (const switch_record& r : l_.switches()) meets = meets || r.path == s.first;
        }
        if (!meets && !seen.empty() && (b.commands & 6))
          report(fault_kind::no_router_takes_the_command, c, q.where.nth(0));
      }
    for (const switch_record& s : l_.switches()) {
      if (path(s.path).color != c) continue;
      const int commands = brought[static_cast<size_t>(s.path)];
      std::set<int> found{s.start};
      for (int n = 0; n < 8; ++n)
        for (int at : std::set<int>(found)) {
          if (commands & 2) found.insert(at + 1 < s.count ? at + 1 : s.ring ? 0 : at);
          if (commands & 4) found.insert(0);
        }
      if (static_cast<int>(found.size()) < s.count)
        report(fault_kind::no_command_reaches_the_position, c, path(s.path).where.nth(0));
    }
  }

  void filter_rules() {
    for (const filter_record& f : l_.filters()) {
      const path_record& p = path(f.path);
      bool to_ramp = false;
      for (const route& how : positions_of(l_, p)) to_ramp = to_ramp || how.to.has(ramp);
      if (!to_ramp) report(fault_kind::the_filter_has_nothing_to_filter, p.color, p.where.nth(0));
      if (f.by_index && p.type == &payload_type_of<i16>)
        report(fault_kind::the_payload_has_no_index, p.color, p.where.nth(0));
    }
    each_pe([&](coord p) {
      int filters = 0;
      for (const filter_record& f : l_.filters()) filters += path(f.path).where.has(p);
      if (filters > l_.machine().filters) report(fault_kind::the_pe_has_too_many_filters, -1, p);
    });
  }

  void claims() {
    each_pe([&](coord p) {
      for (int c = 0; c < colors_; ++c) {
        int owners = 0;
        for (const claim& k : l_.claims()) owners += k.where.has(p) && c >= k.first && c < k.first + k.count;
        if (owners > 1) report(fault_kind::two_modules_claim_one_color, c, p);
      }
    });
  }

  static bool is_take(const binding& b) { return b.what == role::data || b.what == role::read; }

  void programs() {
    each_pe([&](coord p) {
      std::vector<const program*> here;
      for (const placement& q : l_.placements())
        if (q.where.has(p)) here.push_back(q.what);
      if (here.size() > 1) report(fault_kind::two_programs_run_on_one_pe, -1, p);
      for (int c = 0; c < colors_; ++c) {
        const router& r = cell(c, p);
        if (r.to[0] && here.empty()) report(fault_kind::no_program_takes_the_delivery, c, p);
        if (r.from[0] && here.empty()) report(fault_kind::no_program_sends_into_the_path, c, p);
        for (const program* g : here) program_rules(c, p, *g);
      }
    });
    for (const placement& q : l_.placements()) placement_rules(q);
  }

  void program_rules(int c, coord p, const program& g) {
    const router& r = cell(c, p);
    types takes, sends;
    for (const binding& b : g) {
      if (b.id == c && is_take(b)) takes.push_back(b.type);
      if (b.id == c && b.what == role::send) sends.push_back(b.type);
    }
    if (r.to[0] && takes.empty()) report(fault_kind::the_program_does_not_take_the_color, c, p);
    if (r.from[0] && sends.empty()) report(fault_kind::the_program_does_not_send_the_color, c, p);
    if (differ(r.type_to[0], takes)) report(fault_kind::the_program_takes_another_type, c, p);
    if (differ(r.type_from[0], sends)) report(fault_kind::the_program_sends_another_type, c, p);
    if (!r.to[0] && !takes.empty()) report(fault_kind::no_path_feeds_the_program_on_this_pe, c, p);
    if (!r.from[0] && !sends.empty())
      report(fault_kind::no_path_takes_what_the_program_sends_on_this_pe, c, p);
  }

  bool any_ramp(int c, const region& where, bool to) const {
    bool found = false;
    each_pe(
        [&](coord p) { found = found || (where.has(p) && (to ? cell(c, p).to[0] : cell(c, p).from[0])); });
    return found;
  }

  void placement_rules(const placement& q) {
    const coord first = q.where.nth(0);
    const machine& m = l_.machine();
    std::vector<int> data, read, send, local, control;
    for (const binding& b : *q.what) {
      if (b.what == role::data) data.push_back(b.id);
      if (b.what == role::read) read.push_back(b.id);
      if (b.what == role::send) send.push_back(b.id);
      if (b.what == role::local) local.push_back(b.id);
      if (b.what == role::control) control.push_back(b.id);
    }
    for (int id : data)
      if (std::count(data.begin(), data.end(), id) + std::count(read.begin(), read.end(), id) > 1)
        report(fault_kind::the_program_takes_one_color_twice, id, first);
    for (int id : control) {
      if (std::count(control.begin(), control.end(), id) > 1)
        report(fault_kind::the_program_binds_one_control_id_twice, -1, first);
      if (id < 0 || id >= m.control_tasks) report(fault_kind::the_control_id_does_not_exist, -1, first);
    }
    const auto unused = [&](fault_kind f, int id, bool to) {
      if (!any_ramp(id, q.where, to) && !(l_.idle_colors() & color_bit(id))) report(f, id, first);
    };
    for (int id : data) unused(fault_kind::no_path_feeds_the_program, id, true);
    for (int id : read) unused(fault_kind::no_path_feeds_the_program, id, true);
    for (int id : send) unused(fault_kind::no_path_takes_what_the_program_sends, id, false);

    if (static_cast<int>(local.size()) > m.local_tasks)
      report(fault_kind::the_program_has_too_many_local_tasks, -1, first);
    if (q.what->bytes > m.memory) report(fault_kind::the_program_is_larger_than_the_memory, -1, first);
    each_pe([&](coord p) {
      if (q.where.has(p)) limits_of_colors(q, p, data, read, send, static_cast<int>(local.size()));
    });
  }

  /// The resources of this PE that colors take: those that reach it, and those that it can send.
  void limits_of_colors(const placement& q, coord p, const std::vector<int>& data,
                        const std::vector<int>& read, const std::vector<int>& send, int local) {
    const machine& m = l_.machine();
    std::set<int> fed_data, queued, taken;
    for (int id : data)
      if (cell(id, p).to[0]) fed_data.insert(id);
    for (int id : read)
      if (cell(id, p).to[0]) queued.insert(id);
    for (int id : send)
      if (cell(id, p).from[0]) taken.insert(id);
    if (m.color_owns_queue) queued.insert(fed_data.begin(), fed_data.end());
    // Of the colors that share a queue only one counts.
    std::set<std::set<int>> outputs;
    for (int id : taken) {
      std::set<int> together{id};
      for (const binding& b : *q.what)
        for (int c : taken)
          if (b.what == role::share && b.id == id && (b.after >> c & 1)) together.insert(c);
      outputs.insert(together);
    }
    const auto limit = [&](fault_kind f, size_t have, int most) {
      if (static_cast<int>(have) > most) report(f, -1, p);
    };
    limit(fault_kind::the_program_has_too_many_data_tasks, fed_data.size(), m.data_tasks);
    limit(fault_kind::the_program_has_too_many_tasks, fed_data.size() + static_cast<size_t>(local),
          m.task_ids);
    limit(fault_kind::the_program_needs_too_many_input_queues, queued.size(), m.input_queues);
    limit(fault_kind::the_program_needs_too_many_output_queues, m.color_owns_queue ? outputs.size() : 0,
          m.output_queues);
  }

  /// Colors start one after the other until no further one can.
  void liveness() {
    std::set<int> started;
    for (const stream_record& s : l_.streams())
      if (s.inbound) started.insert(s.color);
    for (size_t before = 99; before != started.size();) {
      before = started.size();
      for (const placement& q : l_.placements())
        for (const binding& b : *q.what)
          if (b.what == role::send && any_ramp(b.id, q.where, false) && can_send(q, b, started))
            started.insert(b.id);
    }
    for (const placement& q : l_.placements())
      for (const binding& b : *q.what)
        if (b.what == role::send && any_ramp(b.id, q.where, false) && !started.count(b.id))
          report(fault_kind::nobody_can_start_the_color, b.id, q.where.nth(0));
  }
  bool can_send(const placement& q, const binding& send, const std::set<int>& started) const {
    for (int c = 0; c < max_colors; ++c)
      if ((send.after >> c & 1) && !started.count(c)) return false;
    for (const binding& b : *q.what) {
      if (b.what == role::launch || (b.what == role::local && b.start == initially::active)) return true;
      if (is_take(b) && started.count(b.id) && any_ramp(b.id, q.where, true)) return true;
    }
    return false;
  }

  const layout& l_;
  int colors_;
  static constexpr int every = -1;
  int phase_ = every;     // that is looked at
  int together_ = every;  // the position in which all switches stand
  // by phase, the first being all of them, color and PE
  std::vector<std::vector<std::vector<router>>> routers_;
  std::vector<spot> spots_[faults::fault_count];
};

}  // namespace oracle
