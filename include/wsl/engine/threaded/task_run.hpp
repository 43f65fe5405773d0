// SPDX-License-Identifier: MIT
// One run of a task, as far as the threaded engine must know of it. Operations that moved at once, inlined
// into the task, are over, and yet count as in flight until the run ends, as on a machine that takes its
// time: a color that one of them reads has no second reader, and together with the microthreads they must fit
// into the machine. They are counted only when the run has ended; until then the windows that they have
// closed tell how many there are.
#pragma once
#include <bit>
#include <utility>

#include "transport.hpp"

namespace wsl::engines {

struct task_run {
  partition& b;
  pe_state& s;

  void begin(const binding& task) const {
    s.interrupted = false;
    go_on();
    s.sends_at_most = static_cast<u16>(rule::sends_of(task));
  }
  /// After a wait, whether or not it had to wait.
  void go_on() const {
    s.sends_at_most = sends_of_a_task;
    s.taken = taken_color::none;
    b.read_now = 0;
    i16* first = b.run_from;
    for (const channel& c : topology::channels_of(s)) *first++ = static_cast<i16>(c.next());
  }
  /// The window notices when a run has sent too much for certain; in a batch of runs it does not know where
  /// the last one began. Here a single run has ended.
  void must_have_sent_few() const {
    const i16* first = b.run_from;
    for (u64 left = s.image->present; left; left &= left - 1, ++first)
      if (const int color = std::countr_zero(left);
          !s.window_of(color).is_closed() && s.window_of(color).next() - *first > s.sends_at_most)
        rule::refuse_send(s, color, s.image->sent_type[color]);
  }

  /// Whether an operation that the run has started reads the color.
  bool reads(int color) const { return s.taken == taken(color) || (b.read_now & color_bit(color)) != 0; }
  void note_read(int color) const {
    b.read_now |= color_bit(color);
    is_last();
  }
  /// An operation that the engine has moved at once.
  void note(const transfer& t) const {
    for (int color : t.input)
      if (color >= 0) note_read(color);
    b.read_in_pairs += t.input[1] >= 0;
    if (t.output >= 0 && t.input[0] >= 0) s.window_of(t.output).close_behind_reader();
    if (s.defers) is_last();
  }
  /// The task does not run again at once, whatever it activates.
  void is_last() const {
    if (s.taken != taken_color::none && s.taken != taken_color::several)
      b.read_now |= color_bit(static_cast<int>(s.taken) - 1);
    s.taken = taken_color::several;
  }

  /// Whether there may be too many at its end. A run that may be repeated at once has read one color at most,
  /// and sent each of a few.
  bool may_not_fit() const { return s.taken == taken_color::several; }
  /// `p`: what the PE has in flight besides, if anything.
  [[gnu::noinline]] void must_fit(const processor* p, const machine& m) const {
    is_last();
    rule::in_flight all{.operations = std::popcount(b.read_now) - std::exchange(b.read_in_pairs, 0)};
    if (p)
      for (const transfer& t : p->microthreads) all.operations += !t.resumes;
    for (const channel& c : topology::channels_of(s)) {
      all.sending += c.is_closed();
      all.operations += c.is_closed() && !c.operated && !c.is_closed_behind_reader();
    }
    rule::fits(s, all, m);
  }
};

}  // namespace wsl::engines
