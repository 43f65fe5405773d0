// SPDX-License-Identifier: MIT
// A debugger's ear in an engine: it is told of every task before it runs, of every wavelet that reaches a PE,
// and of the end of every cycle, and the engine goes on when it returns. An engine without one runs the same
// instructions as ever: it looks at nothing that it would not look at otherwise.
#pragma once
#include "../../core/coord.hpp"
#include "../../core/fault.hpp"
#include "../../core/wavelet.hpp"
#include "../../layout/program.hpp"

namespace wsl::engines {

struct pe_state;

/// The exception with which a run ends that its observer leaves in its middle: no fault of the program.
struct abandoned_run : fault {
  using fault::fault;
};

class step_observer {
 public:
  /// A task begins. `input` is as of a task_function: for a data or control task the word.
  virtual void before_task(const pe_state& on, const detail::binding& task, const void* input, u64 cycle) = 0;
  /// A wavelet has come into the input queue of the PE at c, or is on the ramp to it and arrives in `cycle`.
  virtual void arrived(coord c, const wavelet& w, u64 cycle) = 0;
  /// A cycle has ended; `cycle` is the next in which something can happen.
  virtual void cycle_ended(u64 cycle) = 0;

 protected:
  ~step_observer() = default;
};

}  // namespace wsl::engines
