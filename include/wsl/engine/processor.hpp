// SPDX-License-Identifier: MIT
// One PE's processor in the reference engine: its main thread runs one task at a time, its microthreads move
// one word a cycle in turn, and what its tasks send waits in order for room in the output queues.
#pragma once
#include <bit>
#include <string>

#include "../support/flat_queue.hpp"
#include "../support/flat_vector.hpp"
#include "engine.hpp"

namespace wsl::engines {

struct processor {
  processor() = default;
  processor(const processor&) = delete;
  processor& operator=(const processor&) = delete;
  ~processor() {
    for (const transfer& t : microthreads)
      if (t.resumes) std::coroutine_handle<>::from_address(t.resumes).destroy();
  }

  support::flat_queue<host_call> calls;
  support::flat_queue<wavelet> outbox;          ///< sent by tasks, not yet in an output queue
  support::flat_vector<transfer> microthreads;  ///< descriptor operations in flight
  u32 turn = 0;                                 ///< the microthread that may move next
  const binding* task = nullptr;  ///< that the main thread runs, or ran last with operations in flight
  u64 torn_down = 0;              ///< colors that a command has closed, until their tasks run
  bool awake = false;
  bool postponed = false;    ///< stands among those whose lengthy tasks wait for their turn ...
  bool may_compute = false;  ///< ... which has come
  /// before this superstep its memory is read by another partition, and it is not visited
  u64 back_in = 0;

  /// A task waits in the middle of its body, so no other runs.
  bool suspended() const {
    for (const transfer& t : microthreads)
      if (t.resumes) return true;
    return false;
  }
  /// The operation in flight that reads a color, null if none does.
  transfer* reader_of(int color) {
    for (transfer& t : microthreads)
      if (t.input[0] == color || t.input[1] == color) return &t;
    return nullptr;
  }
  bool reads(int color) const { return const_cast<processor*>(this)->reader_of(color) != nullptr; }
  bool writes(int color) const {
    for (const transfer& t : microthreads)
      if (t.output == color) return true;
    return false;
  }
  bool holds_back(int color) const {
    for (const wavelet& w : outbox)
      if (w.color == color) return true;
    return false;
  }
};

/// "PE(3, 1) of runner<...>", as messages name a PE.
inline std::string name_of(const pe_state& s) {
  return "PE(" + std::to_string(s.x) + ", " + std::to_string(s.y) + ") of " + s.image->source->name;
}

/// What a program may not do with the fabric, whatever the engine.
namespace rule {

inline void declares_send(const pe_state& s, int color, const payload_type* type) {
  if (s.image->sent_type[color] == type) return;
  const binding* b = s.image->entry(role::send, color);
  if (!b)
    throw fault("wsl: " + name_of(s) + " sends color " + std::to_string(color) +
                ", but its table does not say sends<color>");
  if (b->type != type)
    throw fault("wsl: " + name_of(s) + " sends " + type->name + " on color " + std::to_string(color) +
                ", which carries " + b->type->name);
}

inline void has_path(const pe_state& s, int color, bool path) {
  if (!path)
    throw fault("wsl: " + name_of(s) + " sends color " + std::to_string(color) +
                ", but no path leads from its ramp; add .path(color, area, ramp >> ...) there or do not send "
                "on this PE");
}

inline void one_writer(const pe_state& s, int color, bool in_flight) {
  if (in_flight)
    throw fault("wsl: " + name_of(s) + " sends color " + std::to_string(color) +
                " while an operation still sends on it; wait for its completion");
}

inline void may_start(const pe_state& s, const transfer& t, const machine& m) {
  int inputs = 0;
  for (int k = 0; k < 2; ++k) {
    if (t.input[k] < 0) continue;
    ++inputs;
    if (s.image->read_type[t.input[k]] == t.input_type[k]) continue;
    const binding* b = s.image->entry(role::read, t.input[k]);
    if (!b)
      throw fault("wsl: " + name_of(s) + " reads color " + std::to_string(t.input[k]) + " with " + t.name +
                  ", but its table does not say reads<color>");
    if (b->type != t.input_type[k])
      throw fault("wsl: " + name_of(s) + " reads " + t.input_type[k]->name + " from color " +
                  std::to_string(t.input[k]) + ", which carries " + b->type->name);
  }
  if (inputs > m.fabric_inputs)
    throw fault("wsl: " + name_of(s) + " reads " + std::to_string(inputs) + " colors in one " + t.name +
                "; " + m.name + " reads " + std::to_string(m.fabric_inputs));
}

/// Operations of a PE at the end of a run of a task, those included that its run has started.
struct in_flight {
  int operations = 0;  ///< microthreads: what the main thread waits for is none
  int sending = 0;

  void count(const transfer& t) { operations += !t.resumes, sending += t.output >= 0; }
};
/// Looked at when a run ends and not before, because what moves at once does not call its engine.
inline void fits(const pe_state& s, const in_flight& all, const machine& m) {
  const auto refuse = [&](const char* what, int most, const char* places) {
    throw fault("wsl: " + name_of(s) + " has more than " + std::to_string(most) + what + "; " + m.name +
                " has " + std::to_string(most) + places +
                ": wait for the completion of some before starting others");
  };
  if (all.operations > m.microthreads) refuse(" operations in flight", m.microthreads, " microthreads");
  if (all.sending > m.output_queues)
    refuse(" operations that send in flight", m.output_queues, " output queues");
}

/// Two operations of a PE at the same time: what one of them has for itself alone.
inline void apart(const pe_state& s, const transfer& t, const transfer& other) {
  const auto refuse = [&](const std::string& what, const char* remedy) {
    throw fault("wsl: " + name_of(s) + " starts " + t.name + what + " of the " + other.name +
                " that is in flight; " + remedy);
  };
  if (t.microthread >= 0 && t.microthread == other.microthread)
    refuse(" on microthread " + std::to_string(t.microthread), "choose another, or wait for its completion");
  if (t.pushes && t.pushes == other.pushes)
    refuse(", which pushes into the FIFO", "a FIFO has one operation at each end: wait for its completion");
  if (t.pops && t.pops == other.pops)
    refuse(", which pops from the FIFO", "a FIFO has one operation at each end: wait for its completion");
}
/// Whether an operation needs that rule: most do not.
inline bool may_clash(const transfer& t) { return t.uses_fifo() || t.microthread >= 0; }
inline void apart(const pe_state& s, const transfer& t, const support::flat_vector<transfer>& in_flight) {
  if (!may_clash(t)) return;
  for (const transfer& other : in_flight) apart(s, t, other);
}
/// An output queue has one operation at a time; `sends(color)` says whether one in flight sends a color.
template <class Sends>
void has_queue_alone(const pe_state& s, const transfer& t, Sends sends) {
  if (t.output < 0) return;
  for (u64 left = s.image->sharing_queue_with(t.output) & s.image->present; left; left &= left - 1)
    if (const int color = std::countr_zero(left); sends(color))
      throw fault("wsl: " + name_of(s) + " starts " + t.name + " on color " + std::to_string(t.output) +
                  ", whose output queue an operation on color " + std::to_string(color) +
                  " still uses; wait for its completion");
}

inline void one_reader(const pe_state& s, int color, bool taken) {
  if (taken)
    throw fault(
        "wsl: " + name_of(s) + " reads color " + std::to_string(color) +
        " twice at once; a color has one reader: wait for the completion of the operation that reads it");
}

/// Why a task may not send; `in_flight`: an operation sends on the color.
[[noreturn]] inline void refuse_send(const pe_state& s, int color, const payload_type* type, bool in_flight) {
  declares_send(s, color, type);
  has_path(s, color, (s.image->present & color_bit(color)) != 0);
  one_writer(s, color, in_flight);
  throw fault("wsl: " + name_of(s) + " sends too many wavelets of color " + std::to_string(color) +
              " in one run of a task; a data task may send " + std::to_string(sends_of_a_data_task) +
              ", another task " + std::to_string(sends_of_a_task) +
              ": send more with a descriptor, me.async(mov(fabout(color), mem(array)))");
}

[[noreturn]] inline void not_closed(const pe_state& s, int color) {
  throw fault("wsl: " + name_of(s) + " reopens color " + std::to_string(color) +
              ", which is open: no command has torn it down");
}

[[noreturn]] inline void no_control_task(const pe_state& s, int color, int id) {
  throw fault("wsl: a control wavelet with id " + std::to_string(id) + " on color " + std::to_string(color) +
              " arrived at " + name_of(s) + ", which binds no such control task");
}

}  // namespace rule

/// Whether it is sure, when a local task has just run, that nothing is ready, without a look at all that
/// might be: the task has started an operation, which has moved as far as it can, and only its completion can
/// activate another.
inline bool is_at_rest(const pe_state& s, const processor* p) {
  if ((s.active & ~s.blocked) || s.image->reacts || !p || p->microthreads.size() != 1 || !p->calls.empty() ||
      p->torn_down)
    return false;
  const transfer& t = p->microthreads[0];
  return !t.complete() && !t.resumes && !rule::may_clash(t);
}

/// Runs a task: what it throws says where it happened. Inlined, because copying the call's captures would
/// stall every task.
template <class F>
[[gnu::always_inline]] inline void guarded(const pe_state& s, const char* what, F&& f) {
  try {
    f();
  } catch (const fault& e) { throw fault(std::string(e.what()) + "\n  in " + what + " on " + name_of(s)); }
}

/// What an operation of a quiet PE waits for; `starved(color)` says whether a read of the color has nothing
/// to take. One without an end waits for input only where the main thread stands behind it.
template <class Starved>
void operation_waits(waits& open, const pe_state& s, const transfer& t, bool main_thread_wanted,
                     Starved starved) {
  const u64 left = t.endless() ? 1 : t.length - t.done;
  const bool in_need = !t.endless() || (t.resumes && main_thread_wanted);
  const auto note = [&](wait::reason why, int color) {
    open.push_back({why, {s.x, s.y}, color, s.image->source->name, t.name, left});
  };
  bool fed = true;
  for (int color : t.input) {
    if (color < 0 || !starved(color)) continue;
    fed = false;
    if (in_need) note(wait::reason::input, color);
  }
  if (t.pops && t.pops->size == 0) {
    fed = false;
    if (in_need) note(t.pops->capacity ? wait::reason::pop : wait::reason::ended, -1);
  }
  if (fed && t.pushes && t.pushes->room() == 0) note(wait::reason::push, -1);
  else if (fed) note(wait::reason::output, t.output);
}

/// What a quiet PE's sends and operations wait for.
template <class Starved>
void operation_waits(waits& open, const processor& p, const pe_state& s, Starved starved) {
  const bool main_thread_wanted = !p.calls.empty() || (s.active & ~s.blocked);
  if (!p.outbox.empty())
    open.push_back({wait::reason::output,
                    {s.x, s.y},
                    p.outbox.begin()->color,
                    s.image->source->name,
                    "send",
                    p.outbox.size()});
  for (const transfer& t : p.microthreads)
    // else its task waits for room to go on
    if (!t.complete()) operation_waits(open, s, t, main_thread_wanted, starved);
}

/// The local tasks of a quiet PE that are activated but blocked.
inline void held_tasks(waits& open, const pe_state& s) {
  for (u32 held = s.active & s.blocked; held; held &= held - 1)
    open.push_back({wait::reason::held,
                    {s.x, s.y},
                    -1,
                    s.image->source->name,
                    s.image->local[std::countr_zero(held)]->name,
                    1});
}

}  // namespace wsl::engines
