// SPDX-License-Identifier: MIT
// One PE's processor in the timed engine. A task runs at once when it starts and leaves a script of its
// actions, cycle by cycle; the main thread then plays the script while operations in flight, the
// microthreads, take turns with it on the one datapath.
#pragma once
#include <bit>
#include <coroutine>

#include "../engine.hpp"
#include "../pe_waits.hpp"
#include "descriptor_registers.hpp"
#include "flight.hpp"

namespace wsl::engines {

/// The use of a PE's cycles. In all other cycles of a run the PE was idle.
struct pe_cycles {
  u64 tasks = 0;       ///< the main thread: tasks, their sends, their operations over memory
  u64 operations = 0;  ///< moves of operations with a fabric operand
  u64 starved = 0;     ///< nothing moved: an operation waits for wavelets
  u64 held_up = 0;     ///< nothing moved: a send or an operation waits for room

  u64 busy() const { return tasks + operations; }
  friend bool operator==(const pe_cycles&, const pe_cycles&) = default;
};

/// One step of a task's script.
struct act {
  enum class kind : u8 { busy, send, start, reopen, prioritize };
  static constexpr u64 most = (u64{1} << 54) - 1;  ///< cycles of one step

  u64 value : 54;  ///< cycles, the wavelet's bits, the phase, or the priority
  u64 color : 6;
  u64 control : 1;
  u64 number : 3;  ///< of its kind

  act() : act(kind::busy, 0) {}
  act(kind what_it_is, u64 of_value, int of_color = 0, bool is_control = false)
      : value(of_value & most),
        color(static_cast<u64>(of_color) & 63),
        control(is_control),
        number(static_cast<u64>(what_it_is) & 7) {}
  kind what() const { return static_cast<kind>(number); }
};
static_assert(sizeof(act) == 8);

/// The conditions on which an operation in flight can move, in few bytes: of many operations that wait, a
/// visit looks at nothing else.
struct flight_gate {
  static constexpr u32 none = ~u32{0};
  u32 in[2] = {none, none}, out = none;  ///< its pipes
  i8 output = -1;                        ///< the color of `out`
  /// whether it uses a FIFO, shares its output's queue, or fills several places at once
  bool has_more = false;

  flight_gate() = default;
  explicit flight_gate(const flight& f)
      : output(f.op.output),
        has_more(f.op.uses_fifo() || f.sharing_queue || (f.op.output >= 0 && f.width > 1)) {
    for (int k = 0; k < 2; ++k)
      if (f.op.input[k] >= 0) in[k] = f.in[k];
    if (f.op.output >= 0) out = f.out;
  }
};

/// The members that most visits use stand first.
struct alignas(64) timed_processor {
  enum class state : u8 { idle, computing, starved, held_up };

  u64 run = 0;             ///< the last run that has touched it
  bool rests = false;      ///< see rest.hpp
  bool paced = false;      ///< it is visited late, for several cycles at once
  bool hears_one = false;  ///< only words of one color come to it
  u8 hears = 0;            ///< the number of colors that come to it if they bring only data; 0 otherwise
  /// the thread whose turn it is: 0 the main thread, k + 1 microthread k
  u8 turn = 0;
  main_priority of_tasks = main_priority::medium_low;
  state now = state::idle;  ///< what it has done since ...
  u64 since = 0;            ///< ... this time
  u64 kept_until = 0;       ///< the datapath is occupied until then
  u32 router = 0;
  u32 line = 0;                             ///< the next act
  u64 in_flight = 0;                        ///< which microthreads are in use ...
  support::flat_vector<flight_gate> gates;  ///< ... by their numbers, ...
  u64 at_level[3] = {};                     ///< ... those of each priority, ...
  u64 special = 0;                          ///< ... those whose gates have more to look at, ...
  support::flat_vector<flight*> flights;    ///< ... and what they do
  support::flat_vector<act> script;         ///< the script of the running task
  support::flat_queue<wavelet> outbox;      ///< sent by tasks, not yet in an output queue
  flight* own = nullptr;                    ///< the operation that the main thread waits for, if it waits
  void* resumes = nullptr;  ///< the main thread's task, resumed when that operation is complete
  u64 ramp_free = 0;        ///< the time at which the ramp takes the next word
  pe_cycles spent;
  support::flat_queue<host_call> calls;
  flight_list asked;    ///< operations that the running task will start
  spare_flights spare;  ///< memory for the next operations
  descriptor_registers registers;
  u64 task_since = 0;
  const char* task = "";

  timed_processor() = default;
  timed_processor(const timed_processor&) = delete;
  timed_processor& operator=(const timed_processor&) = delete;
  ~timed_processor() {
    destroy(resumes);
    if (own) destroy(own->op.resumes);
    for (const flight* f = asked.begin(); f; f = f->next) destroy(f->op.resumes);
  }

  bool in_task() const { return line < script.size() || own; }

  template <class Use>
  bool any_operation(Use use) const {
    for (u64 left = in_flight; left; left &= left - 1)
      if (use(flights[static_cast<std::size_t>(std::countr_zero(left))]->op)) return true;
    for (const flight* f = asked.begin(); f; f = f->next)
      if (use(f->op)) return true;
    return own && use(own->op);
  }
  template <class Use>
  void each_operation(Use use) const {
    any_operation([&](const operation_in_flight& t) { return use(t), false; });
  }
  bool reads(int color) const {
    return any_operation(
        [=](const operation_in_flight& t) { return t.input[0] == color || t.input[1] == color; });
  }
  bool writes(int color) const {
    return any_operation([=](const operation_in_flight& t) { return t.output == color; });
  }
  bool holds_back(int color) const {
    for (const wavelet& w : outbox)
      if (w.color == color) return true;
    return false;
  }
  /// Puts an operation in flight, on the microthread with the lowest free number.
  void fly(flight& f) {
    const auto k = static_cast<u32>(std::countr_one(in_flight));
    if (k == flights.size()) flights.push_back(nullptr), gates.push_back({});
    flights[k] = &f;
    gates[k] = flight_gate(f);
    in_flight |= u64{1} << k;
    at_level[static_cast<int>(f.level)] |= u64{1} << k;
    special |= u64{gates[k].has_more} << k;
  }
  void land(u32 k) {
    in_flight &= ~(u64{1} << k);
    at_level[static_cast<int>(flights[k]->level)] &= ~(u64{1} << k);
    special &= ~(u64{1} << k);
    spare.push(*flights[k]);
  }

  void settle(u64 at) {
    const u64 passed = at - since;
    if (now == state::computing) {
      spent.tasks += passed;
      script[line].value = (script[line].value - passed) & act::most;
      if (script[line].value == 0) ++line;
    }
    if (now == state::starved) spent.starved += passed;
    if (now == state::held_up) spent.held_up += passed;
    become(state::idle, at);
  }
  void become(state what, u64 at) { now = what, since = at; }

 private:
  static void destroy(void* waiting) {
    if (waiting) std::coroutine_handle<>::from_address(waiting).destroy();
  }
};

}  // namespace wsl::engines
