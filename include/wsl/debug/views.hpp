// SPDX-License-Identifier: MIT
// What wsl-debug and the debugger's prompt show of a machine's state, as text: all of it in short, a PE, a
// member, a color, the PEs that wait for each other, differences.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "comparison.hpp"
#include "difference.hpp"
#include "task_counts.hpp"

namespace wsl::debug {

class state_view {
 public:
  /// The state must outlive the view.
  explicit state_view(const machine_state& of) : s_(of), places_(of) {}

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
    task_counts tasks(s_);
    counts all;
    for (std::size_t i = 0; i < s_.states.size(); ++i) {
      const place_state& p = places_[i];
      all.add(p);
      if (!p.has_pe) continue;
      ++pes;
      tasks.add(p);
      if (waits_here[i]) ++stuck, ++waiting[p.program];
    }
    for (const placement_info& p : s_.placements) {
      const program_info& what = s_.programs[p.program];
      text += fmt::format("{}\n  on {} ({}), {} bytes each; {} wait\n", what.name, wsl::text_of(p.where),
                          engines::counted(p.where.count(), "PE"), what.bytes, waiting[p.program]);
      if (!what.members.empty()) text += "  members  " + members_of(what) + "\n";
      if (!what.tasks.empty()) text += "  tasks    " + tasks.text(p.program) + "\n";
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
    const place_state& p = places_[s_.rank(c)];
    if (!p.has_pe) return wsl::text_of(c) + " has no program\n" + router_text(s_, p);
    const program_info& what = s_.programs[p.program];
    std::string text = wsl::text_of(c) + " runs " + what.name + "\n";
    if (p.elsewhere) return text + "  another process runs it, whose dump says more\n";
    for (const engines::wait& w : s_.waits)
      if (w.at == c && (holds_up_pe(w) || s_.why == dump_reason::deadlock))
        text += "  waits       " + wait_text(w) + "\n";
    if (*p.task) text += fmt::format("  task        {} has begun and not ended\n", p.task);
    for (const char* call : p.calls) text += fmt::format("  call        {} has not begun\n", call);
    for (const task_info& t : what.tasks) text += task_text(t, p);
    for (const operation_info& t : p.operations) text += "  operation   " + operation_text(t, what) + "\n";
    text += router_text(s_, p);
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
    limited_text lines;
    for (std::size_t i = 0; i < s_.states.size(); ++i) {
      const place_state& p = places_[i];
      const std::string at = wsl::text_of(s_.grid().nth(static_cast<int>(i)));
      for (const queue_snapshot& q : p.queues)
        if (q.color == c) lines.add([&] { return "  " + at + "  " + queue_text(s_, q) + "\n"; });
      for (const switch_snapshot& w : p.switches)
        if (w.color == c) lines.add([&] { return "  " + at + "  " + switch_text(w) + "\n"; });
      for (const operation_info& t : p.operations)
        if (t.input[0] == c || t.input[1] == c || t.output == c)
          lines.add([&] { return "  " + at + "  " + operation_text(t, s_.programs[p.program]) + "\n"; });
    }
    return text + lines.text("more queues and operations have this color");
  }

  /// The PEs on which an element of a member compares so with a number. Requires a comparison.
  std::string find(const member_condition& wanted, const region& where) {
    limited_text found;
    each_pe_with(where, wanted.member, [&](coord c, const member_info& m, const member_values& v) {
      comparison::must_have_numbers(m);
      if (const std::optional<u64> i = wanted.compared->first_of(m, v))
        found.add([&] {
          return fmt::format("{}  {}{} = {}\n", wsl::text_of(c), m.name, index_text(m, *i),
                             debug::text_of(m, v.first + *i * m.element_bytes));
        });
    });
    return found.empty() ? "none\n" : found.text("more PEs have such elements");
  }

  /// What differs in another state of the same machine.
  std::string diff(const machine_state& other) {
    must_be_as_large(other);
    return difference(s_, other).text();
  }
  /// What differs on the PEs of a region.
  std::string diff(const machine_state& other, const region& where) {
    must_be_as_large(other);
    return difference(s_, other).text(where);
  }
  /// The elements of a member that differ on the PEs of a region.
  std::string diff(const machine_state& other, const region& where, const std::string& member) {
    must_be_as_large(other);
    each_pe_with(where, member, [](coord, const member_info&, const member_values&) {});
    return difference(s_, other).text(where, member);
  }

  void must_be_inside(coord c) const {
    if (!s_.grid().has(c))
      throw command_error(
          fmt::format("{} is outside of the grid of {} x {} PEs: columns 0 to {}, rows 0 to {}",
                      wsl::text_of(c), s_.width, s_.height, s_.width - 1, s_.height - 1));
  }
  const machine_state& state_shown() const { return s_; }
  /// For each place of the grid, whether its PE waits.
  std::vector<bool> places_that_wait() const {
    std::vector<bool> all(s_.states.size());
    for (const engines::wait& w : s_.waits)
      if (holds_up_pe(w)) all[s_.rank(w.at)] = true;
    return all;
  }
  /// The paths as a layout, on which waits are followed.
  layout layout_of_paths() const {
    layout plan(host, s_.width, s_.height);
    for (const path_info& p : s_.paths)
      if (p.phase > 0) plan.path(wsl::color<u32>{p.color}, p.where, p.how, phase{p.phase});
      else plan.path(wsl::color<u32>{p.color}, p.where, p.how);
    return plan;
  }

 private:
  void must_be_as_large(const machine_state& other) const {
    if (other.width != s_.width || other.height != s_.height)
      throw command_error(fmt::format("the other dump has {} x {} PEs, and this one {} x {}", other.width,
                                      other.height, s_.width, s_.height));
  }

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

  /// Whether it is the PE that waits. Where a run goes on, or has ended in the middle of its tasks, words
  /// that no task has taken yet only are on their way, and so are those that have just been sent.
  bool holds_up_pe(const engines::wait& w) const {
    using r = engines::wait::reason;
    if (w.why == r::router || w.why == r::router_switch || w.why == r::stream) return false;
    return s_.why == dump_reason::deadlock ||
           (w.why != r::unread && w.why != r::call && w.why != r::output && w.why != r::behind);
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
      const place_state& p = places_[s_.rank(c)];
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
    limited_text all;
    each_pe_with(where, member, [&](coord c, const member_info& m, const member_values& v) {
      all.add([&] { return fmt::format("{}  {}\n", wsl::text_of(c), debug::text_of(m, v, 16)); });
    });
    return all.text("more PEs");
  }
  const machine_state& s_;
  places places_;
};

}  // namespace wsl::debug
