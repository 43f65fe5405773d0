// SPDX-License-Identifier: MIT
// The predictions of a trained encoder for held-out texts: a file of predictions and the field's measures
// of them.
#pragma once
#include <fields.hpp>
#include <machine.hpp>
#include <wsl/ml/data/text/encode/processors.hpp>
#include <wsl/ml/model/encoder.hpp>

namespace bert_app {

/// Predicts all examples of a task in their order, `batch_size` at a time, writes them to a file
/// (file_of_predictions.hpp; `f` has what the run reads), and prints the measures of those that have labels.
/// Classes of sequences are a table with the texts, tags are CoNLL's columns with the words, the tag of the
/// file if it has some, and the prediction; answers are an object in JSON as SQuAD's own program reads it,
/// and beside it a table with the questions. Throws std::invalid_argument for hidden words, whose loss and
/// accuracy the mode eval says, and for a file of another origin.
void predict(train_app::machine& m, const wsl::ml::text_task& from, const wsl::ml::text_processor& by,
             wsl::ml::encoder_task task, int batch_size, const train_app::fields& f, const std::string& file);

}  // namespace bert_app
