// SPDX-License-Identifier: MIT
// The state of one place of the grid between two steps of an engine, in terms that all engines share: the
// program's tasks, the words in the queues of the PE and of its router, the operations in flight, the
// switches. An engine shows it (engine::look_at), and debug/pe_snapshot.hpp keeps it. It is an interface of
// plain functions, because every program compiles what its engine shows.
#pragma once
#include "../../core/coord.hpp"
#include "../../core/wavelet.hpp"
#include "../../program/pe_state.hpp"

namespace wsl::engines {

/// Where words lie. The numbers are those of a dump.
enum class queue_place : u8 {
  input,   ///< in the PE's input queue; on the threaded engine also on the way there
  output,  ///< in the PE's output queue
  unsent,  ///< sent by tasks, in front of the output queues
  link,    ///< in the router, come in through a side
};

class place_visitor {
 public:
  /// The PE, with the task that has begun and not ended; empty if there is none.
  virtual void pe(pe_state& s, const char* task) = 0;
  /// A host call that has not begun.
  virtual void call(const char* name) = 0;
  virtual void operation(const operation_in_flight& t) = 0;
  /// The words that follow, oldest first, lie here. There may be none.
  virtual void queue(queue_place where, int color, port side) = 0;
  virtual void word(u32 bits, bool control) = 0;
  /// A word that tasks have sent and that is in no queue yet; in the order in which they leave.
  virtual void unsent(const wavelet& w) = 0;
  /// The switch of a color at the place's router; its position is -1 without positions, or closed.
  virtual void router_switch(int color, bool closed, int position) = 0;

 protected:
  ~place_visitor() = default;
};

}  // namespace wsl::engines
