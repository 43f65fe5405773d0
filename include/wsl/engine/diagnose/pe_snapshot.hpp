// SPDX-License-Identifier: MIT
// The state of one place of the grid between two steps of an engine, in terms that all engines share: the
// program's tasks, the words in the queues of the PE and of its router, the operations in flight, the switches.
// An engine fills it (engine::look_at), debug/capture.hpp keeps it in a dump.
#pragma once
#include "../../core/coord.hpp"
#include "../../core/wavelet.hpp"
#include "../../program/pe_state.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

/// The words of one color at one place, oldest first.
struct queue_snapshot {
  /// The numbers are those of a dump.
  enum class place : u8 {
    input,   ///< in the PE's input queue; on the threaded engine also on the way there
    output,  ///< in the PE's output queue
    unsent,  ///< sent by tasks, in front of the output queues
    link,    ///< in the router, come in through `side`
  };
  place where = place::input;
  port side = ramp;  ///< of a link
  u8 color = 0;
  /// The color is the queue's.
  struct word {
    u32 bits = 0;
    bool control = false;
  };
  support::flat_vector<word> words;
};

/// The switch of a color at the place's router.
struct switch_snapshot {
  u8 color = 0;
  bool closed = false;
  int position = -1;  ///< -1 without positions, or closed
};

struct pe_snapshot {
  pe_state* pe = nullptr;  ///< null where no program is placed
  const char* task = "";   ///< the task that waits in the middle of its body; empty if none does
  support::flat_vector<const char*> calls;  ///< host calls that have not begun
  support::flat_vector<operation_in_flight> operations;
  support::flat_vector<queue_snapshot> queues;  ///< those that hold words
  support::flat_vector<switch_snapshot> switches;

  void clear() {
    pe = nullptr;
    task = "";
    calls.clear(), operations.clear(), queues.clear(), switches.clear();
  }
  /// Adds an empty queue and returns it.
  queue_snapshot& add_queue(queue_snapshot::place where, int color, port side = ramp) {
    return queues.push_back({where, side, static_cast<u8>(color), {}});
  }
  /// Adds a word that the tasks of a PE have sent: words of one color that follow each other are a queue.
  void add_unsent(u32 bits, int color, bool control) {
    const bool goes_on = !queues.empty() && queues.back().where == queue_snapshot::place::unsent &&
                         queues.back().color == color;
    (goes_on ? queues.back() : add_queue(queue_snapshot::place::unsent, color))
        .words.push_back({bits, control});
  }
};

}  // namespace wsl::engines
