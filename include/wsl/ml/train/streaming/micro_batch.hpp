// SPDX-License-Identifier: MIT
// Micro-batches divide a step so that its activations fit in the memory: a pass of weight streaming has one
// of them, the memory adds the gradients of all up, and the update follows the last (gradient accumulation).
// Each wafer keeps its sequences of the batch and divides those, so a process needs the same part of a batch
// as without micro-batches. Sequences that belong together (loss_stage::sequences_together) are in one.
#pragma once
#include <algorithm>

#include "../../model/batch.hpp"

namespace wsl::ml {

/// Consecutive sequences of a batch.
struct sequence_range {
  int begin = 0, end = 0;
  int count() const { return end - begin; }
};

/// One of the micro-batches of a step: which, and of how many.
struct micro_batch {
  int number = 0, of = 1;
  int together = 1;  ///< sequences that are not divided

  bool is_first() const { return number == 0; }
  bool is_last() const { return number + 1 == of; }

  /// The sequences that a wafer of `wafers` has in it, if the batch has `sequences`.
  sequence_range on_wafer(int wafer, int wafers, int sequences) const {
    const batch_part mine{wafer, wafer + 1, wafers};
    const i64 begin = mine.begin_in(sequences), count = mine.end_in(sequences) - begin,
              groups = (count + together - 1) / together;
    const auto first = [&](i64 part) {
      return static_cast<int>(begin + std::min(count, groups * part / of * together));
    };
    return {first(number), first(number + 1)};
  }
  /// Those of all wafers.
  i64 sequences(int wafers, int of_batch) const {
    i64 n = 0;
    for (int wafer = 0; wafer < wafers; ++wafer) n += on_wafer(wafer, wafers, of_batch).count();
    return n;
  }
  /// How many micro-batches a batch has, of at most `size` sequences on each wafer, and at least one group;
  /// size 0 stands for all.
  static int count(int sequences, int wafers, int size, int together = 1) {
    const int on_wafer = (sequences + wafers - 1) / wafers, groups = (on_wafer + together - 1) / together,
              most = std::max(1, size / together);
    return size > 0 ? std::max(1, (groups + most - 1) / most) : 1;
  }
};

}  // namespace wsl::ml
