// SPDX-License-Identifier: MIT
// The rules that a program must obey on its PE, whatever the engine: one function for each rule, which throws
// a fault with the message for the programmer. Engines check them when a task starts an operation
// (may_begin), sends a control wavelet (may_send_control) or ends (sent_nothing_refused, fits). See
// docs/errors.md.
#pragma once
#include <bit>
#include <string>

#include "../core/fault.hpp"
#include "../program/pe.hpp"
#include "engine.hpp"
#include "task_exception.hpp"

namespace wsl::engines {

/// "PE(3, 1) of runner<...>", as messages name a PE.
inline std::string name_of(const pe_state& s) {
  return support::joined({text_of(coord{s.x, s.y}), " of ", s.image->source->name});
}

/// The remedy where two operations use one color at a time. The colors of a library module are its own.
inline std::string one_at_a_time(const pe_state& s, int color, const char* otherwise) {
  for (const detail::claim& c : static_cast<const engine&>(*s.image->engine).plan().claims())
    if (color >= c.first && color < c.first + c.count && c.where.has({s.x, s.y}))
      return support::joined({"; the color is one of ", c.module,
                              ", whose last call is not complete here: call it again from its completion"});
  return otherwise;
}

/// Adds the place to the exception that is being handled.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_with_place(const pe_state& s, const char* what) {
  const std::string place = support::joined({"\n  in ", what, " on ", name_of(s)});
  try {
    throw;
  } catch (const fault& e) { throw fault(e.what() + place); } catch (...) {
    throw task_exception(place);
  }
}
/// Runs a task and adds the place to its exceptions. It is inlined because copying the call's captures would
/// stall every task.
template <class F>
[[gnu::always_inline]] inline void with_place_in_faults(const pe_state& s, const char* what, F&& f) {
  try {
    f();
  } catch (...) { throw_with_place(s, what); }
}

/// While it lives, this thread runs tasks. A send that was refused to the last of them is forgotten when it
/// ends, because the task has thrown something else. It may be nested in a task of another fabric.
class task_turn {
 public:
  [[gnu::always_inline]] task_turn() : before_(std::exchange(rejected, {})) {}
  task_turn(const task_turn&) = delete;
  task_turn& operator=(const task_turn&) = delete;
  ~task_turn() { rejected = before_; }

 private:
  rejected_send before_;
  task_stack frames_;
};

namespace rule {

[[noreturn]] inline void outside_of_a_task(int x, int y, int color) {
  throw fault(
      support::joined({"wsl: color ", color, " was sent on ", text_of(coord{x, y}),
                       " outside of a task: a pe& is good in the task that was given it, not later"}));
}
/// Throws fault if a send was refused outside of a task. It is called before a run, because `pe::send` itself
/// calls nothing.
inline void nothing_was_sent_outside_of_a_task() {
  if (runs_a_task()) return;  // of another fabric
  if (const rejected_send r = std::exchange(rejected, {}); r.color >= 0) outside_of_a_task(r.x, r.y, r.color);
}

inline void declares_send(const pe_state& s, int color, const payload_type* type) {
  if (s.image->sent_type[color] == type) return;
  const binding* b = s.image->entry(role::send, color);
  if (!b)
    throw fault("wsl: " + name_of(s) + " sends " + name_of_color(color, s.image->engine->target().colors) +
                ", but its task list does not say sends<color>");
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
                " while an operation still sends on it" +
                one_at_a_time(s, color, "; wait for its completion"));
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
                  ", but its task list does not say reads<color>");
    if (b->type != t.input_type[k])
      throw fault("wsl: " + name_of(s) + " reads " + t.input_type[k]->name + " from color " +
                  std::to_string(t.input[k]) + ", which carries " + b->type->name);
  }
  if (inputs > m.fabric_inputs)
    throw fault("wsl: " + name_of(s) + " reads " + std::to_string(inputs) + " colors in one " + t.name +
                "; " + m.name + " reads " + std::to_string(m.fabric_inputs));
}

/// The operations of a PE at the end of a run of a task, including those that this run has started.
struct in_flight {
  int operations = 0;  ///< the number of microthreads; an operation that the main thread waits for is none
  int sending = 0;

  void count(const operation_in_flight& t) { operations += !t.resumes, sending += t.output >= 0; }
};
/// Checked when a run ends and not before, because an operation that moves at once does not call its engine.
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

/// Two simultaneous operations of a PE must not share an end of a FIFO or a microthread.
inline void apart(const pe_state& s, const operation_in_flight& t, const operation_in_flight& other) {
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
/// Whether that rule concerns an operation; most use neither a FIFO nor a chosen microthread.
inline bool may_clash(const operation_in_flight& t) { return t.uses_fifo() || t.microthread >= 0; }
/// While an operation sends a color, its window is closed to tasks and to other operations.
inline bool operation_sends(const pe_state& s, int color) { return s.window_of(color).is_closed(); }
/// An output queue has one operation at a time.
inline void has_queue_alone(const pe_state& s, const transfer& t) {
  if (t.output < 0) return;
  for (u64 left = s.image->sharing_queue_with(t.output) & s.image->present; left; left &= left - 1)
    if (const int color = std::countr_zero(left); operation_sends(s, color))
      throw fault("wsl: " + name_of(s) + " starts " + t.name + " on color " + std::to_string(t.output) +
                  ", whose output queue an operation on color " + std::to_string(color) +
                  " still uses; wait for its completion");
}

inline void one_reader(const pe_state& s, int color, bool taken) {
  if (taken)
    throw fault(
        "wsl: " + name_of(s) + " reads color " + std::to_string(color) + " twice at once" +
        one_at_a_time(s, color,
                      "; a color has one reader: wait for the completion of the operation that reads it"));
}

/// All rules for an operation that a task of this PE starts. `in_flight` gives access to the PE's other
/// operations: each_operation(use) and reads(color).
template <class InFlight>
void may_begin(const pe_state& s, const transfer& t, const machine& m, const InFlight& in_flight) {
  if (!runs_a_task())
    throw fault("wsl: " + name_of(s) + " starts " + t.name +
                " outside of a task: a pe& is good in the task that was given it, not later");
  may_start(s, t, m);
  if (may_clash(t)) in_flight.each_operation([&](const operation_in_flight& other) { apart(s, t, other); });
  has_queue_alone(s, t);
  for (int k = 0; k < 2; ++k)
    if (t.input[k] >= 0)
      one_reader(s, t.input[k], in_flight.reads(t.input[k]) || (k == 1 && t.input[0] == t.input[1]));
  if (t.output < 0) return;
  declares_send(s, t.output, t.output_type);
  has_path(s, t.output, (s.image->present & color_bit(t.output)) != 0);
  one_writer(s, t.output, operation_sends(s, t.output));
}

/// Throws the fault that explains why a task may not send.
[[noreturn]] inline void refuse_send(const pe_state& s, int color, const payload_type* type) {
  rejected = {};
  if (!runs_a_task()) outside_of_a_task(s.x, s.y, color);
  declares_send(s, color, type);
  has_path(s, color, (s.image->present & color_bit(color)) != 0);
  one_writer(s, color, operation_sends(s, color));
  throw fault("wsl: " + name_of(s) + " sends too many wavelets of color " + std::to_string(color) +
              " in one run of a task; a data task may send " + std::to_string(sends_of_a_data_task) +
              ", another task " + std::to_string(sends_of_a_task) +
              ": send more with a descriptor, me.async(mov(fabout(color), mem(array)))");
}
/// Checked when a task has ended, because `pe::send` itself makes no call.
inline void sent_nothing_refused(const pe_state& s) {
  if (rejected.color >= 0) [[unlikely]]
    refuse_send(s, rejected.color, rejected.type);
}
/// The window that takes a control wavelet of the running task.
inline send_window& may_send_control(const pe_state& s, int color, const payload_type* type) {
  if (s.image->sent_type[color] != type) refuse_send(s, color, type);
  send_window& out = s.window_of(color);
  if (out.is_closed() || out.next() >= out.limit() + s.sends_at_most) refuse_send(s, color, type);
  return out;
}
/// The number of wavelets of a color that one run of a task may send.
inline int sends_of(const binding& task) {
  return task.what == role::data ? sends_of_a_data_task : sends_of_a_task;
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

}  // namespace wsl::engines
