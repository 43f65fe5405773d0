// SPDX-License-Identifier: MIT
// Takes the state of a fabric between two steps of its engine: everything that a dump has.
#pragma once
#include <cstring>

#include "../fabric/fabric.hpp"
#include "machine_state.hpp"

namespace wsl::debug {

namespace capturing {

inline member_info info_of(const detail::exported_member& e) {
  return {.name = e.name,
          .type = e.type,
          .kind = e.kind,
          .element_bytes = e.element_bytes,
          .extents = std::vector<u32>(e.extents, e.extents + e.rank),
          .grows = e.grows};
}
inline program_info info_of(const program& p) {
  program_info info{.name = p.name, .bytes = static_cast<u64>(p.bytes), .members = {}, .tasks = {}};
  for (int i = 0; i < p.exported; ++i) info.members.push_back(info_of(p.exports[i]));
  for (const detail::binding& b : p)
    if (b.runs()) info.tasks.push_back({b.what, b.id, b.name, b.arrivals});
  return info;
}

/// The exported members of a program, one after the other.
inline std::string memory_of(const program& p, const void* memory) {
  byte_writer to;
  for (int i = 0; i < p.exported; ++i) {
    const detail::exported_member& e = p.exports[i];
    const detail::exported_elements all = e.elements(memory);
    if (e.grows) to.number(all.count);
    if (all.count) to.raw(all.first, all.count * e.element_bytes);
  }
  return to.take();
}

/// The library's own name of what a color carries, where it is a scalar.
inline std::string short_name(const detail::payload_type* type) {
  constexpr std::pair<std::string_view, const char*> known[] = {{"float", "f32"},
                                                                {"int", "i32"},
                                                                {"unsigned int", "u32"},
                                                                {"short", "i16"},
                                                                {"unsigned short", "u16"},
                                                                {"basic_half<5, 10>", "f16"},
                                                                {"basic_half<8, 7>", "bf16"}};
  for (const auto& [compilers, own] : known)
    if (type && type->name == compilers) return own;
  return type ? type->name : "";
}
inline void add_paths(machine_state& all, const layout& plan) {
  for (const path_record& p : plan.paths())
    all.paths.push_back({p.where, p.color, plan.every_route(p), p.phase, short_name(p.type)});
}

/// The number of the program of a placement: programs of one class that differ in their colors are several.
inline void add_programs(machine_state& all, const layout& plan) {
  for (const placement& p : plan.placements()) {
    program_info info = info_of(*p.what);
    for (task_info& t : info.tasks)
      if (t.what == detail::role::data || t.what == detail::role::torn_down) t.id = p.colors(t.id);
    all.placements.push_back({p.where, all.programs.size()});
    all.programs.push_back(std::move(info));
  }
}

inline void add_waits(machine_state& all, engines::engine& from) {
  for (engines::wait w : from.what_waits()) {
    w.program = all.texts[all.texts.number_of(w.program)];
    w.what = all.texts[all.texts.number_of(w.what)];
    all.waits.push_back(w);
  }
}

inline void add_places(machine_state& all, engines::engine& from) {
  const layout& plan = from.plan();
  const auto n = static_cast<std::size_t>(all.grid().count());
  all.states.assign(n, 0), all.memories.assign(n, 0);
  pe_snapshot snapshot;
  for (std::size_t i = 0; i < n; ++i) {
    const coord c = all.grid().nth(static_cast<int>(i));
    pe* const p = from.find(c);
    const bool elsewhere = p && !from.here(*p);
    snapshot.clear();
    from.look_at(c, snapshot);
    snapshot.drop_empty();
    if (elsewhere) snapshot.state = &engines::state_of(*p);
    std::size_t program = 0;
    while (p && !plan.placements()[static_cast<int>(program)].where.has(c)) ++program;
    const bool empty = !p && snapshot.queues.empty() && snapshot.switches.empty();
    if (empty) continue;
    all.states[i] = all.blocks.add(machine_state::encoded(snapshot, program, elsewhere, all.texts));
    if (!p || elsewhere) continue;
    const engines::pe_state& s = engines::state_of(*p);
    all.memories[i] = all.blocks.add(memory_of(*s.image->source, s.memory()));
    all.cycle = from.now(s);
  }
}

}  // namespace capturing

/// The state of a fabric. Requires that none of its tasks runs. `sentence` says why it has stopped.
inline machine_state capture(fabric& f, dump_reason why = dump_reason::asked, std::string sentence = "") {
  engines::engine& from = f.engine_in_use();
  const layout& plan = f.plan();
  machine_state all;
  all.engine = from.name(), all.machine = plan.machine().name;
  all.width = plan.width(), all.height = plan.height();
  all.why = why, all.sentence = std::move(sentence);
  all.unread_words = from.unread_words();
  capturing::add_programs(all, plan);
  capturing::add_paths(all, plan);
  capturing::add_waits(all, from);
  capturing::add_places(all, from);
  return all;
}

}  // namespace wsl::debug
