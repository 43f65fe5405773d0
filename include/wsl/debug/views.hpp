// SPDX-License-Identifier: MIT
// What wsl-debug and the debugger's prompt show of a machine's state, as text: all of it in short, a PE, a
// member, a color, the PEs that wait for each other, differences.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "../engine/diagnose/wait_text.hpp"
#include "../layout/switches.hpp"
#include "values.hpp"

namespace wsl::debug {

/// A mistake of the user in a command.
class command_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

class state_view {
 public:
  /// The state must outlive the view.
  explicit state_view(const machine_state& of) : s_(of) {}

  std::string title() const {
    std::string text = s_.why == dump_reason::deadlock ? "a deadlock"
                       : s_.why == dump_reason::fault  ? "a fault"
                                                       : "the state";
    text += fmt::format(" on the {} engine, {} x {} PEs of {}", s_.engine, s_.width, s_.height, s_.machine);
    if (s_.cycle) text += fmt::format(", cycle {}", s_.cycle);
    return text;
  }

  std::string list() {
    std::string text = title() + "\n";
    if (!s_.sentence.empty()) text += indented(s_.sentence);
    std::vector<u64> waiting(s_.programs.size());
    u64 pes = 0, stuck = 0;
    const std::vector<bool> waits_here = places_that_wait();
    counts all;
    for (std::size_t i = 0; i < s_.states.size(); ++i) {
      const place_state& p = state(i);
      all.add(p);
      if (!p.has_pe) continue;
      ++pes;
      if (waits_here[i]) ++stuck, ++waiting[p.program];
    }
    for (const placement_info& p : s_.placements) {
      const program_info& what = s_.programs[p.program];
      text += fmt::format("{}\n  on {} ({}), {} bytes each; {} wait\n", what.name, text_of(p.where),
                          engines::counted(p.where.count(), "PE"), what.bytes, waiting[p.program]);
      if (!what.members.empty()) text += "  members  " + members_of(what) + "\n";
    }
    text += fmt::format("{} of {} wait; {} in flight; {} in queues", stuck, engines::counted(pes, "PE"),
                        engines::counted(all.operations, "operation"), engines::counted(all.words, "word"));
    for (int c = 0; c < detail::max_colors; ++c)
      if (all.of_color[c])
        text += fmt::format("{} {} of color {}", all.first(c) ? ":" : ",", all.of_color[c], c);
    return text + "\n";
  }

  std::string pe(coord c) {
    must_be_inside(c);
    const place_state& p = state(s_.rank(c));
    if (!p.has_pe) return wsl::text_of(c) + " has no program\n" + router(p);
    const program_info& what = s_.programs[p.program];
    std::string text = wsl::text_of(c) + " runs " + what.name + "\n";
    if (p.elsewhere) return text + "  another process runs it, whose dump says more\n";
    for (const engines::wait& w : s_.waits)
      if (w.at == c && (holds_up_pe(w) || s_.why == dump_reason::deadlock))
        text += "  waits       " + wait_text(w) + "\n";
    if (*p.task) text += fmt::format("  task        {} has begun and not ended\n", p.task);
    for (const char* call : p.calls) text += fmt::format("  call        {} has not begun\n", call);
    for (const task_info& t : what.tasks) text += state_of(t, p);
    for (const operation_info& t : p.operations) text += "  operation   " + text_of(t, what) + "\n";
    text += router(p);
    if (what.members.empty())
      text += "  members     none are exported: using exports = export_list<&part::x>; names them\n";
    else
      machine_state::each_member(
          s_.blocks[s_.memories[s_.rank(c)]], what, [&](const member_info& m, const member_values& v) {
            text += fmt::format("  {:10}  {} = {}\n", m.name, type_of(m), debug::text_of(m, v));
          });
    return text;
  }

  /// A member on the PEs of a region: a table with a row for each of the grid if it is a scalar, else a line
  /// for each PE.
  std::string print(const region& where, const std::string& member) {
    if (where.count() == 1) {
      const coord c = where.nth(0);
      const auto [m, v] = existing_member(c, member);
      return fmt::format("{} = {}\n", member, debug::text_of(*m, v, ~u64{0}));
    }
    return is_scalar(where, member) ? table(where, member) : lines(where, member);
  }

  std::string who(coord c) {
    must_be_inside(c);
    const layout plan = layout_of_paths();
    std::string text;
    for (const engines::wait& w : s_.waits)
      if (w.at == c && (holds_up_pe(w) || s_.why == dump_reason::deadlock))
        text += wsl::text_of(c) + ": " + wait_text(w) + "\n";
    if (text.empty()) return wsl::text_of(c) + " waits for nothing\n";
    const engines::wait_chain chain = engines::wait_graph(plan, s_.waits).find_from(c);
    if (!chain.links.empty()) text += engines::links_text(chain.links) + engines::ending_text(chain) + "\n";
    return text;
  }

  std::string color(int c) {
    std::string text, type;
    for (const path_info& p : s_.paths)
      if (p.color == c) {
        type = p.type;
        text += fmt::format("  {}  {} >> {}{}\n", wsl::text_of(p.where), names_of(p.how.from),
                            names_of(p.how.to), p.phase ? fmt::format(", phase {}", p.phase) : "");
      }
    if (text.empty()) throw command_error(fmt::format("no path has color {}: {}", c, colors_text()));
    text = fmt::format("color {} carries {}\n", c, type) + text;
    limited lines;
    for (std::size_t i = 0; i < s_.states.size(); ++i) {
      const place_state& p = state(i);
      const std::string at = wsl::text_of(s_.grid().nth(static_cast<int>(i)));
      for (const queue_snapshot& q : p.queues)
        if (q.color == c) lines.add([&] { return "  " + at + "  " + queue(q) + "\n"; });
      for (const switch_snapshot& w : p.switches)
        if (w.color == c) lines.add([&] { return "  " + at + "  " + switch_text(w) + "\n"; });
      for (const operation_info& t : p.operations)
        if (t.input[0] == c || t.input[1] == c || t.output == c)
          lines.add([&] { return "  " + at + "  " + text_of(t, s_.programs[p.program]) + "\n"; });
    }
    return text + lines.text("more queues and operations have this color");
  }

  /// The PEs on which an element of a member compares so with a number.
  std::string find(const std::string& member, const std::string& compared, f64 with, const region& where) {
    using compare = bool (*)(f64, f64);
    static const std::map<std::string, compare> known = {
        {"<", [](f64 a, f64 b) { return a < b; }},   {"<=", [](f64 a, f64 b) { return a <= b; }},
        {">", [](f64 a, f64 b) { return a > b; }},   {">=", [](f64 a, f64 b) { return a >= b; }},
        {"==", [](f64 a, f64 b) { return a == b; }}, {"!=", [](f64 a, f64 b) { return a != b; }}};
    const auto holds = known.find(compared);
    if (holds == known.end())
      throw command_error(compared + " is no comparison: find compares with <, <=, >, >=, == or !=");
    limited found;
    each_pe_with(where, member, [&](coord c, const member_info& m, const member_values& v) {
      for (u64 i = 0; i < v.count; ++i) {
        const char* at = v.first + i * m.element_bytes;
        const std::optional<f64> x = number_of(m.kind, m.element_bytes, at);
        if (!x) throw command_error(member + " has no numbers: its elements are of type " + m.type);
        if (!holds->second(*x, with)) continue;
        found.add([&] {
          return fmt::format("{}  {}{} = {}\n", wsl::text_of(c), member, index_text(m, i),
                             debug::text_of(m, at));
        });
        break;
      }
    });
    return found.empty() ? "none\n" : found.text("more PEs have such elements");
  }

  /// What differs in another state of the same machine.
  std::string diff(const machine_state& other) {
    if (other.width != s_.width || other.height != s_.height)
      throw command_error(fmt::format("the other dump has {} x {} PEs, and this one {} x {}", other.width,
                                      other.height, s_.width, s_.height));
    if (other.cycle != s_.cycle)
      differences_.add([&] { return fmt::format("cycle {} | {}\n", s_.cycle, other.cycle); });
    state_view there(other);
    for (std::size_t i = 0; i < s_.states.size(); ++i) diff_place(i, there);
    const limited found = std::exchange(differences_, {});
    return found.empty() ? "no difference\n" : found.text("more differences");
  }

  void must_be_inside(coord c) const {
    if (!s_.grid().has(c))
      throw command_error(
          fmt::format("{} is outside of the grid of {} x {} PEs: columns 0 to {}, rows 0 to {}",
                      wsl::text_of(c), s_.width, s_.height, s_.width - 1, s_.height - 1));
  }
  const machine_state& state_shown() const { return s_; }

 private:
  /// Lines of text of which only the first are shown.
  class limited {
   public:
    template <class Line>
    void add(Line line) {
      if (++count_ <= most) text_ += line();
    }
    bool empty() const { return count_ == 0; }
    std::string text(const char* more) const {
      return count_ <= most ? text_ : text_ + fmt::format("and {} {}\n", count_ - most, more);
    }

   private:
    static constexpr u64 most = 40;
    u64 count_ = 0;
    std::string text_;
  };
  struct counts {
    u64 operations = 0, words = 0;
    u64 of_color[detail::max_colors] = {};

    void add(const place_state& p) {
      operations += p.operations.size();
      for (const queue_snapshot& q : p.queues) words += q.words.size(), of_color[q.color] += q.words.size();
    }
    bool first(int color) const {
      for (int c = 0; c < color; ++c)
        if (of_color[c]) return false;
      return true;
    }
  };

  /// The state of a place; equal ones are read once.
  const place_state& state(std::size_t i) {
    const u32 block = s_.states[i];
    const auto known = read_.find(block);
    return known != read_.end() ? known->second
                                : read_.emplace(block, s_.decoded(s_.blocks[block])).first->second;
  }
  /// Whether it is the PE that waits. Where a run goes on, or has ended in the middle of its tasks, words
  /// that no task has taken yet only are on their way.
  bool holds_up_pe(const engines::wait& w) const {
    using r = engines::wait::reason;
    if (w.why == r::router || w.why == r::router_switch || w.why == r::stream) return false;
    return s_.why == dump_reason::deadlock || (w.why != r::unread && w.why != r::call);
  }
  std::vector<bool> places_that_wait() const {
    std::vector<bool> all(s_.states.size());
    for (const engines::wait& w : s_.waits)
      if (holds_up_pe(w)) all[s_.rank(w.at)] = true;
    return all;
  }
  static std::string indented(const std::string& lines) {
    std::string text = "  ";
    for (char c : lines) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
    return text + "\n";
  }
  static std::string members_of(const program_info& p) {
    std::string text;
    for (const member_info& m : p.members) text += (text.empty() ? "" : ", ") + type_of(m) + " " + m.name;
    return text;
  }
  static std::string wait_text(const engines::wait& w) {
    engines::wait_group one{.first = &w, .newest = {}, .some = {}};
    one.add(w);
    one.finish();
    return engines::predicate(one);
  }

  std::string state_of(const task_info& t, const place_state& p) const {
    using detail::role;
    if (t.what == role::data)
      return p.blocked_colors & detail::color_bit(t.id)
                 ? fmt::format("  task        {} of color {} is blocked\n", t.name, t.id)
                 : "";
    if (t.what != role::local || t.id < 0 || t.id >= detail::max_local_tasks) return "";
    const u32 bit = detail::local_bit(t.id);
    std::string is = p.active & bit ? "is active" : "";
    if (p.blocked & bit) is += is.empty() ? "is blocked" : " and blocked";
    for (const join_info& j : p.joins)
      if (j.task == t.id && j.came)
        is += fmt::format("{}has {} of {} arrivals", is.empty() ? "" : ", ", j.came, t.arrivals);
    if (p.lost_activation == t.id + 1)
      is += is.empty() ? "has lost an activation" : ", has lost an activation";
    return is.empty() ? "" : fmt::format("  task        {} {}\n", t.name, is);
  }

  static std::string text_of(const region& r) { return wsl::text_of(r); }
  static std::string text_of(const operation_info& t, const program_info& of) {
    std::string text = fmt::format("{}: {} of {} elements", t.name, t.done,
                                   t.endless() ? std::string("endless") : std::to_string(t.length));
    if (t.endless()) text = fmt::format("{}: {} elements so far, without an end", t.name, t.done);
    for (int c : t.input)
      if (c >= 0) text += fmt::format(", from color {}", c);
    if (t.output >= 0) text += fmt::format(", to color {}", t.output);
    if (t.pops)
      text += t.pops->capacity ? fmt::format(", from a FIFO with {} of {}", t.pops->size, t.pops->capacity)
                               : ", for an event";
    if (t.pushes) text += fmt::format(", into a FIFO with {} of {}", t.pushes->size, t.pushes->capacity);
    if (t.activates >= 0) text += ", then " + local_name(of, t.activates);
    if (t.unblocks >= 0) text += ", unblocks " + local_name(of, t.unblocks);
    if (t.unblocks_color >= 0) text += fmt::format(", unblocks color {}", t.unblocks_color);
    if (t.each_time >= 0) text += ", each time " + local_name(of, t.each_time);
    if (t.signals) text += ", signals an event";
    if (t.microthread >= 0) text += fmt::format(", microthread {}", t.microthread);
    if (t.waited_for) text += "; the task waits for it";
    return text;
  }
  static std::string local_name(const program_info& of, int id) {
    for (const task_info& t : of.tasks)
      if (t.what == detail::role::local && t.id == id) return t.name;
    return fmt::format("local task {}", id);
  }

  std::string type_of_color(int c) const {
    for (const path_info& p : s_.paths)
      if (p.color == c) return p.type;
    return "";
  }
  std::string queue(const queue_snapshot& q) const {
    std::string text;
    switch (q.where) {
      case queue_snapshot::place::input: text = "input queue"; break;
      case queue_snapshot::place::output: text = "output queue"; break;
      case queue_snapshot::place::unsent: text = "sent, before the output queue"; break;
      case queue_snapshot::place::link: text = fmt::format("router, from {}", name_of(q.side)); break;
    }
    text += fmt::format(": {} of color {}:", engines::counted(q.words.size(), "word"), q.color);
    constexpr std::size_t most = 16;
    const std::string type = type_of_color(q.color);
    for (std::size_t i = 0; i < q.words.size() && i < most; ++i)
      text += " " + debug::text_of(wavelet{q.words[i].bits, q.color, q.words[i].control}, type);
    return q.words.size() > most ? text + " ..." : text;
  }
  static std::string switch_text(const switch_snapshot& w) {
    if (w.closed) return fmt::format("switch of color {} is torn down", w.color);
    return w.position < 0 ? fmt::format("color {} is open", w.color)
                          : fmt::format("switch of color {} is at position {}", w.color, w.position);
  }
  std::string router(const place_state& p) const {
    std::string text;
    for (const queue_snapshot& q : p.queues) text += "  queue       " + queue(q) + "\n";
    for (const switch_snapshot& w : p.switches) text += "  router      " + switch_text(w) + "\n";
    return text;
  }
  static std::string names_of(ports all) {
    std::string text;
    for (port p : every_port)
      if (all.has(p)) text += (text.empty() ? "" : " | ") + std::string(name_of(p));
    return all.single() ? text : "(" + text + ")";
  }
  std::string colors_text() const {
    u64 all = 0;
    for (const path_info& p : s_.paths) all |= detail::color_bit(p.color);
    std::string text;
    for (int c = 0; c < detail::max_colors; ++c)
      if (all & detail::color_bit(c)) text += (text.empty() ? "" : ", ") + std::to_string(c);
    return text.empty() ? "there are no paths" : "there are " + text;
  }

  // ---- members ----------------------------------------------------------------------------------

  /// Calls use(coord, member, values) for the PEs of a region that have the member.
  template <class Use>
  void each_pe_with(const region& where, const std::string& member, Use use) {
    bool any = false;
    for (int i = 0; i < where.count(); ++i) {
      const coord c = where.nth(i);
      const place_state& p = state(s_.rank(c));
      const program_info* what = p.has_pe && !p.elsewhere ? &s_.programs[p.program] : nullptr;
      const member_info* m = what ? what->find(member) : nullptr;
      if (!m) continue;
      any = true;
      use(c, *m, s_.values(c, *what, *m));
    }
    if (!any) no_such_member(where, member);
  }
  [[noreturn]] void no_such_member(const region& where, const std::string& member) const {
    std::string known;
    for (const program_info& p : s_.programs)
      if (!p.members.empty()) known += fmt::format("\n  {}: {}", p.name, members_of(p));
    throw command_error(fmt::format(
        "no program on {} exports {}{}", wsl::text_of(where), member,
        known.empty() ? ": using exports = export_list<&part::x>; exports members" : "; there are" + known));
  }
  std::pair<const member_info*, member_values> existing_member(coord c, const std::string& member) {
    must_be_inside(c);
    std::pair<const member_info*, member_values> found;
    each_pe_with({c.x, c.x + 1, c.y, c.y + 1}, member,
                 [&](coord, const member_info& m, const member_values& v) { found = {&m, v}; });
    return found;
  }
  bool is_scalar(const region& where, const std::string& member) {
    bool scalar = true;
    each_pe_with(where, member, [&](coord, const member_info& m, const member_values&) {
      scalar = scalar && m.extents.empty() && !m.grows;
    });
    return scalar;
  }
  std::string table(region where, const std::string& member) {
    constexpr int most = 24;
    const int columns = where.columns(), rows = where.rows();
    where.x1 = std::min(where.x1, where.x0 + most * where.sx),
    where.y1 = std::min(where.y1, where.y0 + most * where.sy);
    std::map<std::pair<int, int>, std::string> cells;
    std::size_t width = std::to_string(where.x1).size();
    each_pe_with(where, member, [&](coord c, const member_info& m, const member_values& v) {
      width = std::max(width, (cells[{c.x, c.y}] = debug::text_of(m, v.first)).size());
    });
    const std::size_t margin = std::max<std::size_t>(std::to_string(where.y1).size(), 3);
    std::string text = fmt::format("{:>{}}", "y\\x", margin);
    for (int x = where.x0; x < where.x1; x += where.sx) text += fmt::format("  {:>{}}", x, width);
    for (int y = where.y0; y < where.y1; y += where.sy) {
      text += fmt::format("\n{:>{}}", y, margin);
      for (int x = where.x0; x < where.x1; x += where.sx) {
        const auto cell = cells.find({x, y});
        text += fmt::format("  {:>{}}", cell == cells.end() ? "-" : cell->second, width);
      }
    }
    text += "\n";
    if (columns > most || rows > most)
      text += fmt::format("the first {} of {} columns and {} of {} rows\n", std::min(columns, most), columns,
                          std::min(rows, most), rows);
    return text;
  }
  std::string lines(const region& where, const std::string& member) {
    limited all;
    each_pe_with(where, member, [&](coord c, const member_info& m, const member_values& v) {
      all.add([&] { return fmt::format("{}  {}\n", wsl::text_of(c), debug::text_of(m, v, 16)); });
    });
    return all.text("more PEs");
  }
  static std::string index_text(const member_info& m, u64 i) {
    if (m.grows) return fmt::format("[{}]", i);
    std::string text;
    for (std::size_t k = m.extents.size(); k-- > 0; i /= m.extents[k])
      text = fmt::format("[{}]", i % m.extents[k]) + text;
    return text;
  }

  // ---- who waits for whom -----------------------------------------------------------------------

  /// The paths as a layout, on which waits are followed.
  layout layout_of_paths() const {
    layout plan(host, s_.width, s_.height);
    for (const path_info& p : s_.paths)
      if (p.phase > 0) plan.path(wsl::color<u32>{p.color}, p.where, p.how, phase{p.phase});
      else plan.path(wsl::color<u32>{p.color}, p.where, p.how);
    return plan;
  }

  // ---- differences ------------------------------------------------------------------------------

  void diff_place(std::size_t i, state_view& there) {
    const coord c = s_.grid().nth(static_cast<int>(i));
    const place_state &a = state(i), &b = there.state(i);
    const std::string at = wsl::text_of(c);
    const auto differs = [&](const std::string& what, const std::string& here, const std::string& other) {
      if (here != other)
        differences_.add([&] { return fmt::format("{}  {}: {} | {}\n", at, what, here, other); });
    };
    if (a.has_pe != b.has_pe)
      return differs("program", a.has_pe ? "some" : "none", b.has_pe ? "some" : "none");
    differs("words and switches", joined_lines(router(a)), joined_lines(there.router(b)));
    if (!a.has_pe) return;
    const program_info &p = s_.programs[a.program], &q = there.s_.programs[b.program];
    if (p.name != q.name) return differs("program", p.name, q.name);
    differs("state", joined_lines(doing(a, p)), joined_lines(there.doing(b, q)));
    if (s_.memories[i] == 0 || there.s_.memories[i] == 0) return;
    machine_state::each_member(s_.blocks[s_.memories[i]], p,
                               [&](const member_info& m, const member_values& v) {
                                 const member_info* same = q.find(m.name);
                                 if (!same || type_of(*same) != type_of(m))
                                   return differs(m.name, type_of(m), same ? type_of(*same) : "none");
                                 diff_member(differs, m, v, there.s_.values(c, q, *same));
                               });
  }
  template <class Differs>
  static void diff_member(Differs differs, const member_info& m, const member_values& v,
                          const member_values& w) {
    if (v.count != w.count)
      return differs("number of elements of " + m.name, std::to_string(v.count), std::to_string(w.count));
    for (u64 k = 0; k < v.count; ++k) {
      const char *x = v.first + k * m.element_bytes, *y = w.first + k * m.element_bytes;
      if (std::memcmp(x, y, m.element_bytes) == 0) continue;
      return differs(m.name + index_text(m, k), debug::text_of(m, x), debug::text_of(m, y));
    }
  }
  std::string doing(const place_state& p, const program_info& what) const {
    std::string text;
    if (*p.task) text += fmt::format("{} has begun and not ended\n", p.task);
    for (const char* call : p.calls) text += fmt::format("call of {}\n", call);
    for (const task_info& t : what.tasks) text += state_of(t, p);
    for (const operation_info& t : p.operations) text += text_of(t, what) + "\n";
    return text;
  }
  static std::string joined_lines(const std::string& lines) {
    std::string text;
    for (char c : lines) {
      if (c == '\n') text += "; ";
      else if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
    }
    return text.empty() ? "nothing" : text.substr(0, text.size() - 2);
  }

  const machine_state& s_;
  std::unordered_map<u32, place_state> read_;
  limited differences_;
};

}  // namespace wsl::debug
