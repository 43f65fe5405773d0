// SPDX-License-Identifier: MIT
// The completion of an operation as an event that a task can wait for.
// `me.async(mov(fabout(out), mem(x)), signals(sent))` starts the operation beside the task, and
// `co_await sent` in a task that waits continues when it is complete; between the two the task can do other
// work. An event counts: each co_await waits for one more operation. See docs/guide/program.md.
#pragma once
#include <type_traits>

#include "descriptor/transfer.hpp"
#include "task_stack.hpp"

namespace wsl {

/// A member of a program. It must outlive every operation that signals it.
class event {
 public:
  /// The operation that `co_await` starts: it pops one entry of a FIFO that has a size but no elements.
  engines::transfer awaited() {
    engines::transfer t;
    t.name = "co_await";
    t.length = 1;
    t.pops = &ended_;
    t.move = [](engines::operation_in_flight& self, const void*, const u32* const*, u32*, u32 n) {
      const_cast<engines::fifo_state*>(self.pops)->size -= n;
      self.done += n;
    };
    return t;
  }

 private:
  friend struct signals;
  engines::fifo_state ended_{};  // its size is the number of completed operations that no task has waited for
};

/// A completion that signals an event: `me.async(op, signals(sent))`.
struct signals {
  using by_engine = void;
  explicit signals(event& e) : where(&e.ended_) {}
  void attach_to(engines::transfer& t) const {
    engines::must_outlive_the_task(where, t.name);
    t.signals = where;
  }
  /// Modules accept only a completion that activates or unblocks a task.
  template <class Completion>
    requires std::is_class_v<Completion>
  operator Completion() const {
    static_assert(std::is_void_v<Completion>,
                  "wsl: signals(event) goes with me.async; a module's completion is then<&part::next>() or "
                  "unblocks<&part::next>()");
  }

  engines::fifo_state* where;
};

}  // namespace wsl
