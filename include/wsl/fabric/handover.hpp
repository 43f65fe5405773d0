// SPDX-License-Identifier: MIT
// Long arrays go from memory to memory, or from the sender's memory into the receiver's sum, where the only receiver waits for them with an
// operation of its own and nothing lies before them: no buffer is touched.
#pragma once
#include "../core/least.hpp"
#include "../program/transfer.hpp"

namespace wsl::engines {

/// Whether the one that reads can take all that the one that writes has left, in one piece.
inline bool fit_together(const transfer& writes, const transfer& reads) {
  if (reads.input[1] >= 0 || reads.output >= 0 || !(writes.source || reads.target) || writes.uses_fifo() || reads.uses_fifo() || reads.each_time >= 0) return false;
  return !writes.endless() && reads.length - reads.done >= writes.length - writes.done;
}
/// Moves it; returns how many words.
inline u32 move_together(transfer& writes, transfer& reads) {
  const u32 n = static_cast<u32>(writes.length - writes.done);
  const u32* source = writes.source + writes.done;
  if (writes.source) reads.move(reads, &source, nullptr, n), writes.done += n;
  else writes.move(writes, nullptr, reads.target + reads.done, n), reads.done += n;
  return n;
}

}  // namespace wsl::engines
