// SPDX-License-Identifier: MIT
// Runs a task of a PE in no time and writes down in its processor's script what it did and for how many
// cycles: sends in their order, operations, and what it says its own code costs.
#pragma once
#include <utility>

#include "costs.hpp"
#include "processor.hpp"

namespace wsl::engines {

class script_recorder final : private cycle_counter {
 public:
  explicit script_recorder(engine_link& engine)
      : engine_(&engine), words_(max_colors * large_buffer), journal_(max_colors * large_buffer) {
    for (int k = 0; k < max_colors; ++k)
      channels_[k].large = true, channels_[k].words = words_.data() + k * large_buffer;
  }
  script_recorder(const script_recorder&) = delete;
  script_recorder& operator=(const script_recorder&) = delete;

  /// Tasks send into channels that all PEs share; the journal says in which order the words go to the output
  /// queues.
  channel* channels() { return channels_; }

  /// While it lives, the operations that tasks run on this thread are counted.
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

  /// Runs f, a task or the rest of one, which may send `most` wavelets of a color. The script has what the
  /// task has cost before.
  template <class F>
  void run(timed_processor& p, pe_state& s, const char* name, int most, u64 now, F f) {
    engine_->journal = journal_.data();
    written_ = engine_->journal;
    for (u64 left = s.image->present; left; left &= left - 1) {
      const u16 slot = s.image->slot[std::countr_zero(left)];
      channel& c = channels_[slot];
      c.move_to(0);
      c.open(0);  // every send is written down in the journal
      if (p.writes(std::countr_zero(left))) c.close();
      read_[slot] = 0;
    }
    processor_ = &p, running_ = &s;
    begin_ = now;
    spent_ = p.script.empty() ? 0 : p.script[0].value;
    guarded(s, name, [&] {
      f();
      if (rejected.color >= 0) refuse(s, rejected.color, rejected.type);
      for (u64 left = s.image->present; left; left &= left - 1)
        if (const int color = std::countr_zero(left); s.channel_of(color).next() > most)
          refuse(s, color, s.image->sent_type[color]);
      if (p.asked.empty()) return;
      rule::in_flight all;
      p.each_operation([&](const transfer& t) { all.count(t); });
      rule::fits(s, all, engine_->target());
    });
    note_sends();
    running_ = nullptr;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) {
    if (from.image->sent_type[color] != type) refuse(from, color, type);
    channel& out = from.channel_of(color);
    if (out.next() == out.size() || out.is_closed()) refuse(from, color, type);
    *out.room() = bits;
    out.move_to(out.next() + 1);
    *engine_->journal++ = static_cast<u32>(color) | control_flag;
  }

  /// Whether any task has charged arithmetic: with me.spend, or with a descriptor operation that computes.
  bool charges_arithmetic() const { return charges_arithmetic_; }

  /// The running task starts this operation.
  void start(const flight& f) {
    charges_arithmetic_ |= f.op.cost.what != work::move;
    take_turns(static_cast<u64>(engine_->target().operation_setup));
    processor_->asked.push(f);
    processor_->script.push_back({act::kind::start});
  }

  /// The running task reopens a color.
  void reopen(int color, int phase) {
    note_sends();
    processor_->script.push_back({act::kind::reopen, static_cast<u8>(color), false, static_cast<u64>(phase)});
    ++spent_;
  }

  /// The running task's clock; `otherwise` for a PE that runs none.
  u64 now(const pe_state& s, u64 otherwise) const {
    return running_ == &s ? begin_ + spent_ + static_cast<u64>(engine_->journal - written_) : otherwise;
  }

 private:
  static constexpr u32 control_flag = 0x100;

  [[noreturn]] void refuse(pe_state& s, int color, const payload_type* type) {
    rejected = {};
    rule::refuse_send(s, color, type, processor_->writes(color));
  }

  // What the running task has sent since it was last asked goes into its script.
  void note_sends() {
    for (; written_ != engine_->journal; ++written_, ++spent_) {
      const auto color = static_cast<u8>(*written_ & ~control_flag);
      const u16 slot = running_->image->slot[color];
      processor_->script.push_back(
          {act::kind::send, color, (*written_ & control_flag) != 0, channels_[slot].words[read_[slot]++]});
    }
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
    if (!script.empty() && script.back().what == act::kind::busy) script.back().value += cycles;
    else script.push_back({act::kind::busy, 0, false, cycles});
  }
  void operate(const operation_cost& what, u64 elements) override {
    charges_arithmetic_ |= what.what != work::move;
    take_turns(static_cast<u64>(engine_->target().operation_setup) +
               timing::cycles(engine_->target(), what, elements));
  }

  engine_link* engine_;
  channel channels_[max_colors];
  support::flat_vector<u32> words_, journal_;
  timed_processor* processor_ = nullptr;
  const pe_state* running_ = nullptr;  // whose task runs, and what its script has so far
  const u32* written_ = nullptr;
  u32 read_[max_colors] = {};
  u64 begin_ = 0, spent_ = 0;
  bool charges_arithmetic_ = false;
};

}  // namespace wsl::engines
