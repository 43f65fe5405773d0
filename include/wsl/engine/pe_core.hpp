// SPDX-License-Identifier: MIT
// The part of a PE that all engines share: the choice of the next task, the task that a word is for, and the
// depths of the queues between the PE and its router. An engine decides when it visits a PE and where its
// words lie; the order in which ready tasks run is defined here, once.
#pragma once
#include <bit>

#include "../core/control.hpp"
#include "../core/wavelet.hpp"
#include "rules.hpp"

namespace wsl::engines {

/// Runs the next task of a PE, if one is ready: host calls in their order, the task of a color that was torn
/// down, the activated local task with the lowest number, and then the tasks of arrived words, by color.
/// Urgent tasks go before others. `engine` answers for this PE:
///   called()            whether a host call waits
///   run_call()          runs it
///   run_torn_down()     runs the task of a color that was torn down, if there is one
///   ready_locals()      the local tasks that may run, as a mask
///   run_local(ready)    runs one of them
///   run_arrived(colors) runs the data or control task of the first word of one of these colors, if it may
///   arrived_first()     whether, against the rule, arrived words go before local tasks now
/// Each `run_...` returns whether a task ran. It is inlined because copying what `engine` has would stall
/// every task.
template <class Engine>
[[gnu::always_inline]] inline bool run_next_task(const pe_state& s, Engine engine) {
  if (engine.called()) return engine.run_call();
  if (engine.run_torn_down()) return true;
  const u32 ready = engine.ready_locals();
  if (s.hurries(ready) && engine.run_arrived(s.image->urgent_colors)) return true;
  if (ready && !engine.arrived_first()) return engine.run_local(ready);
  return engine.run_arrived(~u64{0}) || (ready && engine.run_local(ready));
}

/// The task that a word is for, null if the program binds none.
inline const binding* bound_to(const program_image& image, const wavelet& w) {
  return w.control ? image.control_with(control_word{w.bits}.id()) : image.data[w.color];
}
/// The task that may take a word that has arrived; null if its color is blocked, or is read by operations
/// only. Throws fault if it is a control wavelet for which the program binds no task.
inline const binding* task_for(const pe_state& s, const wavelet& w) {
  const binding* task = bound_to(*s.image, w);
  if (w.control && !task) rule::no_control_task(s, w.color, control_word{w.bits}.id());
  return !w.control && (s.blocked_colors & color_bit(w.color)) ? nullptr : task;
}

/// Words that the queue of a color between a PE and its router holds. The PE's input queues are the colors
/// that its program consumes, in order, its output queues the colors that it sends; where there are more
/// colors than queues the machine's queues are used again.
inline int input_depth(const program_image& image, const machine& m, int color) {
  const u64 before = (image.takes | image.reads) & (color_bit(color) - 1);
  return m.input_depth[std::popcount(before) % support::min(m.input_queues, 8)];
}
inline int output_depth(const program_image& image, const machine& m, int color) {
  const u64 before = image.present & (color_bit(color) - 1);
  return m.output_depth[std::popcount(before) % support::min(m.output_queues, 8)];
}

}  // namespace wsl::engines
