// SPDX-License-Identifier: MIT
// Runs a task at once and records what it sends. An engine that moves one word a cycle lets all PEs that run
// on a thread send into the same windows, one for each color, which are empty when a run begins. The journal
// records the order in which the words of all colors were sent, and the engine then moves them into the PE's
// output queues one by one.
#pragma once
#include "../support/flat_vector.hpp"
#include "rules.hpp"

namespace wsl::engines {

/// The windows of an engine's journals, one for each color, and what the tasks note for them.
class journal_windows {
 public:
  journal_windows(engine_port& engine, u32 journals) : windows_(journals * max_colors), orders_(journals) {
    engine.orders = orders_.data();
  }
  journal_windows(const journal_windows&) = delete;
  journal_windows& operator=(const journal_windows&) = delete;

  send_window* of(u32 journal) { return windows_.data() + journal * max_colors; }
  u32*& order_of(u32 journal) { return orders_[journal].next; }

 private:
  support::flat_vector<send_window> windows_;
  support::flat_vector<engine_port::send_order> orders_;
};

class send_journal {
 public:
  /// The journal with this number; each thread that runs tasks needs one of its own.
  send_journal(engine_port& engine, journal_windows& windows, u32 number)
      : engine_(&engine),
        windows_(windows.of(number)),
        noted_(windows.order_of(number)),
        number_(number),
        words_(max_colors * sends_of_a_task),
        order_(max_colors * sends_of_a_task) {
    for (int k = 0; k < max_colors; ++k) windows_[k].words = words_.data() + k * sends_of_a_task;
  }
  send_journal(const send_journal&) = delete;
  send_journal& operator=(const send_journal&) = delete;

  /// Closes all windows.
  void close() {
    for (int k = 0; k < max_colors; ++k) windows_[k].close();
  }

  /// Runs f, a task or the rest of one, which may send `most` wavelets of each color. `in_flight` gives
  /// access to the PE's operations: each_operation(use), reads(color) and writes(color).
  template <class InFlight, class F>
  void run(pe_state& s, const char* name, int most, const InFlight& in_flight, F f) {
    s.send_by(number_);
    open(s, in_flight);
    s.sends_at_most = static_cast<u16>(most);
    with_place_in_faults(s, name, [&] {
      f();
      rule::sent_nothing_refused(s);
      if (!started_) return;
      rule::in_flight all;
      in_flight.each_operation([&](const operation_in_flight& t) { all.count(t); });
      rule::fits(s, all, engine_->target());
    });
  }

  /// The running task sends a control wavelet.
  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) {
    send_window& out = rule::may_send_control(from, color, type);
    *out.room() = bits;
    out.move_to(out.next() + 1);
    *noted_++ = static_cast<u32>(color) | control_flag;
  }
  /// The running task starts an operation; throws fault if it may not.
  template <class InFlight>
  void start(pe_state& on, const transfer& t, const InFlight& in_flight) {
    rule::may_begin(on, t, engine_->target(), in_flight);
    if (t.output >= 0) on.window_of(t.output).close();
    started_ = true;
  }

  /// The number of wavelets that the run has sent and that have not been taken.
  u64 size() const { return static_cast<u64>(noted_ - taken_); }
  /// Calls use(wavelet) for each of them.
  template <class Use>
  void take(const pe_state& s, Use use) {
    for (; taken_ != noted_; ++taken_) {
      const u8 color = static_cast<u8>(*taken_ & ~control_flag);
      const u16 slot = s.image->slot[color];
      use(wavelet{windows_[slot].words[read_[slot]++], color, (*taken_ & control_flag) != 0});
    }
  }

 private:
  static constexpr u32 control_flag = 0x100;

  template <class InFlight>
  void open(const pe_state& s, const InFlight& in_flight) {
    taken_ = noted_ = order_.data();
    started_ = false;
    for (u64 left = s.image->present; left; left &= left - 1) {
      const u16 slot = s.image->slot[std::countr_zero(left)];
      send_window& c = windows_[slot];
      c.move_to(0);
      c.open(0);  // every send is recorded
      if (in_flight.writes(std::countr_zero(left))) c.close();
      read_[slot] = 0;
    }
  }

  engine_port* engine_;
  send_window* windows_;
  u32*& noted_;
  u32 number_;
  support::flat_vector<u32> words_;
  support::flat_vector<u32> order_;  // the color of each word, with control_flag
  const u32* taken_ = nullptr;
  u32 read_[max_colors] = {};  // words taken, by color
  bool started_ = false;       // the run has started an operation
};

/// While it lives, tasks run on this thread and send into the windows of a journal. Afterwards the windows
/// are closed, so that a PE that sends outside of its tasks is refused.
class journal_turn {
 public:
  [[gnu::always_inline]] explicit journal_turn(send_journal& of) : journal_(of) {}
  journal_turn(const journal_turn&) = delete;
  journal_turn& operator=(const journal_turn&) = delete;
  ~journal_turn() { journal_.close(); }

 private:
  send_journal& journal_;
  task_turn tasks_;
};

}  // namespace wsl::engines
