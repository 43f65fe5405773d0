// SPDX-License-Identifier: MIT
// The contents of a dump: a machine_state as bytes, and back. Nothing that is read is trusted: each number is
// checked where it is read, and each state and memory is read once before anything uses it.
#pragma once
#include "../layout/switches.hpp"
#include "machine_state.hpp"

namespace wsl::debug {

namespace contents {

inline void write(byte_writer& to, const region& r) {
  for (int n : {r.x0, r.x1, r.y0, r.y1, r.sx, r.sy}) to.number(static_cast<u64>(n));
}
inline region read_region(byte_reader& from, const region& grid) {
  region r;
  int* const fields[] = {&r.x0, &r.x1, &r.y0, &r.y1, &r.sx, &r.sy};
  for (int* f : fields) *f = static_cast<int>(from.at_most(1u << 20, "a region"));
  if (r.empty() || r.x1 > grid.x1 || r.y1 > grid.y1 || r.sx < 1 || r.sy < 1 || r.sx > 16 || r.sy > 16)
    from.fail("a region", "is none of this grid");
  return r;
}

inline void write(byte_writer& to, const program_info& p) {
  to.text(p.name), to.number(p.bytes);
  to.number(p.members.size());
  for (const member_info& m : p.members) {
    to.text(m.name), to.text(m.type);
    to.number(static_cast<u64>(m.kind)), to.number(m.element_bytes), to.number(m.grows);
    to.number(m.extents.size());
    for (u32 e : m.extents) to.number(e);
  }
  to.number(p.tasks.size());
  for (const task_info& t : p.tasks) {
    to.number(static_cast<u64>(t.what)), to.signed_number(t.id), to.text(t.name);
    to.number(static_cast<u64>(t.arrivals));
  }
}
/// Whether elements of this size can be numbers of this kind.
inline bool is_possible(element_kind kind, u32 bytes) {
  switch (kind) {
    case element_kind::bytes: return bytes >= 1;
    case element_kind::boolean: return bytes == 1;
    case element_kind::bf16: return bytes == 2;
    case element_kind::real: return bytes == 2 || bytes == 4 || bytes == 8;
    case element_kind::signed_number:
    case element_kind::unsigned_number: break;
  }
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}
inline member_info read_member(byte_reader& from) {
  member_info m;
  m.name = from.text("the name of a member"), m.type = from.text("the type of a member");
  m.kind =
      static_cast<element_kind>(from.at_most(static_cast<u64>(element_kind::bf16), "the kind of a member"));
  m.element_bytes = static_cast<u32>(from.at_most(1u << 20, "the size of an element"));
  if (!is_possible(m.kind, m.element_bytes))
    from.fail("a member", m.name + " has elements of " + std::to_string(m.element_bytes) + " bytes");
  m.grows = from.at_most(1, "the mark of a container") == 1;
  u64 all = 1;
  for (u64 n = from.at_most(detail::exported_member::most_extents, "a number of extents"); n > 0; --n) {
    m.extents.push_back(static_cast<u32>(from.at_most(1u << 30, "an extent")));
    all *= m.extents.back();
    if (all > u64{1} << 32) from.fail("a member", m.name + " has too many elements");
  }
  return m;
}
inline program_info read_program(byte_reader& from) {
  program_info p;
  p.name = from.text("the name of a program"), p.bytes = from.number("the size of a program");
  for (std::size_t n = from.count("a number of members"); n > 0; --n) {
    member_info m = read_member(from);
    if (p.find(m.name)) from.fail("a member", m.name + " stands there twice");
    p.members.push_back(std::move(m));
  }
  for (std::size_t n = from.count("a number of tasks"); n > 0; --n) {
    task_info t;
    t.what = static_cast<detail::role>(from.at_most(static_cast<u64>(detail::role::torn_down), "a task"));
    const i64 id = from.signed_number("the number of a task");
    if (id < -1 || id > 255) from.fail("the number of a task", "is " + std::to_string(id));
    t.id = static_cast<int>(id);
    t.name = from.text("the name of a task");
    t.arrivals = static_cast<int>(from.at_most(1u << 30, "the arrivals of a task"));
    p.tasks.push_back(std::move(t));
  }
  return p;
}

inline void write(byte_writer& to, const path_info& p) {
  write(to, p.where);
  to.number(static_cast<u64>(p.color)), to.number(p.how.from.bits), to.number(p.how.to.bits);
  to.number(static_cast<u64>(p.phase)), to.text(p.type);
}
/// A layout that is made at run time has room for so many.
inline constexpr u64 most_paths = 32000;
inline path_info read_path(byte_reader& from, const region& grid) {
  path_info p;
  p.where = read_region(from, grid);
  p.color = static_cast<int>(from.at_most(detail::max_colors - 1, "a color"));
  p.how.from.bits = static_cast<u8>(from.at_most(31, "the ports of a path"));
  p.how.to.bits = static_cast<u8>(from.at_most(31, "the ports of a path"));
  if (p.how.from.empty() || p.how.to.empty()) from.fail("a path", "has no ports");
  p.phase = static_cast<int>(from.at_most(phase::max_phases - 1, "the phase of a path"));
  p.type = from.text("the type of a path");
  return p;
}

inline void write(byte_writer& to, const engines::wait& w, text_table& texts) {
  to.number(static_cast<u64>(w.why));
  to.number(static_cast<u64>(w.at.x)), to.number(static_cast<u64>(w.at.y));
  to.signed_number(w.color);
  to.number(texts.number_of(w.program)), to.number(texts.number_of(w.what));
  to.number(w.count), to.signed_number(w.position), to.number(w.on_the_way);
}
inline engines::wait read_wait(byte_reader& from, const region& grid, const text_table& texts) {
  engines::wait w{};
  w.why = static_cast<engines::wait::reason>(
      from.at_most(static_cast<u64>(engines::wait::reason::lost), "the reason of a wait"));
  w.at.x = static_cast<int>(from.at_most(static_cast<u64>(grid.x1 - 1), "a column"));
  w.at.y = static_cast<int>(from.at_most(static_cast<u64>(grid.y1 - 1), "a row"));
  const i64 color = from.signed_number("a color");
  if (color < -1 || color >= detail::max_colors) from.fail("a color", "is " + std::to_string(color));
  w.color = static_cast<int>(color);
  w.program = texts[static_cast<std::size_t>(from.at_most(texts.size() - 1, "the number of a text"))];
  w.what = texts[static_cast<std::size_t>(from.at_most(texts.size() - 1, "the number of a text"))];
  w.count = from.number("the amount of a wait");
  const i64 position = from.signed_number("a position");
  if (position < -1 || position > 1 << 30) from.fail("a position", "is " + std::to_string(position));
  w.position = static_cast<int>(position);
  w.on_the_way = from.at_most(1, "the mark of a wait") == 1;
  return w;
}

// Neighbours are mostly equal, or have the next block: a difference of 0 or 1.
inline void write_index(byte_writer& to, const std::vector<u32>& blocks) {
  i64 before = 0;
  for (u32 b : blocks) to.signed_number(i64{b} - std::exchange(before, i64{b}));
}
inline std::vector<u32> read_index(byte_reader& from, std::size_t places, std::size_t blocks) {
  std::vector<u32> all;
  if (places > from.left()) from.fail("the index of places", "is too short");
  all.reserve(places);
  for (i64 before = 0; all.size() < places;) {
    const i64 step = from.signed_number("the number of a block");
    if (step < -i64{~u32{0}} || step > i64{~u32{0}} || before + step < 0 ||
        before + step >= static_cast<i64>(blocks))
      from.fail("the number of a block", "is none");
    all.push_back(static_cast<u32>(before += step));
  }
  return all;
}

}  // namespace contents

/// The bytes of a state.
inline std::string contents_of(machine_state& all) {
  byte_writer to;
  to.text(all.engine), to.text(all.machine);
  to.number(static_cast<u64>(all.width)), to.number(static_cast<u64>(all.height));
  to.number(static_cast<u64>(all.why)), to.text(all.sentence);
  to.number(all.cycle), to.number(all.unread_words);
  to.number(all.texts.size());
  for (std::size_t i = 0; i < all.texts.size(); ++i) to.text(all.texts.text(i));
  to.number(all.programs.size());
  for (const program_info& p : all.programs) contents::write(to, p);
  to.number(all.placements.size());
  for (const placement_info& p : all.placements) contents::write(to, p.where), to.number(p.program);
  to.number(all.paths.size());
  for (const path_info& p : all.paths) contents::write(to, p);
  to.number(all.waits.size());
  for (const engines::wait& w : all.waits) contents::write(to, w, all.texts);
  to.number(all.blocks.size());
  for (std::size_t i = 0; i < all.blocks.size(); ++i) to.text(all.blocks[i]);
  contents::write_index(to, all.states);
  contents::write_index(to, all.memories);
  return to.take();
}

/// The state that bytes say. Throws support::file_error where they are damaged.
inline machine_state state_of_contents(std::string_view bytes) {
  byte_reader from(bytes);
  machine_state all;
  all.engine = from.text("the name of the engine"), all.machine = from.text("the name of the machine");
  constexpr u64 longest = 32767;
  all.width = static_cast<int>(from.at_most(longest, "the width of the grid"));
  all.height = static_cast<int>(from.at_most(longest, "the height of the grid"));
  if (all.width == 0 || all.height == 0) from.fail("the grid", "has no PE");
  const region grid = all.grid();
  all.why =
      static_cast<dump_reason>(from.at_most(static_cast<u64>(dump_reason::fault), "the reason of the dump"));
  all.sentence = from.text("the sentence of the dump");
  all.cycle = from.number("the cycle"), all.unread_words = from.number("the number of unread words");
  const std::size_t texts = from.count("a number of texts");
  for (std::size_t i = 0; i < texts; ++i)
    if (const std::string_view t = from.text("a text"); t.find('\0') != t.npos)
      from.fail("a text", "has a zero in it");
    else if (all.texts.number_of(t) != i) from.fail("a text", "stands there twice");
  for (std::size_t n = from.count("a number of programs"); n > 0; --n)
    all.programs.push_back(contents::read_program(from));
  for (std::size_t n = from.count("a number of placements"); n > 0; --n) {
    if (all.programs.empty()) from.fail("a placement", "has no program");
    const region where = contents::read_region(from, grid);
    all.placements.push_back(
        {where, static_cast<std::size_t>(from.at_most(all.programs.size() - 1, "the number of a program"))});
  }
  for (u64 n = from.at_most(contents::most_paths, "a number of paths"); n > 0; --n)
    all.paths.push_back(contents::read_path(from, grid));
  for (std::size_t n = from.count("a number of waits"); n > 0; --n)
    all.waits.push_back(contents::read_wait(from, grid, all.texts));
  const std::size_t blocks = from.count("a number of blocks");
  for (std::size_t i = 0; i < blocks; ++i)
    if (all.blocks.add(std::string(from.text("a block"))) != i) from.fail("a block", "stands there twice");
  const auto places = static_cast<std::size_t>(all.width) * static_cast<std::size_t>(all.height);
  all.states = contents::read_index(from, places, all.blocks.size());
  all.memories = contents::read_index(from, places, all.blocks.size());
  from.must_be_at_end("the contents");
  // Each pair of a state and a memory is looked at once.
  std::unordered_map<u64, bool> seen;
  for (std::size_t i = 0; i < places; ++i) {
    if (!seen.try_emplace(u64{all.states[i]} << 32 | all.memories[i], true).second) continue;
    const place_state s = all.decoded(all.blocks[all.states[i]]);
    if (!s.has_pe || s.elsewhere) {
      if (all.memories[i] != 0) from.fail("a memory", "belongs to no PE");
      continue;
    }
    machine_state::each_member(all.blocks[all.memories[i]], all.programs[s.program],
                               [](const member_info&, const member_values&) {});
  }
  return all;
}

}  // namespace wsl::debug
