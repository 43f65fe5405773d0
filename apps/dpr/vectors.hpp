// SPDX-License-Identifier: MIT
// The vectors of questions and passages, and how well the passages are found by them.
#pragma once
#include <fields.hpp>
#include <machine.hpp>
#include <params.hpp>
#include <wsl/ml/data/text/encode/retrieved_text.hpp>
#include <wsl/ml/model/dual_encoder.hpp>

namespace dpr_app {

struct search_settings {
  int batch_size = 64;  ///< texts that are encoded at a time; questions that are compared as in training
  int best = 20;        ///< passages of each question that are written
  int passages_of_question = 1;  ///< of a batch
};

/// Encodes all passages once and all questions, with the weights of a trained pair; writes the vectors to
/// questions.npy and passages.npy in a folder, and the best passages of each question to predictions.jsonl
/// (file_of_predictions.hpp; `f` has what the run reads), and prints the accuracy in batches and recall@1, 5
/// and 20.
void predict(train_app::machine& trained, const wsl::ml::dual_encoder& pair,
             const wsl::ml::retrieved_text& texts, const train_app::fields& f,
             const train_app::common_params& p, const search_settings& how, const std::string& folder);
/// Encodes passages alone and writes their vectors, in the order of the passages, to passages.npy in a folder
/// as they come; they need not have room in memory.
void encode_passages(train_app::machine& trained, const wsl::ml::dual_encoder& pair,
                     const wsl::ml::text_task& passages, const train_app::fields& f,
                     const train_app::common_params& p, const std::string& folder);

}  // namespace dpr_app
