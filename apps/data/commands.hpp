// SPDX-License-Identifier: MIT
// The commands of wsl-data.
#pragma once
#include <string>
#include <vector>

#include <wsl/ml/data/token_file.hpp>

namespace data_app {

/// Prints the contents of files and folders. Those that cannot be read are named when the others have been
/// printed. Throws wsl::ml::file_error if there are any.
void inspect(const std::vector<std::string>& paths, const std::string& model);

/// The settings of a tokenization.
struct tokenizing {
  std::string text, out;
  /// a tokenizer.json or a folder, as tokenizer::from_file takes; empty: by characters
  std::string tokenizer;
  bool sections = false;      ///< with <|endoftext|> before each, as llm.c
  double train = 0.9;         ///< the part of the text that is for training
  long long validation = -1;  ///< instead, the number of tokens at the beginning for validation
  wsl::ml::token_format form = wsl::ml::token_format::llmc;
};
void tokenize(const tokenizing&);
/// Trains a tokenizer on texts and writes it.
struct tokenizer_training {
  std::vector<std::string> texts, special = {"<|endoftext|>"};
  std::string out, words = "gpt2";
  bool chats = false;  ///< with the tokens and the template of ChatML
  int size = 8000;
  long long least_count = 2;
};
void train_tokenizer(const tokenizer_training&);
/// The text to encode, or a file, of which the tokens may go to another file.
struct encoding {
  std::string tokenizer, text, file, out;
  bool has_text = false;  ///< an empty text is one, too
  bool add_special = true, match_special = true;
  wsl::ml::token_format form = wsl::ml::token_format::llmc;
};
/// What the header of a file of tokens says of their vocabulary: its size, or 0 for that of the form.
int size_in_header(int vocabulary, wsl::ml::token_format form);
/// Writes the tokenizer of a file or a folder, whose tokenizer.json is `json`, and what says which of its
/// tokens begin and end a text.
void write_tokenizer(const std::string& folder, const std::string& json, const std::string& from);
/// Prints or writes tokens.
void encode(const encoding&);
/// Prints the text of tokens: of those given, or of a file's. `special` keeps special tokens in it.
void decode(const std::string& tokenizer, const std::vector<int>& ids, const std::string& file, bool special);
/// Prints the properties of a tokenizer.
void show_tokenizer(const std::string& tokenizer);

/// Prints tokens as text.
void say(const std::string& tokens, const std::string& vocabulary, long long from, long long count);

/// Writes MNIST's four files with drawn digits.
void draw(long long train, long long test, unsigned long long seed, const std::string& out);

/// Converts from the format of the file `in` to the format that the name `out` asks for.
void convert(const std::string& in, const std::string& out, wsl::ml::token_format form);

/// The models whose examples a conversion makes: decoders, encoders, and encoder-decoders.
enum class example_form { gpt, bert, t5 };

/// The settings of a conversion from texts to examples in HDF5.
struct example_conversion {
  example_form form = example_form::gpt;
  std::vector<std::string> in;  ///< files (.txt, .jsonl, .csv, .tsv) or folders
  std::string tokenizer;        ///< as in `tokenizing`
  int length = 0;               ///< tokens of an example; 0: no examples are asked for
  std::string name = "dataset-partition";
  long long samples_per_file = 2000;
  std::string text_key = "text", prompt_key, completion_key;  ///< columns
  std::string eos_token, pad_token, sep_token;                ///< empty: the tokenizer's
  bool packs = true, lines = false, gzip = true;
  int least = 10;               ///< tokens of an example
  unsigned long long seed = 1;  ///< of bert and t5: what is hidden, and the spans that are left out
  bool do_lower = false;        ///< of bert and t5: a list of tokens is of lower case
  // Of bert.
  double masked_lm_prob = 0.15;
  int max_predictions_per_seq = 0;  ///< 0: as many as masked_lm_prob of the tokens
  bool mask_whole_word = false, next_sentences = false, gathers = false;
  // Of t5, in which `length` tokens are read.
  int target_length = 0;  ///< tokens that are written; 0: as many as texts of `length` tokens need
  int extra_ids = 100;
  bool pack_sequences = false;
  std::string sos_token = "<s>", oov_token = "<unk>";

  /// All of them but the files, as one text.
  std::string settings() const;
};
/// Writes <name>-1.h5 and so on, data_params.json and the vocabulary to a new folder.
void convert_to_examples(const example_conversion& how, const std::string& out);
/// Prints what is in a file of HDF5.
void inspect_hdf5(const std::string& path);

}  // namespace data_app
