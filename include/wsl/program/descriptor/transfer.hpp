// SPDX-License-Identifier: MIT
// A descriptor operation that may have to wait, for the fabric or for a FIFO, as an engine runs it (the
// machine's microthread): the number of elements that it moves, the colors that it reads and writes, and one
// function that moves the next n elements. The engine decides when they move and how many at a time. The
// result does not depend on this, so every engine computes the same bits.
#pragma once
#include "../../core/scalar.hpp"
#include "../../core/wavelet.hpp"
#include "cost.hpp"

namespace wsl::engines {

/// The fill level of a FIFO in a PE's memory, which is all that engines know of it.
struct fifo_state {
  u32 first = 0;  ///< place of the oldest element
  u32 size = 0;
  u32 capacity = 0;  ///< 0: it has no elements, but counts operations that have ended; see event.hpp

  u32 room() const { return capacity - size; }
};

/// What is left to know of an operation while it is in flight. A wafer has millions of them.
struct operation_in_flight {
  /// Moves elements done .. done + n - 1 of the operation with these operands: input[k] are n words of the
  /// k-th fabric source, output takes n words.
  using mover = void (*)(operation_in_flight& self, const void* operands, const u32* const* input,
                         u32* output, u32 n);

  mover move = nullptr;
  u64 length = 0;          ///< elements in all; the largest value never completes
  u64 done = 0;            ///< elements moved so far
  i8 input[2] = {-1, -1};  ///< colors of the fabric sources, -1 for none
  i8 output = -1;          ///< color of the fabric destination, -1 for none
  i8 activates = -1;       ///< local task that completion activates
  i8 unblocks = -1;        ///< local task that completion unblocks
  i8 unblocks_color = -1;  ///< color whose data task completion unblocks
  i8 each_time = -1;       ///< local task that is activated each time elements have moved
  /// the microthread that the program chose, -1 if it left that to the library
  i8 microthread = -1;
  i8 priority = -1;                    ///< that the program chose, -1 if it left that to the machine
  u8 operand_bytes = 0;                ///< of its operands
  bool serves = false;                 ///< a run may end before its first element has come
  bool copies = false;                 ///< its destination gets the words as they are
  const fifo_state* pushes = nullptr;  ///< the FIFO that its destination is
  const fifo_state* pops = nullptr;    ///< the FIFO that one of its sources is
  fifo_state* signals = nullptr;       ///< the counter that its completion increments
  /// the suspended main thread that completion resumes, as a coroutine's address
  void* resumes = nullptr;
  const char* name = "";  ///< the operation, for reports

  bool complete() const { return done == length; }
  bool endless() const { return length == ~u64{0}; }
  /// Whether a run may end while it waits for words.
  bool may_idle() const { return endless() || (serves && done == 0); }

  bool uses_fifo() const { return pushes || pops; }
  /// The number of elements that its FIFOs let it move now.
  u32 allowed() const {
    const u32 there = pops ? pops->size : ~u32{0}, room = pushes ? pushes->room() : ~u32{0};
    return there < room ? there : room;
  }
};

struct transfer : operation_in_flight {
  static constexpr int most_operand_bytes = 128;

  u32 granted = 0;              ///< elements that move as soon as its PE is visited again
  operation_cost cost;          ///< for an engine that counts cycles; others leave it as it is
  const u32* source = nullptr;  ///< all words that it sends, if memory holds them unchanged
  /// the destination of what it makes of each word that it reads, if that is contiguous memory of words
  u32* written = nullptr;
  const payload_type* input_type[2] = {};
  const payload_type* output_type = nullptr;
  alignas(16) unsigned char operands[most_operand_bytes];

  /// The destination of all words that it reads, if it stores them unchanged.
  u32* target() const { return copies ? written : nullptr; }
  void move_elements(const u32* const* from, u32* to, u32 n) { move(*this, operands, from, to, n); }
};

// GCC copies up to 256 bytes by vectors, and more by a string instruction, which is slow to begin with.
static_assert(sizeof(transfer) <= 256);

}  // namespace wsl::engines
