// SPDX-License-Identifier: MIT
// What a place of the grid is about, in lines of text: waits, tasks, operations, queues, switches.
#pragma once
#include <fmt/format.h>

#include "../engine/diagnose/wait_text.hpp"
#include "../layout/switches.hpp"
#include "values.hpp"

namespace wsl::debug {

inline std::string wait_text(const engines::wait& w) {
  engines::wait_group one{.first = &w, .newest = {}, .some = {}};
  one.add(w);
  one.finish();
  return engines::predicate(one);
}

/// A line for a task that is blocked, active or waits to be joined; nothing for any other.
inline std::string task_text(const task_info& t, const place_state& p) {
  using detail::role;
  if (t.what == role::data)
    return t.id >= 0 && t.id < detail::max_colors && p.blocked_colors & detail::color_bit(t.id)
               ? fmt::format("  task        {} of color {} is blocked\n", t.name, t.id)
               : "";
  if (t.what != role::local || t.id < 0 || t.id >= detail::max_local_tasks) return "";
  const u32 bit = detail::local_bit(t.id);
  std::string is = p.active & bit ? "is active" : "";
  if (p.blocked & bit) is += is.empty() ? "is blocked" : " and blocked";
  for (const join_info& j : p.joins)
    if (j.task == t.id && j.came)
      is += fmt::format("{}has {} of {} arrivals", is.empty() ? "" : ", ", j.came, t.arrivals);
  if (p.lost_activation == t.id + 1) is += is.empty() ? "has lost an activation" : ", has lost an activation";
  return is.empty() ? "" : fmt::format("  task        {} {}\n", t.name, is);
}

inline std::string local_name(const program_info& of, int id) {
  for (const task_info& t : of.tasks)
    if (t.what == detail::role::local && t.id == id) return t.name;
  return fmt::format("local task {}", id);
}
inline std::string operation_text(const operation_info& t, const program_info& of) {
  std::string text = t.endless() ? fmt::format("{}: {} elements so far, without an end", t.name, t.done)
                                 : fmt::format("{}: {} of {} elements", t.name, t.done, t.length);
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

inline std::string queue_text(const machine_state& s, const queue_snapshot& q) {
  std::string text;
  switch (q.where) {
    case queue_snapshot::place::input: text = "input queue"; break;
    case queue_snapshot::place::output: text = "output queue"; break;
    case queue_snapshot::place::unsent: text = "sent, before the output queue"; break;
    case queue_snapshot::place::link: text = fmt::format("router, from {}", name_of(q.side)); break;
  }
  text += fmt::format(": {} of color {}:", engines::counted(q.words.size(), "word"), q.color);
  constexpr std::size_t most = 16;
  const std::string type = s.type_of_color(q.color);
  for (std::size_t i = 0; i < q.words.size() && i < most; ++i)
    text += " " + debug::text_of(wavelet{q.words[i].bits, q.color, q.words[i].control}, type);
  return q.words.size() > most ? text + " ..." : text;
}
inline std::string switch_text(const switch_snapshot& w) {
  if (w.closed) return fmt::format("switch of color {} is torn down", w.color);
  return w.position < 0 ? fmt::format("color {} is open", w.color)
                        : fmt::format("switch of color {} is at position {}", w.color, w.position);
}
inline std::string router_text(const machine_state& s, const place_state& p) {
  std::string text;
  for (const queue_snapshot& q : p.queues) text += "  queue       " + queue_text(s, q) + "\n";
  for (const switch_snapshot& w : p.switches) text += "  router      " + switch_text(w) + "\n";
  return text;
}

}  // namespace wsl::debug
