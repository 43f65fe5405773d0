// SPDX-License-Identifier: MIT
// The data of a language model in HDF5, with the fields of the Model Zoo's GptHDF5MapDataProcessor and
// GptHDF5DataProcessor.
#pragma once
#include <fields.hpp>
#include <params.hpp>
#include <synthetic.hpp>
#include <wsl/ml/data/dataset.hpp>

#include "text.hpp"

namespace gpt_app {

struct hdf5_params {
  std::string data_processor, data_subset;
  train_app::mixture_parts mixture;
  bool use_vsl = false;  ///< train_input.pack_sequences
  train_app::synthetic_params random = {};
};
/// Declares the fields of an input, after those of every trainer.
void declare_hdf5(train_app::fields& f, hdf5_params& p);

/// Throws std::invalid_argument, with the list, for a data_processor that language models do not have.
void check_processor(const std::string& section, const std::string& name);

/// One of the inputs of a run: train_input or eval_input.
struct hdf5_input {
  std::string data_dir;
  hdf5_params how;
  int max_sequence_length = 0;
};
/// Whether an input is HDF5: by its data_processor, by its mixture, or by the files at data_dir.
bool is_hdf5(const hdf5_input& x);
/// Throws std::invalid_argument if the data to train with, in HDF5, have neither a folder nor a mixture.
void require_files(const hdf5_input& x);

struct hdf5_corpus {
  wsl::ml::dataset train, held_out;
  vocabulary words;
  int vocab_size = 0;  ///< given or found; 0: not known
  std::string about;
  std::string tokenizer_dir;  ///< the folder with the tokenizer of the data; empty: none
};
struct hdf5_corpus_words {
  hdf5_input train, held_out;
  std::string kind, tokenizer_dir;  ///< as of corpus_words
  int vocab_size = 0;               ///< 0: that of the data
};
/// Reads both inputs. Without held-out data the training data are evaluated. Throws wsl::ml::file_error, and
/// std::invalid_argument for settings that do not fit.
hdf5_corpus read_hdf5_corpus(const hdf5_corpus_words& asked);

}  // namespace gpt_app
