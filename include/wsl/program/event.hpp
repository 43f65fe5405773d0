// SPDX-License-Identifier: MIT
// The end of an operation as something to wait for. `me.async(mov(fabout(out), mem(x)), signals(sent))`
// starts it beside the task; `co_await sent` in a task that waits goes on when it is complete, wherever
// between the two something else was done. An event counts: each co_await waits for one more operation. See
// docs/guide/program.md.
#pragma once
#include <type_traits>

#include "descriptor/transfer.hpp"
#include "task_stack.hpp"

namespace wsl {

/// A member of a program. While an operation signals it, it must not go away.
class event {
 public:
  /// What a task does that waits for one: it takes what stands in a FIFO without elements.
  transfer awaited() {
    transfer t;
    t.name = "co_await";
    t.length = 1;
    t.pops = &ended_;
    t.move = [](transfer& self, const u32* const*, u32*, u32 n) {
      const_cast<fifo_state*>(self.pops)->size -= n;
      self.done += n;
    };
    return t;
  }

 private:
  friend struct signals;
  fifo_state ended_{};  // its size: operations that have ended and that nobody has waited for
};

/// Completion of the operation is told to an event: `me.async(op, signals(sent))`.
struct signals {
  using by_engine = void;
  explicit signals(event& e) : where(&e.ended_) {}
  void attach_to(transfer& t) const {
    engines::must_outlive_the_task(where, t.name);
    t.signals = where;
  }
  /// Modules are given a completion, and that activates or unblocks a task.
  template <class Completion>
    requires std::is_class_v<Completion>
  operator Completion() const {
    static_assert(std::is_void_v<Completion>,
                  "wsl: signals(event) goes with me.async; a module's completion is then<&part::next>() or "
                  "unblocks<&part::next>()");
  }

  fifo_state* where;
};

}  // namespace wsl
