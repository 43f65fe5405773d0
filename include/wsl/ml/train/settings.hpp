// SPDX-License-Identifier: MIT
// The settings of a trainer, the arguments of its constructor, for each of the two execution strategies. A
// program that only passes settings on includes this header and compiles no trainer.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "../op/precision.hpp"
#include "../optim/grad_scaler.hpp"
#include "../sparsity/settings.hpp"
#include "roles.hpp"

namespace wsl {
class scaling_profile;
}

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

/// The factor of the loss, by which gradients of 16 bits are kept from becoming 0: a number, or a scale that
/// changes with what the steps find.
using loss_scaling_factor = std::variant<f64, grad_scaler_settings>;

/// The factor for a precision if none is given: a dynamic scale with float16, 1 with the others, whose ranges
/// need none.
inline loss_scaling_factor loss_scaling_for(precision p) {
  if (p == precision::float16) return grad_scaler_settings::float16();
  return 1.;
}

/// Settings of weight streaming (trainer.hpp).
struct streaming_settings {
  /// Workers of a wafer, and the columns in which they stand. The rows of workers share out the sequences of
  /// a batch, or the tokens if there are more rows than sequences (streaming/row_tokens.hpp); the columns
  /// share out features, heads of attention and weights (model/column_cut.hpp). Each
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
  /// The format of weights on the wafer, of the operands of products, and of what passes between stages.
  ml::precision precision = ml::precision::f32;
  /// The factor of the loss; none: that of the precision.
  std::optional<loss_scaling_factor> loss_scaling = {};
  /// Sequences of a micro-batch on each wafer, at most; 0: all of the batch at once. The micro-batches of a
  /// step pass one after the other, and their gradients are added up before the update, so activations take
  /// the memory of one (streaming/micro_batch.hpp).
  int micro_batch_size = 0;
  /// Whether the activations of a block are computed again in the backward pass, and not kept until then
  /// (streaming/recomputation.hpp).
  bool recompute = false;
  /// Which weights are sparse, and how their patterns change; none: all are dense.
  sparsity_settings sparsity = {};
  /// The folder in which the memory keeps its numbers in mapped files; empty: main memory.
  std::string memory_folder = {};
  /// Of each of several processes, its role; empty: each has wafers, and the first one the memory, too.
  std::vector<role> roles = {};
  /// Runs on one thread and takes the times from which those on more threads are predicted
  /// (engine/threaded/prediction.hpp). Set `cores` to the threads of the prediction, or say the workers.
  scaling_profile* profile = nullptr;
};

/// Settings of pipelined execution (pipelined_trainer.hpp).
struct pipeline_settings {
  int strips = 4;  ///< the most PEs of a replica to use, each with an even share of the work
  /// Copies of the model that train on even shares of each batch; their gradients are added up. Trainers with
  /// several only train: to evaluate, give the state to one without.
  int replicas = 1;
  /// Sequences of a micro-batch of a replica; 0: as many as give four micro-batches for each strip.
  int micro_batch_size = 0;
  /// Whether training and evaluation leave out padding at the end of the sequences of a micro-batch
  /// (model/padding.hpp).
  bool strip_padding = true;
  f64 clip_norm = 0;   ///< the largest norm of all gradients together; 0: no bound
  f64 clip_value = 0;  ///< the largest absolute value of one gradient; 0: no bound
  u64 seed = 1;        ///< the seed of the initial weights and of dropout
  int threads = 0;     ///< 0: WSL_THREADS, or one a core
  /// The format in which stages read weights, the operands of products, and each other.
  ml::precision precision = ml::precision::f32;
  /// The factor of the loss; none: that of the precision.
  std::optional<loss_scaling_factor> loss_scaling = {};
  /// As of weight streaming, which alone trains sparse weights: this execution refuses them.
  sparsity_settings sparsity = {};
  scaling_profile* profile = nullptr;  ///< as of weight streaming
};

}  // namespace wsl::ml
