// SPDX-License-Identifier: MIT
// Preferences in files of examples: a prompt, the answer that was chosen and the one that was rejected, of
// which a language model learns to find the first likelier (DPO), or a reward model to give it the larger
// score. The section `dpo` has the Model Zoo's names.
#pragma once
#include <fields.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <wsl/ml/data/dataset.hpp>
#include <wsl/ml/data/text/preferences.hpp>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/layer/preference_loss.hpp>
#include <wsl/ml/tokenizer/chat_template.hpp>

#include "example_words.hpp"

namespace gpt_app {

struct preference_params {
  std::string loss_type = "sigmoid", reference_model = {}, reference_cache = {};
  wsl::f64 beta = 0.1, label_smoothing = 0, penalty = -1;  ///< below 0: not given
  bool reference_free = false, disable_dropout = true;

  /// Throws std::invalid_argument for a setting that the loss does not have.
  wsl::ml::preference_loss_settings settings() const;
};
/// Declares the section `dpo`, which the Model Zoo has inside of the section model: {name: dpo, dpo: {...},
/// policy_model: {...}}.
void declare_preferences(train_app::fields& f, preference_params& p);

/// How the texts of a run became tokens: a model has learnt with it, so its checkpoints keep it.
struct preference_marks {
  std::string separator = {};            ///< between a prompt and an answer that are texts
  std::string form = {};                 ///< that of the chat template of lists of messages; empty: texts
  wsl::i32 end = 0;                      ///< behind an answer that is a text
  std::optional<wsl::i32> padding = {};  ///< of a reward model, in the files of transformers pad_token_id

  wsl::ml::text_by_name facts() const;
  /// Those of a checkpoint of preferences or of pairs; none if it is of other data. Throws
  /// wsl::ml::file_error.
  static std::optional<preference_marks> of(const std::string& checkpoint);
  /// Those of which `facts` are some.
  static preference_marks from(const wsl::ml::text_by_name& facts);
};
/// What a run learns from its preferences, as checkpoints keep it: names of fields and their values.
wsl::ml::text_by_name objective_of(const preference_params& p, bool are_scored,
                                   const wsl::ml::preference_keys& keys);
/// Throws std::invalid_argument, with both, if the run of a checkpoint has learnt something else.
void require_same_objective(const std::string& checkpoint, const wsl::ml::text_by_name& ours);

/// Throws std::invalid_argument, with both, if a checkpoint keeps other marks.
void require_same_marks(const std::string& checkpoint, const preference_marks& ours);

struct preference_words {
  std::string train, held_out;  ///< files (.jsonl, .csv, .tsv) or folders of them
  wsl::ml::preference_keys keys, held_out_keys;
  int length = 0, held_out_length = 0;  ///< tokens of a sequence
  example_words words;
  std::string separator;  ///< empty: `kept`, or none
  std::optional<preference_marks> kept =
      {};                                ///< those of the run that goes on, or of the model it begins with
  bool are_scored = false;               ///< for a reward model
  std::optional<wsl::i32> padding = {};  ///< pad_token_id of that model, if it has one
};

/// The tokens of prompts and answers.
class preference_encoder {
 public:
  /// `letters` are those of the texts to train with, where tokens are characters. Throws
  /// std::invalid_argument, and wsl::ml::file_error for a chat template that is not known or not there.
  preference_encoder(const preference_words& asked, bool are_chats, std::string_view letters);

  const vocabulary& words() const { return words_; }
  const preference_marks& marks() const { return marks_; }
  std::vector<wsl::i32> begin() const;
  /// The token of the padding.
  wsl::i32 padding() const { return marks_.padding.value_or(marks_.end); }
  std::vector<wsl::i32> prompt(const wsl::ml::preference_example& x) const;
  /// With what ends it. The score of a text is that of its last token which is not the padding, so it does
  /// not end with it.
  std::vector<wsl::i32> answer(const std::string& text) const;
  /// A whole text, likewise.
  std::vector<wsl::i32> text(const std::string& text) const { return without_padding(encoded(text)); }
  /// Whether tokens are characters, of which an end of a line is the end of a text.
  bool has_characters() const { return of_characters_; }

 private:
  std::vector<wsl::i32> encoded(std::string text) const;
  std::vector<wsl::i32> without_padding(std::vector<wsl::i32> ids) const;

  example_words asked_;
  bool of_characters_ = false;
  vocabulary words_;
  preference_marks marks_;
  std::optional<wsl::ml::chat_template> chat_;
};

struct preference_text {
  wsl::ml::dataset train, held_out;
  vocabulary words;
  preference_marks marks;
  wsl::i32 largest = 0;  ///< token
  std::string about;     ///< a description for people
};
/// Reads pairs and encodes them: texts have the tokens with which the tokenizer begins a text, perhaps a
/// separator, and the token that ends a text behind an answer; lists of messages what the chat template
/// beside the tokenizer writes. Of characters an end of a line ends a text, and those in texts become blanks.
/// Throws wsl::ml::file_error, with the file and the line, and std::invalid_argument for settings that do not
/// fit.
preference_text read_preferences(const preference_words& asked);

}  // namespace gpt_app
