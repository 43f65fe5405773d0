// SPDX-License-Identifier: MIT
// An estimate of the cost of a training step on a wafer, from layouts and schedules alone, without a run.
// Cycles are a lower bound: a PE does one multiply-add of f32 a cycle (`multiply32` of the machines) and
// takes one word a cycle from its router.
#pragma once
#include <string>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/settings.hpp>

#include "params.hpp"

namespace train_app {

struct estimate_of {
  int sequences, length;  ///< the size of a batch
  wsl::ml::optimizer rule;
};

/// The placement of programs, the colors, the memory of a PE, and cycles, as text.
std::string estimate(const wsl::ml::network& model, const wsl::ml::streaming_settings& how,
                     const estimate_of& what);
std::string estimate(const wsl::ml::network& model, const wsl::ml::pipeline_settings& how,
                     const estimate_of& what);

/// The memory that training takes: for each parameter its weight, its gradient and what the optimizer keeps,
/// and for each token that is on the wafers at a time all activations with their gradients.
struct memory_need {
  wsl::i64 parameters = 0;
  int batch = 0, at_once = 0;           ///< samples of a batch, and of a micro-batch on all wafers
  wsl::f64 state = 0, activations = 0;  ///< bytes
  wsl::f64 there = 0;                   ///< bytes that there are
  std::string folder = {};              ///< in which the state lies; empty: in memory

  wsl::f64 in_memory() const { return activations + (folder.empty() ? state : 0); }
};
/// That of weight streaming, and of a pipeline.
memory_need memory_of(const wsl::ml::network& model, const wsl::ml::optimizer& rule,
                      const wsl::ml::streaming_settings& how, int sequences, int length, wsl::f64 there);
memory_need memory_of(const wsl::ml::network& model, const wsl::ml::optimizer& rule, int sequences,
                      int length, wsl::f64 there);
/// The sequences of a micro-batch on each wafer for `micro_batch_size: auto`.
int micro_batch_for(const wsl::ml::network& model, const wsl::ml::optimizer& rule,
                    const wsl::ml::wafer_grid& grid, const common_params& p, int length);
std::string text_of(const memory_need& need);
/// Throws std::invalid_argument if there is less, or if the state's folder cannot be used or has no room.
void require_memory(const memory_need& need);
/// The bytes that the state takes in its folder and about how long a step takes, as text. Throws
/// std::invalid_argument if the folder has no room.
std::string disk_text(const wsl::ml::network& model, const wsl::ml::optimizer& rule,
                      const wsl::ml::streaming_settings& how, const memory_need& need, int length);

}  // namespace train_app
