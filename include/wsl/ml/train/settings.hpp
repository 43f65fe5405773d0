// SPDX-License-Identifier: MIT
// The settings of a trainer, the arguments of its constructor, for each of the two execution strategies. A
// program that only passes settings on includes this header and compiles no trainer.
#pragma once
#include <string>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// The workers of one wafer, and the number of wafers.
struct wafer_grid {
  int rows = 1, columns = 1, wafers = 1;

  int width() const { return wafers * columns; }
  int height() const { return 2 * rows; }
  int wafer_of(int x) const { return x / columns; }
  int column_of(int x) const { return x % columns; }
  friend bool operator==(const wafer_grid&, const wafer_grid&) = default;
};

/// Settings of weight streaming (trainer.hpp).
struct streaming_settings {
  /// Workers of a wafer, and the columns in which they stand. The rows of workers share out the sequences of
  /// a batch; the columns share out features, heads of attention and weights (model/column_cut.hpp). Each
  /// worker has a memory server beside it. 0 workers: as many as this computer has cores, or fewer; 0
  /// columns: as many as make a step short by prediction (streaming/grid_choice.hpp), for the first batch. On
  /// several processes say both, or `cores`, since their computers may differ.
  int workers = 0, columns = 0;
  int cores = 0;       ///< cores on which a choice counts; 0: those of this computer
  int num_csx = 1;     ///< wafers; the global batch is divided evenly among them
  f64 clip_norm = 0;   ///< the largest norm of all gradients together; 0: no bound
  f64 clip_value = 0;  ///< the largest absolute value of one gradient; 0: no bound
  u64 seed = 1;        ///< the seed of the initial weights and of dropout
  int threads = 0;     ///< 0: WSL_THREADS, or one a core; more than two a worker do not help
  /// Sequences of a micro-batch on each wafer, at most; 0: all of the batch at once. The micro-batches of a
  /// step pass one after the other, and their gradients are added up before the update, so activations take
  /// the memory of one (streaming/micro_batch.hpp).
  int micro_batch_size = 0;
  /// Whether the activations of a block are computed again in the backward pass, and not kept until then
  /// (streaming/recomputation.hpp).
  bool recompute = false;
  /// The folder in which the memory keeps its numbers in mapped files; empty: main memory.
  std::string memory_folder = {};
};

/// Settings of pipelined execution (pipelined_trainer.hpp).
struct pipeline_settings {
  int strips = 4;  ///< the most PEs to use, each with an even share of the work
  /// Sequences of a micro-batch; 0: as many as give four micro-batches for each strip.
  int micro_batch_size = 0;
  f64 clip_norm = 0;   ///< the largest norm of all gradients together; 0: no bound
  f64 clip_value = 0;  ///< the largest absolute value of one gradient; 0: no bound
  u64 seed = 1;        ///< the seed of the initial weights and of dropout
  int threads = 0;     ///< 0: WSL_THREADS, or one a core
};

}  // namespace wsl::ml
