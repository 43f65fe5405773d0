// SPDX-License-Identifier: MIT
// The state of a whole machine at one moment, as a dump has it: programs and their exported members, paths,
// what waits, and for each place of the grid the state of its PE and router. Most PEs of a wafer are in the
// same state, so states and memories are blocks of bytes that are kept once and numbered.
// docs/guide/debug.md describes the bytes.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "../core/area.hpp"
#include "../engine/diagnose/wait.hpp"
#include "../program/exports.hpp"
#include "bytes.hpp"
#include "pe_snapshot.hpp"

namespace wsl::debug {

using detail::element_kind;

/// An exported member of a program.
struct member_info {
  std::string name, type;  ///< `type` is that of an element
  element_kind kind = element_kind::bytes;
  u32 element_bytes = 0;
  std::vector<u32> extents{};  ///< none for a scalar
  bool grows = false;          ///< a container: its number of elements stands in each memory

  /// The number of elements, if it does not grow.
  u64 count() const {
    u64 n = 1;
    for (u32 e : extents) n *= e;
    return n;
  }
};

/// An entry of a task list that runs.
struct task_info {
  detail::role what = detail::role::launch;
  int id = -1;  ///< of a data task the color, of a local task its number
  std::string name;
  int arrivals = 0;
};

struct program_info {
  std::string name;
  u64 bytes = 0;
  std::vector<member_info> members;
  std::vector<task_info> tasks;

  const member_info* find(std::string_view member) const {
    for (const member_info& m : members)
      if (m.name == member) return &m;
    return nullptr;
  }
};

struct placement_info {
  region where;
  std::size_t program = 0;
};

/// A path of the layout with all ports that it ever uses.
struct path_info {
  region where;
  int color = 0;
  route how;
  int phase = 0;
  std::string type;
};

struct operation_info {
  const char* name = "";
  u64 length = 0, done = 0;  ///< elements; the largest length never completes
  int input[2] = {-1, -1}, output = -1;
  int activates = -1, unblocks = -1, unblocks_color = -1, each_time = -1;
  int microthread = -1;
  bool waited_for = false;  ///< a task waits for it
  bool signals = false;     ///< its completion signals an event
  struct fill {
    u64 size = 0, capacity = 0;
  };
  std::optional<fill> pops, pushes;  ///< its FIFOs; a capacity of 0 is an event

  bool endless() const { return length == ~u64{0}; }
};

struct join_info {
  int task = 0;
  u64 came = 0, waiting = 0;
};

/// The state of one place of the grid.
struct place_state {
  bool has_pe = false;
  bool elsewhere = false;  ///< another process runs the PE: only that process knows more
  std::size_t program = 0;
  const char* task = "";        ///< the task that waits in the middle of its body; empty if none does
  u32 active = 0, blocked = 0;  ///< local tasks
  u64 blocked_colors = 0;
  int lost_activation = 0;  ///< a local task, counted from 1
  std::vector<join_info> joins;
  std::vector<const char*> calls;
  std::vector<operation_info> operations;
  std::vector<queue_snapshot> queues;
  std::vector<switch_snapshot> switches;
};

/// The elements of a member in the memory of one PE.
struct member_values {
  const char* first = nullptr;
  u64 count = 0;
};

/// Blocks of bytes, equal ones once. Block 0 is empty.
class block_table {
 public:
  u32 add(std::string block) {
    const auto [at, is_new] = numbers_.try_emplace(std::move(block), static_cast<u32>(blocks_.size()));
    if (is_new) blocks_.push_back(&at->first);
    return at->second;
  }
  std::size_t size() const { return blocks_.size(); }
  const std::string& operator[](std::size_t k) const { return *blocks_[k]; }

  block_table() { add({}); }

 private:
  std::unordered_map<std::string, u32> numbers_;  // whose keys stay where they are
  std::vector<const std::string*> blocks_;
};

/// Texts, equal ones once; they stay where they are. Text 0 is empty.
class text_table {
 public:
  text_table() { number_of(""); }
  text_table(text_table&&) = default;
  text_table& operator=(text_table&&) = default;

  u32 number_of(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(std::string(text), static_cast<u32>(texts_.size()));
    if (is_new) texts_.push_back(std::string(text));
    return at->second;
  }
  std::size_t size() const { return texts_.size(); }
  const char* operator[](std::size_t k) const { return texts_[k].c_str(); }
  const std::string& text(std::size_t k) const { return texts_[k]; }

 private:
  std::unordered_map<std::string, u32> numbers_;
  std::deque<std::string> texts_;
};

/// Why there is a dump. The numbers are those of the file.
enum class dump_reason : u8 { asked, deadlock, fault };

class machine_state {
 public:
  machine_state() = default;
  machine_state(machine_state&&) = default;
  machine_state& operator=(machine_state&&) = default;

  std::string engine, machine;
  int width = 0, height = 0;
  dump_reason why = dump_reason::asked;
  std::string sentence;  ///< of the deadlock or fault
  u64 cycle = 0, unread_words = 0;
  text_table texts;
  std::vector<program_info> programs;
  std::vector<placement_info> placements;
  std::vector<path_info> paths;
  engines::waits waits;
  block_table blocks;
  std::vector<u32> states, memories;  ///< blocks, by place, row after row

  region grid() const { return {0, width, 0, height}; }
  std::size_t rank(coord c) const { return static_cast<std::size_t>(grid().rank(c)); }

  place_state at(coord c) const { return decoded(blocks[states[rank(c)]]); }
  /// What the paths of a color carry, or nothing.
  std::string type_of_color(int c) const {
    for (const path_info& p : paths)
      if (p.color == c) return p.type;
    return "";
  }
  /// The program of a place, null if it has none.
  const program_info* program_at(coord c) const {
    const place_state s = at(c);
    return s.has_pe ? &programs[s.program] : nullptr;
  }
  /// The elements of member k of the program at a place. Requires that its memory is in the dump.
  member_values values(coord c, const program_info& p, const member_info& wanted) const {
    member_values found;
    each_member(blocks[memories[rank(c)]], p, [&](const member_info& m, const member_values& v) {
      if (&m == &wanted) found = v;
    });
    return found;
  }
  bool has_memory(coord c) const { return memories[rank(c)] != 0; }

  /// Calls use(member, values) for the members of a memory of this program.
  template <class Use>
  static void each_member(const std::string& memory, const program_info& p, Use use) {
    byte_reader from(memory);
    for (const member_info& m : p.members) {
      const u64 n = m.grows ? from.at_most(memory.size() / (m.element_bytes ? m.element_bytes : 1),
                                           "a number of elements")
                            : m.count();
      use(m, member_values{from.raw(n * m.element_bytes, "a member"), n});
    }
    from.must_be_at_end("a memory");
  }

  /// The bytes of a place's state, and what they say. `decoded` throws support::file_error.
  static std::string encoded(const pe_snapshot& s, std::size_t program, bool elsewhere, text_table& texts);
  place_state decoded(const std::string& block) const;

 private:
  static void write(byte_writer& to, const engines::operation_in_flight& t, text_table& texts);
  const char* text_at(byte_reader& from) const {
    return texts[static_cast<std::size_t>(from.at_most(texts.size() - 1, "the number of a text"))];
  }
  operation_info operation(byte_reader& from) const;
  static queue_snapshot queue(byte_reader& from);
};

inline void machine_state::write(byte_writer& to, const engines::operation_in_flight& t, text_table& texts) {
  to.number(texts.number_of(t.name));
  to.number(t.endless() ? 0 : t.length + 1);
  to.number(t.done);
  for (int field : {int{t.input[0]}, int{t.input[1]}, int{t.output}, int{t.activates}, int{t.unblocks},
                    int{t.unblocks_color}, int{t.each_time}, int{t.microthread}})
    to.signed_number(field);
  to.number((t.resumes ? 1u : 0u) | (t.pops ? 2u : 0u) | (t.pushes ? 4u : 0u) | (t.signals ? 8u : 0u));
  for (const engines::fifo_state* f : {t.pops, t.pushes})
    if (f) to.number(f->size), to.number(f->capacity);
}

inline std::string machine_state::encoded(const pe_snapshot& s, std::size_t program, bool elsewhere,
                                          text_table& texts) {
  byte_writer to;
  to.number((s.state ? 1u : 0u) | (elsewhere ? 2u : 0u));
  if (s.state) {
    to.number(program);
    to.number(texts.number_of(s.task));
    to.number(s.state->active), to.number(s.state->blocked), to.number(s.state->blocked_colors);
    to.number(s.state->lost_activation);
    const u32 joined = elsewhere ? 0 : s.state->image->joined_locals;
    to.number(static_cast<u64>(std::popcount(joined)));
    for (u32 left = joined; left; left &= left - 1) {
      const engines::join_state& j = s.state->join_of(left & (~left + 1));
      to.number(static_cast<u64>(std::countr_zero(left))), to.number(j.came), to.number(j.waiting);
    }
    to.number(s.calls.size());
    for (const char* c : s.calls) to.number(texts.number_of(c));
    to.number(s.operations.size());
    for (const engines::operation_in_flight& t : s.operations) write(to, t, texts);
  }
  to.number(s.queues.size());
  for (const queue_snapshot& q : s.queues) {
    bool commands = false;
    for (const queue_snapshot::word& w : q.words) commands |= w.control;
    to.number(static_cast<u64>(q.where) * 2 + commands);
    to.number(static_cast<u64>(index_of(q.side)));
    to.number(q.color);
    to.number(q.words.size());
    for (const queue_snapshot::word& w : q.words) to.raw(&w.bits, sizeof w.bits);
    for (const queue_snapshot::word& w : q.words)
      if (commands) to.number(w.control);
  }
  to.number(s.switches.size());
  for (const switch_snapshot& w : s.switches)
    to.number(w.color), to.number(w.closed), to.signed_number(w.position);
  return to.take();
}

inline operation_info machine_state::operation(byte_reader& from) const {
  operation_info t;
  t.name = text_at(from);
  const u64 length = from.number("the length of an operation");
  t.length = length - 1;  // 0 stands for the largest number
  t.done = from.at_most(t.length, "the progress of an operation");
  for (int* field : {&t.input[0], &t.input[1], &t.output, &t.activates, &t.unblocks, &t.unblocks_color,
                     &t.each_time, &t.microthread}) {
    const i64 n = from.signed_number("a part of an operation");
    if (n < -1 || n >= detail::max_colors) from.fail("a part of an operation", "is " + std::to_string(n));
    *field = static_cast<int>(n);
  }
  const u64 flags = from.at_most(15, "the marks of an operation");
  t.waited_for = flags & 1, t.signals = flags & 8;
  const auto fill = [&] {
    const u64 size = from.number("the fill of a FIFO");
    return operation_info::fill{size, from.number("the capacity of a FIFO")};
  };
  if (flags & 2) t.pops = fill();
  if (flags & 4) t.pushes = fill();
  return t;
}

inline queue_snapshot machine_state::queue(byte_reader& from) {
  queue_snapshot q;
  const u64 kind = from.at_most(7, "the kind of a queue");
  q.where = static_cast<queue_snapshot::place>(kind / 2);
  q.side = every_port[from.at_most(4, "the side of a queue")];
  q.color = static_cast<u8>(from.at_most(detail::max_colors - 1, "a color"));
  const std::size_t n = from.count("a number of words");
  const char* words = from.raw(u64{4} * n, "the words of a queue");
  q.words.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    u32 bits = 0;
    std::memcpy(&bits, words + 4 * i, 4);
    q.words.push_back({bits, false});
  }
  for (queue_snapshot::word& w : q.words)
    if (kind & 1) w.control = from.at_most(1, "the mark of a control wavelet") == 1;
  return q;
}

inline place_state machine_state::decoded(const std::string& block) const {
  place_state s;
  if (block.empty()) return s;
  byte_reader from(block);
  const u64 flags = from.at_most(3, "the marks of a place");
  s.has_pe = flags & 1, s.elsewhere = flags & 2;
  if (s.has_pe) {
    if (programs.empty()) from.fail("a place", "has a program, and there is none");
    s.program = static_cast<std::size_t>(from.at_most(programs.size() - 1, "the number of a program"));
    s.task = text_at(from);
    s.active = static_cast<u32>(from.at_most(~u32{0}, "the active tasks"));
    s.blocked = static_cast<u32>(from.at_most(~u32{0}, "the blocked tasks"));
    s.blocked_colors = from.number("the blocked colors");
    s.lost_activation = static_cast<int>(from.at_most(63, "a lost activation"));
    for (std::size_t n = from.count("a number of joins"); n > 0; --n) {
      join_info j;
      j.task = static_cast<int>(from.at_most(detail::max_local_tasks - 1, "a local task"));
      j.came = from.number("arrivals"), j.waiting = from.number("arrivals");
      s.joins.push_back(j);
    }
    for (std::size_t n = from.count("a number of calls"); n > 0; --n) s.calls.push_back(text_at(from));
    for (std::size_t n = from.count("a number of operations"); n > 0; --n)
      s.operations.push_back(operation(from));
  }
  for (std::size_t n = from.count("a number of queues"); n > 0; --n) s.queues.push_back(queue(from));
  for (std::size_t n = from.count("a number of switches"); n > 0; --n) {
    switch_snapshot w;
    w.color = static_cast<u8>(from.at_most(detail::max_colors - 1, "a color"));
    w.closed = from.at_most(1, "the state of a switch") == 1;
    const i64 position = from.signed_number("the position of a switch");
    if (position < -1 || position > 15)
      from.fail("the position of a switch", "is " + std::to_string(position));
    w.position = static_cast<int>(position);
    s.switches.push_back(w);
  }
  from.must_be_at_end("the state of a place");
  return s;
}

}  // namespace wsl::debug
