// SPDX-License-Identifier: MIT
// Runs a task of a PE in no simulated time and records its actions with their cycles in the processor's
// script: its sends in order, its operations, and the cycles that it charges for its own code.
#pragma once
#include <utility>

#include "../journal.hpp"
#include "costs.hpp"
#include "processor.hpp"

namespace wsl::engines {

class script_recorder final : private cycle_counter {
 public:
  script_recorder(engine_port& engine, journal_windows& windows, u32 number)
      : engine_(&engine), journal_(engine, windows, number) {}
  script_recorder(const script_recorder&) = delete;
  script_recorder& operator=(const script_recorder&) = delete;

  send_journal& journal() { return journal_; }

  /// During its lifetime the operations that tasks run on this thread are counted.
  class listening {
   public:
    explicit listening(script_recorder& s)
        : before_(std::exchange(listening_counter, static_cast<cycle_counter*>(&s))) {}
    listening(const listening&) = delete;
    listening& operator=(const listening&) = delete;
    ~listening() { listening_counter = before_; }

   private:
    cycle_counter* before_;
  };

  /// Runs f, a task or the rest of one, which may send `most` wavelets of a color. The script already has the
  /// cost of the task's earlier parts.
  template <class F>
  void run(timed_processor& p, pe_state& s, const char* name, int most, u64 now, F f) {
    processor_ = &p, running_ = &s;
    begin_ = now;
    spent_ = p.script.empty() ? 0 : p.script[0].value;
    journal_.run(s, name, most, p, f);
    note_sends();
    p.registers.end_task(s.memory(), s.image->stride);
    running_ = nullptr;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) {
    journal_.send_control(from, color, type, bits);
  }

  /// Charges what the task list says that the running task costs.
  void declared(u64 cycles) { spend(cycles); }
  /// Whether any task has charged arithmetic: with me.spend, counted numbers or its declared cost, or with a
  /// descriptor operation that computes.
  bool charges_arithmetic() const { return charges_arithmetic_; }

  /// Throws fault if the running task may not start this operation.
  void may_start(pe_state& on, const transfer& t) { journal_.start(on, t, *processor_); }
  /// Records that the running task starts this operation.
  void start(flight& f, const transfer& t) {
    charges_arithmetic_ |= t.cost.what != work::move;
    take_turns(static_cast<u64>(engine_->target().operation_setup));
    processor_->asked.push(f);
    processor_->script.push_back({act::kind::start, 0});
  }

  /// Records that the running task reopens a color.
  void reopen(int color, int phase) {
    note_sends();
    processor_->script.push_back({act::kind::reopen, static_cast<u64>(phase), color});
    ++spent_;
  }

  /// The clock of the running task; `otherwise` for a PE that runs none.
  u64 now(const pe_state& s, u64 otherwise) const {
    return running_ == &s ? begin_ + spent_ + journal_.size() : otherwise;
  }

 private:
  void describe(const memory_operand& operand) override {
    if (!running_) return;
    const bool is_member =
        operand.first - reinterpret_cast<std::uintptr_t>(running_->memory()) < running_->image->stride;
    if (processor_->registers.load_if_absent(operand, engine_->target().descriptor_registers, is_member))
      take_turns(static_cast<u64>(engine_->target().descriptor_load));
  }
  void execute(instruction what) override { spend(timing::cycles(engine_->target(), what)); }
  void prioritize(main_priority of_tasks) override {
    if (!running_) return;
    note_sends();
    processor_->script.push_back({act::kind::prioritize, static_cast<u64>(of_tasks)});
    ++spent_;
  }
  // Adds the words that the running task has sent since the last call to its script.
  void note_sends() {
    journal_.take(*running_, [&](const wavelet& w) {
      processor_->script.push_back({act::kind::send, w.bits, w.color, w.control});
      ++spent_;
    });
  }
  void spend(u64 cycles) override {
    charges_arithmetic_ |= running_ && cycles > 0;
    take_turns(cycles);
  }
  void take_turns(u64 cycles) {
    if (!running_ || cycles == 0) return;
    note_sends();
    spent_ += cycles;
    support::flat_vector<act>& script = processor_->script;
    if (!script.empty() && script.back().what() == act::kind::busy &&
        cycles <= act::most - script.back().value)
      return void(script.back().value = (script.back().value + cycles) & act::most);
    for (; cycles > act::most; cycles -= act::most) script.push_back({act::kind::busy, act::most});
    script.push_back({act::kind::busy, cycles});
  }
  void operate(const operation_cost& what, u64 elements) override {
    charges_arithmetic_ |= what.what != work::move;
    take_turns(static_cast<u64>(engine_->target().operation_setup) +
               timing::cycles(engine_->target(), what, elements));
  }

  engine_port* engine_;
  send_journal journal_;
  timed_processor* processor_ = nullptr;
  // the PE whose task runs, its start, and the cycles of its script so far
  const pe_state* running_ = nullptr;
  u64 begin_ = 0, spent_ = 0;
  bool charges_arithmetic_ = false;
};

}  // namespace wsl::engines
