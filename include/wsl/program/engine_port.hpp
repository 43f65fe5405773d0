// SPDX-License-Identifier: MIT
// The port between a PE's program and the engine that runs it. Together with the windows of pe_state.hpp it
// is all that a program sees of its engine.
//
//   fast, inlined: pe_state.hpp           slow, a virtual call: here
//   me.send       -> send_window          me.send_control  -> send_control
//   me.async(op)  -> receive_window,      me.async(op)     -> take, start
//                    send_window          co_await op      -> start
//   ++run         -> pe_state::try_rerun  me.async_compute -> async_compute
//                                         me.reopen, now   -> reopen, now
//
// A task writes straight into the window of a color and never calls its engine: before a task runs, the
// engine has made room for everything that one run may send. The loop around a data task then contains no
// call, and compilers keep the task's sums and the window's end in registers. For the same reason positions
// are numbers of types that cannot alias the words. An operation whose words lie in a receive window takes
// them without calling the engine, too. The windows are all that the port prescribes; each engine chooses the
// buffers behind them (engine/threaded/channel.hpp has the most elaborate ones).
#pragma once
#include <cstddef>

#include "../core/area.hpp"
#include "../core/machine.hpp"
#include "../layout/program.hpp"
#include "offloaded_job.hpp"
#include "probe.hpp"

namespace wsl::engines {

struct pe_state;

/// The requests that a task makes of its engine by a virtual call.
class engine_port {
 public:
  /// A control wavelet leaves a task of this PE.
  virtual void send_control(pe_state& from, int color, const payload_type* type, u32 bits) = 0;
  /// The router of this PE lets wavelets of a color in again, on the path of a phase.
  virtual void reopen(pe_state& on, int color, int phase) = 0;
  /// A descriptor operation with a fabric operand starts on this PE. Says whether it completed at once: then
  /// a waiting task goes on without suspending.
  virtual bool start(pe_state& on, transfer& operation) = 0;

  /// This PE offloads a computation that runs beside its tasks.
  virtual void async_compute(pe_state& on, const offloaded_job& what) = 0;

  /// Takes the next n words of a color if they have arrived and lie in one piece, and returns their address;
  /// null otherwise. Most operations find their words so, and move without becoming a microthread. The words
  /// stay in place until the running task calls the engine again.
  virtual const u32* take(pe_state&, int, const payload_type*, u32) { return nullptr; }

  /// The time on this PE in cycles, as `pe::now` gives it; 0 on an engine without a clock.
  virtual u64 now(const pe_state&) const { return 0; }

  const region& grid() const { return grid_; }
  const machine& target() const { return machine_; }

  /// The colors of a task's sends in their order. Each thread that runs tasks has a line of its own.
  struct alignas(64) send_order {
    u32* next = nullptr;
  };
  send_order* orders = nullptr;  ///< by the windows into which the task sends; null if the engine needs none
  probe_list probes;

 protected:
  engine_port(const machine& target, const region& grid) : machine_(target), grid_(grid) {}
  ~engine_port() = default;

 private:
  machine machine_;
  region grid_;
};

}  // namespace wsl::engines
