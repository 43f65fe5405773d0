// SPDX-License-Identifier: MIT
// One run of a task, as the threaded engine accounts for it. Operations that moved at once, inlined into the
// task, are over, but count as in flight until the run ends, as on the machine, where they take time: a color
// that one of them reads has no second reader, and together with the microthreads they must fit into the
// machine. They are counted only when the run has ended; until then the windows that they have closed record
// them.
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
    go_on(rule::sends_of(task));
  }
  /// Also called after a wait, whether or not the task had to wait.
  void go_on(int sends = sends_of_a_task) const {
    s.taken = taken_color::none;
    b.read_now = 0;
    if (s.image->slots == 0) return;
    s.sends_at_most = static_cast<u16>(sends);
    i16* first = b.run_from;
    for (const channel& c : topology::channels_of(s)) *first++ = static_cast<i16>(c.next());
  }
  /// Counts the words that a single run has sent, when it has ended. A window detects only a run that has
  /// certainly sent too much, because within a batch of runs it does not know where the last one began.
  /// False for most runs of data tasks: none of their windows has reached its limit.
  bool may_have_sent_many() const { return s.interrupted || b.prepared > sends_of_a_data_task; }
  void must_have_sent_few() const {
    if (s.image->slots == 0) return;
    const i16* first = b.run_from;
    for (const channel& c : topology::channels_of(s))
      if (const int sent = c.next() - *first++; sent > s.sends_at_most && !c.is_closed()) [[unlikely]]
        refuse_send_on(static_cast<int>(first - b.run_from) - 1);
  }

  /// Whether an operation that the run has started reads the color.
  bool reads(int color) const { return s.taken == taken(color) || (b.read_now & color_bit(color)) != 0; }
  void note_read(int color) const {
    b.read_now |= color_bit(color);
    is_last();
  }
  /// Records an operation that the engine has moved at once.
  void note(const transfer& t) const {
    for (int color : t.input)
      if (color >= 0) note_read(color);
    b.read_in_pairs += t.input[1] >= 0;
    if (t.output >= 0 && t.input[0] >= 0) s.window_of(t.output).close_behind_reader();
    if (s.defers) is_last();
  }
  /// Keeps the task from running again at once, whatever it activates.
  void is_last() const {
    if (s.taken != taken_color::none && s.taken != taken_color::several)
      b.read_now |= color_bit(static_cast<int>(s.taken) - 1);
    s.taken = taken_color::several;
  }

  /// Whether there may be too many operations at its end. A run that may be repeated at once has read one
  /// color at most, and has sent only few colors.
  bool may_not_fit() const { return s.taken == taken_color::several; }
  /// `p` has the PE's other operations in flight; null if there are none.
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

 private:
  [[noreturn]] void refuse_send_on(int slot) const {
    u64 colors = s.image->present;
    for (; slot > 0; --slot) colors &= colors - 1;
    const int color = std::countr_zero(colors);
    rule::refuse_send(s, color, s.image->sent_type[color]);
  }
};

}  // namespace wsl::engines
