// SPDX-License-Identifier: MIT
// A channel is one color of one PE as its tasks write it and its final receivers read it: routes are known before the run, so no
// router stands between. A task writes straight into the channel's buffer and never calls its engine: before a task runs, the
// engine has made room for all that one run may send. A loop around a data task then has no call in it, and compilers keep the
// task's sums and the channel's end in registers. For the same reason places are 64-bit numbers: they cannot alias the words.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

/// Wavelets of one color that one run of a data task may send; of a host function or a local or control task. Who sends more
/// uses a descriptor.
inline constexpr int sends_of_a_data_task = 512, sends_of_a_task = 4096;

namespace engines {

struct channel {
  u64 next = 0;            ///< where in the buffer the next word goes
  u64 soft = 0;            ///< once a word has gone here the engine must look before the PE starts another task
  u64 hard = 0;            ///< no word goes here
  u32* words = nullptr;    ///< the buffer, lent while something is in it
  u64 origin = 0;          ///< words written before the buffer's first
  u64 announced = 0;       ///< words that the receivers know of
  u32 writer = 0;          ///< the PE, or host stream, that writes
  u32 first_reader = 0;    ///< the only inlet, or where the list of inlets starts
  u32 readers = 0;
  bool writer_waits = false;  ///< a receiver that makes room must wake the writer
  bool large = false;         ///< which size of buffer it is
  bool operated = false;      ///< an operation in flight writes here: tasks may not
  bool lenient = false;       ///< an operation wrote last: what it left unread keeps no task from running

  u64 tail() const { return origin + next; }
  /// No task may write until its engine has made room.
  void close() { soft = hard = next; }
};

}  // namespace engines
}  // namespace wsl
