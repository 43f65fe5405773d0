// SPDX-License-Identifier: MIT
// What is wrong with a small layout, found the slow way: tables with one entry per PE, and wavelets that are really sent around.
// It shares nothing with the checker but the builder's data, and says of every fault everywhere it occurs.
#pragma once
#include <algorithm>
#include <set>
#include <vector>

#include <wsl/layout/fault.hpp>
#include <wsl/layout/layout.hpp>

namespace oracle {

using namespace wsl;

struct spot {
  int color = -1;
  coord at{-1, -1};
  port side = port::ramp;
};

/// Everything that any record says about one color on one PE.
struct router {
  int routes = 0;
  bool from[5] = {}, to[5] = {};                                     // by index_of(port)
  std::vector<const payload_type*> type_from[5], type_to[5];         // of the records that use the port
  std::vector<const payload_type*> streams_in[5], streams_out[5];    // of the host streams at the side
  bool unmerged = false;
};

class findings {
 public:
  explicit findings(const layout& l) : l_(l), colors_(l.machine().colors) {
    for (int c = 0; c < colors_; ++c) routers_.emplace_back(static_cast<size_t>(l.width() * l.height()));
    fill();
    for (int c = 0; c < colors_; ++c) color_rules(c);
    claims();
    programs();
    liveness();
  }

  bool has(fault f) const { return !spots_[static_cast<int>(f)].empty(); }
  bool has(fault f, int color) const {
    const auto& s = spots_[static_cast<int>(f)];
    return std::any_of(s.begin(), s.end(), [&](const spot& p) { return p.color == color; });
  }
  bool confirms(const diagnostic& d) const {
    const auto& s = spots_[static_cast<int>(d.what)];
    const auto same = [&](const spot& p) { return p.color == d.color && p.at == d.at && p.side == d.side; };
    return std::any_of(s.begin(), s.end(), same) && (d.what != fault::a_fork_meets_itself_again || parts_at(d));
  }
  /// How often a wavelet that enters the router of a PE arrives at each ramp and stream_out; requires a color without circles.
  int deliveries(int color, coord at, coord target) const {
    std::vector<int> arrivals(static_cast<size_t>(l_.width() * l_.height()));
    send(color, at, arrivals);
    return arrivals[index(target)];
  }
  bool reaches_somebody(int color, coord at) const {
    const router& r = cell(color, at);
    if (r.to[0]) return true;
    for (port p : every_side)
      if (r.to[index_of(p)] && (!l_.has(at + step(p)) || reaches_somebody(color, at + step(p)))) return true;
    return false;
  }
  const router& cell(int color, coord at) const { return routers_[static_cast<size_t>(color)][index(at)]; }

 private:
  size_t index(coord c) const { return static_cast<size_t>(c.y * l_.width() + c.x); }
  router& at(int color, coord c) { return routers_[static_cast<size_t>(color)][index(c)]; }
  void report(fault f, int color, coord c, port side = port::ramp) { spots_[static_cast<int>(f)].push_back({color, c, side}); }

  template <class Function>
  void each_pe(Function f) const {
    for (int y = 0; y < l_.height(); ++y)
      for (int x = 0; x < l_.width(); ++x) f(coord{x, y});
  }

  void fill() {
    each_pe([&](coord c) {
      for (const path_record& p : l_.paths()) {
        if (!p.where.has(c)) continue;
        router& r = at(p.color, c);
        ++r.routes;
        int inputs = 0;
        for (port q : every_port) {
          if (p.how.from.has(q)) r.from[index_of(q)] = true, r.type_from[index_of(q)].push_back(p.type), ++inputs;
          if (p.how.to.has(q)) r.to[index_of(q)] = true, r.type_to[index_of(q)].push_back(p.type);
        }
        if (inputs > 1 && !p.merges) r.unmerged = true;
      }
      for (const stream_record& s : l_.streams()) {
        if (!s.where.has(c)) continue;
        router& r = at(s.color, c);
        (s.inbound ? r.streams_in : r.streams_out)[index_of(s.side)].push_back(s.type);
      }
    });
  }

  void color_rules(int c) {
    bool overlap = false;
    each_pe([&](coord p) {
      const router& r = cell(c, p);
      if (r.routes > 1) report(fault::two_paths_of_one_color_cover_one_pe, c, p), overlap = true;
      if (r.unmerged) report(fault::a_path_with_several_inputs_must_say_merge, c, p);
      for (port side : every_side) link_rules(c, p, side);
    });
    if (overlap) return;
    bool circle = false;
    each_pe([&](coord p) {
      for (port side : every_side)
        if (linked(c, p, side) && reach(c, p + step(side)).count(index(p)))
          report(fault::the_route_goes_in_a_circle, c, p, side), circle = true;
    });
    if (!circle) each_pe([&](coord p) { arrivals_from(c, p); });
  }

  void link_rules(int c, coord p, port side) {
    const router& r = cell(c, p);
    const int i = index_of(side), back = index_of(opposite(side));
    const coord q = p + step(side);
    if (!l_.has(q)) {
      if (r.to[i] && r.streams_out[i].empty()) report(fault::the_path_leaves_the_grid, c, p, side);
      if (r.from[i] && r.streams_in[i].empty()) report(fault::the_path_listens_beyond_the_grid, c, p, side);
    } else {
      const router& n = cell(c, q);
      if (r.to[i] && !n.from[back]) report(fault::the_neighbour_does_not_listen, c, p, side);
      if (r.from[i] && !n.to[back]) report(fault::the_path_listens_to_silence, c, p, side);
      if (differ(r.type_to[i], n.type_from[back])) report(fault::the_neighbour_expects_another_type, c, p, side);
    }
    if (!r.streams_in[i].empty() && !r.from[i]) report(fault::the_stream_in_enters_no_path, c, p, side);
    if (!r.streams_out[i].empty() && !r.to[i]) report(fault::the_stream_out_leaves_no_path, c, p, side);
    if (differ(r.streams_in[i], r.type_from[i]) || differ(r.streams_out[i], r.type_to[i]))
      report(fault::the_stream_carries_another_type, c, p, side);
    if (r.streams_in[i].size() > 1 || r.streams_out[i].size() > 1)
      report(fault::two_streams_use_one_side_of_one_pe, c, p, side);
  }

  using types = std::vector<const payload_type*>;
  static bool differ(const types& a, const types& b) {
    for (auto* s : a)
      for (auto* t : b)
        if (s != t) return true;
    return false;
  }

  bool linked(int c, coord p, port side) const {
    const coord q = p + step(side);
    return l_.has(q) && cell(c, p).to[index_of(side)] && cell(c, q).from[index_of(opposite(side))];
  }
  std::set<size_t> reach(int c, coord from) const {
    std::set<size_t> seen{index(from)};
    std::vector<coord> pending{from};
    while (!pending.empty()) {
      const coord p = pending.back();
      pending.pop_back();
      for (port side : every_side)
        if (linked(c, p, side) && seen.insert(index(p + step(side))).second) pending.push_back(p + step(side));
    }
    return seen;
  }
  /// One wavelet copied by every fork on its way; counts how often it arrives at each router.
  void send(int c, coord p, std::vector<int>& arrivals) const {
    ++arrivals[index(p)];
    for (port side : every_side)
      if (linked(c, p, side)) send(c, p + step(side), arrivals);
  }
  void arrivals_from(int c, coord p) {
    std::vector<int> arrivals(static_cast<size_t>(l_.width() * l_.height()));
    send(c, p, arrivals);
    each_pe([&](coord q) {
      if (arrivals[index(q)] > 1) report(fault::a_fork_meets_itself_again, c, q);
    });
  }
  bool parts_at(const diagnostic& d) const {
    int branches = 0;
    for (port side : every_side)
      if (linked(d.color, d.fork, side)) branches += reach(d.color, d.fork + step(side)).count(index(d.at)) > 0;
    return branches > 1;
  }

  void claims() {
    each_pe([&](coord p) {
      for (int c = 0; c < colors_; ++c) {
        int owners = 0;
        for (const claim& k : l_.claims()) owners += k.where.has(p) && c >= k.first && c < k.first + k.count;
        if (owners > 1) report(fault::two_modules_claim_one_color, c, p);
      }
    });
  }

  static bool is_take(const binding& b) { return b.what == role::data || b.what == role::read; }

  void programs() {
    each_pe([&](coord p) {
      std::vector<const program*> here;
      for (const placement& q : l_.placements())
        if (q.where.has(p)) here.push_back(q.what);
      if (here.size() > 1) report(fault::two_programs_run_on_one_pe, -1, p);
      for (int c = 0; c < colors_; ++c) {
        const router& r = cell(c, p);
        if (r.to[0] && here.empty()) report(fault::no_program_takes_the_delivery, c, p);
        if (r.from[0] && here.empty()) report(fault::no_program_sends_into_the_path, c, p);
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
    if (r.to[0] && takes.empty()) report(fault::the_program_does_not_take_the_color, c, p);
    if (r.from[0] && sends.empty()) report(fault::the_program_does_not_send_the_color, c, p);
    if (differ(r.type_to[0], takes)) report(fault::the_program_takes_another_type, c, p);
    if (differ(r.type_from[0], sends)) report(fault::the_program_sends_another_type, c, p);
    if (!r.to[0] && !takes.empty()) report(fault::no_path_feeds_the_program_on_this_pe, c, p);
    if (!r.from[0] && !sends.empty()) report(fault::no_path_takes_what_the_program_sends_on_this_pe, c, p);
  }

  bool any_ramp(int c, const region& where, bool to) const {
    bool found = false;
    each_pe([&](coord p) { found = found || (where.has(p) && (to ? cell(c, p).to[0] : cell(c, p).from[0])); });
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
        report(fault::the_program_takes_one_color_twice, id, first);
    for (int id : control) {
      if (std::count(control.begin(), control.end(), id) > 1) report(fault::the_program_binds_one_control_id_twice, -1, first);
      if (id < 0 || id >= m.control_tasks) report(fault::the_control_id_does_not_exist, -1, first);
    }
    std::set<int> fed_data, fed_read, taken;
    const auto unused = [&](fault f, int id) {
      if (!(l_.idle_colors() & color_bit(id))) report(f, id, first);
    };
    for (int id : data) any_ramp(id, q.where, true) ? void(fed_data.insert(id)) : unused(fault::no_path_feeds_the_program, id);
    for (int id : read) any_ramp(id, q.where, true) ? void(fed_read.insert(id)) : unused(fault::no_path_feeds_the_program, id);
    for (int id : send)
      any_ramp(id, q.where, false) ? void(taken.insert(id)) : unused(fault::no_path_takes_what_the_program_sends, id);

    std::set<int> queued = fed_read;
    if (m.color_owns_queue) queued.insert(fed_data.begin(), fed_data.end());
    const auto limit = [&](fault f, size_t have, int most) {
      if (static_cast<int>(have) > most) report(f, -1, first);
    };
    limit(fault::the_program_has_too_many_local_tasks, local.size(), m.local_tasks);
    limit(fault::the_program_has_too_many_data_tasks, fed_data.size(), m.data_tasks);
    limit(fault::the_program_has_too_many_tasks, fed_data.size() + local.size(), m.task_ids);
    limit(fault::the_program_needs_too_many_input_queues, queued.size(), m.input_queues);
    limit(fault::the_program_needs_too_many_output_queues, m.color_owns_queue ? taken.size() : 0, m.output_queues);
    limit(fault::the_program_is_larger_than_the_memory, static_cast<size_t>(q.what->bytes), m.memory);
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
          if (b.what == role::send && any_ramp(b.id, q.where, false) && can_send(q, b, started)) started.insert(b.id);
    }
    for (const placement& q : l_.placements())
      for (const binding& b : *q.what)
        if (b.what == role::send && any_ramp(b.id, q.where, false) && !started.count(b.id))
          report(fault::nobody_can_start_the_color, b.id, q.where.nth(0));
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
  std::vector<std::vector<router>> routers_;
  std::vector<spot> spots_[fault_count];
};

}  // namespace oracle
