// SPDX-License-Identifier: MIT
// What a trainer is told when it is made, in each of the two ways to train. Who only passes it on needs no
// trainer.
#pragma once
#include <string>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// Of weight streaming.
struct training {
  /// of a wafer, each with a server of the memory; a wafer's sequences are shared out to them
  int workers = 2;
  int num_csx = 1;     ///< wafers; the global batch is divided evenly among them
  f64 clip_norm = 0;   ///< the largest norm of all gradients together; 0: any
  f64 clip_value = 0;  ///< the largest gradient of one number; 0: any
  u64 seed = 1;        ///< of the initial weights and of dropout
  int threads = 0;     ///< 0: WSL_THREADS, or one a core; more than two a worker do not help
  /// where the memory keeps its numbers in files that are mapped; empty: in this computer's memory
  std::string memory_folder = {};
};

/// Of layers that stay where they are.
struct pipelining {
  int strips = 4;  ///< PEs at most, each with an even share of the work
  /// sequences that travel together; 0: so that there are four micro-batches for each strip
  int micro_batch_size = 0;
  f64 clip_norm = 0;   ///< the largest norm of all gradients together; 0: any
  f64 clip_value = 0;  ///< the largest gradient of one number; 0: any
  u64 seed = 1;        ///< of the initial weights and of dropout
  int threads = 0;     ///< 0: WSL_THREADS, or one a core
};

}  // namespace wsl::ml
