// SPDX-License-Identifier: MIT
// The data processors of the Cerebras Model Zoo for text, with its names for them and for their settings, so
// that a program can read them from the train_input of a params.yaml:
//   text_processor p = text_processor_of("SST2DataProcessor");
//   each_setting(p, [](const char* name, auto& value, const char* help) { ... });   // read or describe them
//   each_accepted(p, [](const char* name, const char* values) { ... });
//   const text_task t = task_of(p, text_use::training);
// Settings of every input, such as batch_size, shuffle, shuffle_seed, drop_last and prefetch_factor, are
// those of batches (../../batches.hpp), and no part of these. A path is a file or a folder (files_of).
// Numbers of 0 and empty texts that have no default must be given.
#pragma once
#include <functional>
#include <optional>
#include <variant>

#include "../../synthetic.hpp"
#include "classified_text.hpp"
#include "corrupted_text.hpp"
#include "masked_text.hpp"
#include "questions.hpp"
#include "retrieved_text.hpp"
#include "summarized_text.hpp"
#include "tagged_text.hpp"
#include "translated_text.hpp"
#include "vocabulary_file.hpp"

namespace wsl::ml {

/// The settings of the processors of all encoders.
struct encoder_input {
  std::vector<std::string> data_dir = {};
  std::string vocab_file = {};
  bool do_lower = false;
  int max_sequence_length = 0;
  std::optional<tokenizer> words = {};  ///< a vocabulary that is read already; then vocab_file is not

  template <class F>
  void each(F&& f) {
    f("data_dir", data_dir, "files or folders of examples");
    f("vocab_file", vocab_file, "a list of tokens (.txt), a tokenizer.json, or a folder with a tokenizer");
    f("do_lower", do_lower, "the list of tokens is of lower case without accents");
    f("max_sequence_length", max_sequence_length, "tokens of a sequence, special ones included");
  }
  /// Settings of which only some values are accepted: those that the library honours in any case ("any" if
  /// none changes a result).
  template <class F>
  void accepted(F&& f) const {
    f("attn_mask_pad_id", "0");
    f("labels_pad_id", "any");  // labels of padding do not count
    f("input_pad_id", "any");   // the attention mask hides what is there
    f("segment_pad_id", "any");
    for (const char* deprecated : {"vocab_size", "num_examples", "steps"}) f(deprecated, "any");
    f("buckets", "null");  // sequences are padded to max_sequence_length
  }
  tokenizer by() const { return words ? *words : tokenizer_of(vocab_file, do_lower); }
  /// The vocabulary as the text of a tokenizer.json.
  std::string vocabulary() const { return vocabulary_json(vocab_file, do_lower); }
  /// The tokenizer, after a look at the settings of the texts.
  tokenizer with() const {
    check();
    return by();
  }
  std::vector<std::string> files(const std::vector<std::string>& endings) const {
    check();
    return files_of(data_dir, endings);
  }
  void check() const {
    if (data_dir.empty())
      throw std::invalid_argument("wsl: data_dir is missing: name files or a folder of examples");
    if (max_sequence_length < 1)
      throw std::invalid_argument(fmt::format(
          "wsl: max_sequence_length is {}: take that of the model, 128 for instance", max_sequence_length));
  }
};

/// Hidden words, drawn anew in each epoch, from tables of tokens or from text.
struct bert_csv_dynamic_mask_processor : encoder_input {
  static constexpr const char* name = "BertCSVDynamicMaskDataProcessor";
  bool disable_nsp = false, mask_whole_word = false;
  int max_predictions_per_seq = 0;
  f64 masked_lm_prob = 0.15;

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("disable_nsp", disable_nsp, "without the task of next sentences");
    f("mask_whole_word", mask_whole_word, "with one token of a word all of it is hidden");
    f("max_predictions_per_seq", max_predictions_per_seq, "the most tokens of a sequence that are hidden");
    f("masked_lm_prob", masked_lm_prob, "the part of the tokens that is hidden");
  }
  template <class F>
  void accepted(F&& f) const {
    encoder_input::accepted(f);
    f("gather_mlm_labels", "any");     // labels have a place for each token in any case
    f("whole_word_masking", "false");  // the name of mask_whole_word before
    f("oov_token", "[UNK]"), f("mask_token", "[MASK]"), f("document_separator_token", "[SEP]");
  }
  text_task task(text_use) const {
    return masked_of({.files = files({".csv", ".txt"}),
                      .max_sequence_length = max_sequence_length,
                      .next_sentences = !disable_nsp,
                      .masked = {masked_lm_prob, max_predictions_per_seq, mask_whole_word}},
                     with());
  }
};

/// Words that are hidden already.
struct bert_csv_processor : encoder_input {
  static constexpr const char* name = "BertCSVDataProcessor";
  bool disable_nsp = false;

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("disable_nsp", disable_nsp, "without the task of next sentences");
  }
  template <class F>
  void accepted(F&& f) const {
    encoder_input::accepted(f);
    for (const char* of_files :
         {"max_predictions_per_seq", "masked_lm_prob", "mask_whole_word", "whole_word_masking"})
      f(of_files, "any");  // the files have it
  }
  text_task task(text_use) const {
    return masked_of({.files = files({".csv"}),
                      .max_sequence_length = max_sequence_length,
                      .are_hidden = true,
                      .next_sentences = !disable_nsp},
                     with());
  }
};

/// Reads the examples of a processor of HDF5, for a vocabulary of so many tokens. Programs with the part
/// wsl::hdf5 set it, and without it there is this refusal.
template <class Processor>
using hdf5_reader = std::function<text_task(const Processor&, int vocabulary)>;
[[noreturn]] inline void refuse_hdf5(const char* processor) {
  throw std::invalid_argument(
      fmt::format("wsl: the data of {} are HDF5, and this program was built without libhdf5: install it (on "
                  "Debian libhdf5-dev) and build again, or give text",
                  processor));
}

/// Hidden words in HDF5 (hdf5/masked.hpp).
struct bert_hdf5_processor : encoder_input {
  static constexpr const char* name = "BertHDF5DataProcessor";
  bool disable_nsp = false;
  hdf5_reader<bert_hdf5_processor> reads = {};

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("disable_nsp", disable_nsp, "without the task of next sentences");
  }
  template <class F>
  void accepted(F&& f) const {
    encoder_input::accepted(f);
    f("use_vsl", "false"), f("sort_files", "true"), f("pad_last", "false");
    f("dataset_map_fn", "null");
  }
  text_task task(text_use) const {
    check();
    if (!reads) refuse_hdf5(name);
    return reads(*this, by().size());
  }
};

/// Random numbers in place of sequences with hidden words, whose tokens are numbers.
struct synthetic_encoder_processor : encoder_input {
  static constexpr const char* name = "SyntheticDataProcessor";
  bool disable_nsp = false;
  int num_examples = 0, vocab_size = 0;
  u64 seed = 1;  ///< shuffle_seed, another one for each part of the data

  template <class F>
  void each(F&& f) {
    f("max_sequence_length", max_sequence_length, "tokens of a sequence, special ones included");
    f("disable_nsp", disable_nsp, "without the task of next sentences");
    f("num_examples", num_examples, "examples; 0: without end");
  }
  template <class F>
  void accepted(F&& f) const {
    f("vocab_size", "any");  // that of the model is taken
  }
  static std::vector<std::string> special() { return {"[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"}; }
  std::string vocabulary() const { return vocabulary_of_numbers(vocab_size, special()); }
  text_task task(text_use) const {
    constexpr f64 hidden = 0.15;  // as BERT
    text_task t;
    t.vocabulary = with().size(), t.token_types = disable_nsp ? 1 : 2;
    t.data = synthetic_masked({seed, num_examples}, max_sequence_length, t.vocabulary,
                              static_cast<int>(special().size()), !disable_nsp,
                              {hidden, std::max(1, static_cast<int>(hidden * max_sequence_length)), false});
    t.about = fmt::format("random sequences of {} tokens with hidden words", max_sequence_length);
    return t;
  }

 private:
  tokenizer with() const { return words ? *words : tokenizer::from_json(vocabulary(), "the vocabulary"); }
};

/// The classes of texts, or of pairs of them, in any tables.
struct bert_classifier_processor : encoder_input {
  static constexpr const char* name = "BertClassifierDataProcessor";
  std::string text_column = "sentence", second_text_column = {}, label_column = "label";
  std::vector<std::string> classes = {};

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("text_column", text_column, "the column of the text");
    f("second_text_column", second_text_column, "that of the second text; empty: there is one text");
    f("label_column", label_column, "that of the class");
    f("classes", classes,
      "the names of the classes in the order of their numbers; empty: those of the files");
  }
  text_task task(text_use use) const {
    return classification_of({.files = files({".tsv", ".csv", ".jsonl"}),
                              .first = text_column,
                              .second = second_text_column,
                              .label = label_column,
                              .classes = classes,
                              .max_sequence_length = max_sequence_length,
                              .may_lack_labels = use == text_use::prediction},
                             with());
  }
};

/// GLUE's tasks lie in folders, with a file to train with and one or two to evaluate with.
struct glue_processor : encoder_input {
  std::vector<std::string> files_in_folder(const std::vector<std::string>& names) const {
    check();
    std::vector<std::string> all;
    for (const std::string& path : data_dir)
      if (!std::filesystem::is_directory(path)) all.push_back(path);
      else
        for (const std::string& file : names) all.push_back((std::filesystem::path(path) / file).string());
    return all;
  }
};

/// The Stanford Sentiment Treebank: train.tsv and dev.tsv with columns sentence and label.
struct sst2_processor : glue_processor {
  static constexpr const char* name = "SST2DataProcessor";
  text_task task(text_use use) const {
    return classification_of({.files = files_in_folder({use == text_use::training ? "train.tsv" : "dev.tsv"}),
                              .first = "sentence",
                              .label = "label",
                              .classes = {"0", "1"},
                              .max_sequence_length = max_sequence_length,
                              .may_lack_labels = use == text_use::prediction},
                             with());
  }
};
/// MultiNLI: train.tsv, and for evaluation dev_matched.tsv and dev_mismatched.tsv in a row, with columns
/// sentence1, sentence2 and gold_label.
struct mnli_processor : glue_processor {
  static constexpr const char* name = "MNLIDataProcessor";
  text_task task(text_use use) const {
    const std::vector<std::string> of_training{"train.tsv"},
        of_evaluation{"dev_matched.tsv", "dev_mismatched.tsv"};
    return classification_of(
        {.files = files_in_folder(use == text_use::training ? of_training : of_evaluation),
         .first = "sentence1",
         .second = "sentence2",
         .label = "gold_label",
         .classes = {"entailment", "neutral", "contradiction"},
         .max_sequence_length = max_sequence_length,
         .may_lack_labels = use == text_use::prediction},
        with());
  }
};

/// Tags of words.
struct bert_token_classifier_processor : encoder_input {
  static constexpr const char* name = "BertTokenClassifierDataProcessor";
  std::string label_vocab_file = {};
  label_map classes = {};  ///< without that file: the tags, such as those of the training data
  bool include_padding_in_loss = false;
  int labels_pad_id = 0;

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("label_vocab_file", label_vocab_file,
      "JSON of the tags and their numbers; empty: the tags of the files");
    f("include_padding_in_loss", include_padding_in_loss, "padding has a tag as well, labels_pad_id");
    f("labels_pad_id", labels_pad_id, "the number of that tag");
  }
  template <class F>
  void accepted(F&& f) const {
    // The number of padding is a setting of this processor.
    encoder_input::accepted([&](const char* setting, const char* values) {
      if (std::string_view(setting) != "labels_pad_id") f(setting, values);
    });
    f("mask_whole_word", "any");  // nothing is hidden
  }
  text_task task(text_use use) const {
    return tagging_of({.files = files({".csv", ".txt", ".conll", ".bio"}),
                       .classes = label_vocab_file.empty() ? classes : label_map::of_file(label_vocab_file),
                       .max_sequence_length = max_sequence_length,
                       .may_lack_tags = use == text_use::prediction,
                       .padding_tag = include_padding_in_loss ? std::optional(labels_pad_id) : std::nullopt},
                      with());
  }
};

/// Sentences that make a summary.
struct bert_sum_csv_processor : encoder_input {
  static constexpr const char* name = "BertSumCSVDataProcessor";
  int max_cls_tokens = 0;

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("max_cls_tokens", max_cls_tokens, "sentences of a document that count");
  }
  template <class F>
  void accepted(F&& f) const {
    encoder_input::accepted(f);
    f("pad_id", "any"), f("mask_whole_word", "any");
  }
  text_task task(text_use use) const {
    return summaries_of({.files = files({".csv", ".jsonl"}),
                         .max_sequence_length = max_sequence_length,
                         .max_cls_tokens = max_cls_tokens,
                         .may_lack_labels = use == text_use::prediction},
                        with());
  }
};

/// Questions about paragraphs.
struct qa_processor : encoder_input {
  static constexpr const char* name = "QADataProcessor";
  int doc_stride = 128, max_query_length = 64, n_best_size = 20, max_answer_length = 30;
  bool version_2_with_negative = false;
  f64 null_score_diff_threshold = 0;

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("doc_stride", doc_stride, "tokens from one window of a paragraph to the next");
    f("max_query_length", max_query_length, "tokens of a question");
    f("n_best_size", n_best_size, "answers that are compared");
    f("max_answer_length", max_answer_length, "tokens of an answer");
    f("version_2_with_negative", version_2_with_negative, "questions may have no answer (SQuAD 2.0)");
    f("null_score_diff_threshold", null_score_diff_threshold,
      "by how much the score of no answer must be larger");
  }
  /// The questions, for their answers.
  asked_questions asked(text_use use) const {
    const bool predicts = use == text_use::prediction;
    const asked_questions all({files({".json"}), max_sequence_length, doc_stride, max_query_length, predicts},
                              with());
    if (!version_2_with_negative && !predicts)
      for (const squad_question& q : all.questions())
        if (q.answers.empty())
          throw file_error(
              fmt::format("wsl: the question {} has no answer: set version_2_with_negative", q.id));
    return all;
  }
  answer_settings of_answers() const {
    return {n_best_size, max_answer_length, version_2_with_negative, null_score_diff_threshold};
  }
  text_task task(text_use use) const { return asked(use).task(); }
};

/// Questions and the passages that answer them, in the form of DPR's data, of which the Model Zoo makes HDF5
/// first.
struct dpr_processor : encoder_input {
  static constexpr const char* name = "DPRHDF5DataProcessor";
  int max_passage_length = 0, hard_negatives = 0;

  template <class F>
  void each(F&& f) {
    encoder_input::each(f);
    f("max_passage_length", max_passage_length,
      "tokens of a passage with its title; 0: as many as of a question");
    f("hard_negatives", hard_negatives, "passages of a question that only look as if they answered it");
  }
  /// The questions and passages, for the vectors of an evaluation.
  retrieved_text texts() const {
    if (hard_negatives < 0)
      throw std::invalid_argument(fmt::format("wsl: hard_negatives is at least 0, not {}", hard_negatives));
    retrieval_text_settings how = settings();
    how.files = files({".json", ".jsonl"});
    return {how, with()};
  }
  /// Passages alone, such as those of an index, from files of their own; `words` is read already.
  text_task passages_in(const std::string& path) const {
    const retrieval_text_settings how = settings();
    return passages_of(files_of({path}, {".tsv", ".csv", ".jsonl"}), how.passage_length(), words.value(),
                       how.passage_setting());
  }
  text_task task(text_use use) const { return texts().task(use == text_use::training); }

 private:
  retrieval_text_settings settings() const {
    return {.max_sequence_length = max_sequence_length,
            .max_passage_length = max_passage_length,
            .passages_of_question = 1 + hard_negatives};
  }
};

/// The settings of the processors of all encoder-decoders.
struct encoder_decoder_input {
  std::vector<std::string> src_data_dir = {};
  std::string src_vocab_file = {};
  bool do_lower = false;
  std::optional<tokenizer> words = {};  ///< a vocabulary that is read already; then src_vocab_file is not
  encoder_decoder_settings sequences = {.src_max_sequence_length = 0, .tgt_max_sequence_length = 0};

  template <class F>
  void each(F&& f) {
    f("src_data_dir", src_data_dir, "files or folders of texts");
    f("src_vocab_file", src_vocab_file,
      "a list of tokens (.txt) for texts of such tokens, a tokenizer.json, a SentencePiece model, or a "
      "folder with a tokenizer");
    f("do_lower", do_lower, "with a list of tokens: texts become lower case");
    f("src_max_sequence_length", sequences.src_max_sequence_length, "tokens that are read");
    f("tgt_max_sequence_length", sequences.tgt_max_sequence_length, "tokens that are written");
    f("oov_token", sequences.oov_token, "the token for what has none");
    f("sos_token", sequences.sos_token, "the token with which the decoder begins");
    f("eos_token", sequences.eos_token, "the token at the end of what is written");
    f("pad_token", sequences.pad_token, "the token that fills sequences up");
  }
  template <class F>
  void accepted(F&& f) const {
    f("labels_pad_id", "any"), f("input_pad_id", "any");  // padding does not count
    for (const char* deprecated : {"vocab_size", "tgt_vocab_file"}) f(deprecated, "any");
    f("buckets", "null");  // sequences are padded to both lengths
  }
  tokenizer by() const {
    return words ? *words : tokenizer_of_words(src_vocab_file, sequences.oov_token, do_lower);
  }
  /// The vocabulary as the text of a tokenizer.json.
  std::string vocabulary() const {
    return vocabulary_json_of_words(src_vocab_file, sequences.oov_token, do_lower);
  }
  void check() const {
    if (src_data_dir.empty())
      throw std::invalid_argument("wsl: src_data_dir is missing: name files or a folder of texts");
  }
};

/// Texts with spans left out.
struct t5_dynamic_processor : encoder_decoder_input {
  static constexpr const char* name = "T5DynamicDataProcessor";
  int extra_ids = 0, num_documents_to_concatenate = 128;
  bool pack_sequences = false;

  template <class F>
  void each(F&& f) {
    encoder_decoder_input::each(f);
    f("extra_ids", extra_ids, "sentinels behind the vocabulary");
    f("pack_sequences", pack_sequences, "a sequence may have text of several documents");
    f("num_documents_to_concatenate", num_documents_to_concatenate,
      "documents in a row that may share sequences");
  }
  text_task task(text_use) const {
    check();
    const tokenizer with = by();
    return corrupted_of({.files = files_of(src_data_dir, {".txt"}),
                         .sequences = sequences,
                         .extra_ids = extra_ids,
                         .pack_sequences = pack_sequences,
                         .num_documents_to_concatenate = num_documents_to_concatenate},
                        with);
  }
};

/// Translations: folders whose meta.dat names a file of sources, one of targets and the number of their lines
/// in each line; files of sources in src_data_dir and of targets in tgt_data_dir; or tables with two columns.
struct transformer_dynamic_processor : encoder_decoder_input {
  static constexpr const char* name = "TransformerDynamicDataProcessor";
  std::vector<std::string> tgt_data_dir = {};
  std::string src_column = {}, tgt_column = {};

  template <class F>
  void each(F&& f) {
    encoder_decoder_input::each(f);
    f("tgt_data_dir", tgt_data_dir, "files of translations, line by line those of src_data_dir");
    f("src_column", src_column, "in tables: the column of the texts");
    f("tgt_column", tgt_column, "in tables: that of their translations");
  }
  text_task task(text_use use) const {
    check();
    const tokenizer with = by();
    translated_text how{.sequences = sequences, .may_lack_targets = use == text_use::prediction};
    if (src_column.empty() != tgt_column.empty() && (src_column.empty() || !how.may_lack_targets))
      throw std::invalid_argument("wsl: src_column and tgt_column belong together: name both or neither");
    if (!src_column.empty()) {
      how.tables = files_of(src_data_dir, {".tsv", ".csv", ".jsonl"});
      how.source_column = src_column, how.target_column = tgt_column;
    } else if (!tgt_data_dir.empty()) {
      how.source_files = src_data_dir, how.target_files = tgt_data_dir;
    } else {
      for (const std::string& path : src_data_dir) add_pairs(how, path);
    }
    return translations_of(how, with);
  }

 private:
  static void add_pairs(translated_text& to, const std::string& folder) {
    if (!std::filesystem::is_directory(folder)) {
      if (to.may_lack_targets) return to.source_files.push_back(files_of({folder}, {}).front());
      throw file_error(
          fmt::format("wsl: {}: translations are missing: name the files that have them, line by line, in "
                      "tgt_data_dir, or the columns of a table in src_column and tgt_column",
                      files_of({folder}, {}).front()));
    }
    const std::vector<detail::meta_line> lines = detail::meta_lines(folder);
    if (lines.empty())
      throw file_error(
          fmt::format("wsl: {}: the folder has no meta.dat: name the files of translations in "
                      "tgt_data_dir, or the columns of tables",
                      folder));
    for (const detail::meta_line& line : lines) {
      if (line.files.size() != 2)
        throw file_error(
            fmt::format("wsl: {}/meta.dat, line {}: a line has a file of sources, a file of "
                        "targets, and the number of their lines",
                        folder, line.number));
      to.source_files.push_back(line.files[0]), to.target_files.push_back(line.files[1]);
    }
  }
};

/// Texts that are read and written in HDF5 (hdf5/encoder_decoder.hpp), which have the lengths of sequences.
struct t5_hdf5_processor : encoder_decoder_input {
  static constexpr const char* name = "T5HDF5DataProcessor";
  int extra_ids = 0;
  hdf5_reader<t5_hdf5_processor> reads = {};

  template <class F>
  void each(F&& f) {
    encoder_decoder_input::each(f);
    f("extra_ids", extra_ids, "sentinels behind the vocabulary");
  }
  template <class F>
  void accepted(F&& f) const {
    encoder_decoder_input::accepted(f);
    f("use_vsl", "false");
  }
  text_task task(text_use) const {
    check();
    if (!reads) refuse_hdf5(name);
    return reads(*this, vocabulary_with_sentinels(by(), extra_ids));
  }
};

/// Random numbers in place of texts that are read and written, whose tokens are numbers.
struct synthetic_encoder_decoder_processor : encoder_decoder_input {
  static constexpr const char* name = "SyntheticDataProcessor";
  int num_examples = 0, vocab_size = 0;
  u64 seed = 1;  ///< shuffle_seed, another one for each part of the data

  template <class F>
  void each(F&& f) {
    f("src_max_sequence_length", sequences.src_max_sequence_length, "tokens that are read");
    f("tgt_max_sequence_length", sequences.tgt_max_sequence_length, "tokens that are written");
    f("num_examples", num_examples, "examples; 0: without end");
  }
  template <class F>
  void accepted(F&& f) const {
    f("vocab_size", "any");  // that of the model is taken
  }
  std::vector<std::string> special() const {
    std::vector<std::string> all;
    for (const std::string& token :
         {sequences.oov_token, sequences.pad_token, sequences.sos_token, sequences.eos_token})
      if (std::find(all.begin(), all.end(), token) == all.end()) all.push_back(token);
    return all;
  }
  std::string vocabulary() const { return vocabulary_of_numbers(vocab_size, special()); }
  text_task task(text_use) const {
    const tokenizer with = words ? *words : tokenizer::from_json(vocabulary(), "the vocabulary");
    const encoder_decoder_tokens tokens = encoder_decoder_tokens::of(sequences, with);
    text_task t;
    t.vocabulary = with.size();
    t.data = synthetic_pairs({seed, num_examples}, tokens.sources, tokens.targets, t.vocabulary,
                             static_cast<int>(special().size()), tokens.begin, tokens.end);
    t.about = fmt::format("random pairs of {} and {} tokens", tokens.sources, tokens.targets);
    return t;
  }
};

using text_processor = std::variant<bert_csv_dynamic_mask_processor, bert_csv_processor, bert_hdf5_processor,
                                    synthetic_encoder_processor, bert_classifier_processor, sst2_processor,
                                    mnli_processor, bert_token_classifier_processor, bert_sum_csv_processor,
                                    qa_processor, dpr_processor, t5_dynamic_processor, t5_hdf5_processor,
                                    synthetic_encoder_decoder_processor, transformer_dynamic_processor>;

/// The kinds of models whose examples a processor makes. Processors of different kinds may have one name.
enum class text_kind : u8 { encoder, encoder_decoder };

namespace detail {

template <std::size_t... I>
std::vector<text_processor> all_text_processors(std::index_sequence<I...>) {
  return {text_processor(std::in_place_index<I>)...};
}

}  // namespace detail

/// One of each, with its defaults.
inline std::vector<text_processor> text_processors() {
  return detail::all_text_processors(std::make_index_sequence<std::variant_size_v<text_processor>>());
}
inline const char* name_of(const text_processor& p) {
  return std::visit([](const auto& x) { return x.name; }, p);
}
inline text_kind kind_of(const text_processor& p) {
  return std::visit(
      []<class T>(const T&) {
        return std::is_base_of_v<encoder_decoder_input, T> ? text_kind::encoder_decoder : text_kind::encoder;
      },
      p);
}
/// The processor of a name, of one kind if it is given, with its defaults. Throws std::invalid_argument if
/// there is none.
inline text_processor text_processor_of(std::string_view name, std::optional<text_kind> kind = {}) {
  std::string known;
  for (const text_processor& p : text_processors()) {
    if (kind && kind_of(p) != *kind) continue;
    if (name == name_of(p)) return p;
    known += (known.empty() ? "" : ", ") + std::string(name_of(p));
  }
  throw std::invalid_argument(
      fmt::format("wsl: there is no data_processor '{}' of text; known are {}", name, known));
}
/// Calls f(name, value, help) for each setting of a processor; a value is a bool, an int, an f64, a text, or
/// a vector of texts.
template <class F>
void each_setting(text_processor& p, F f) {
  std::visit([&](auto& x) { x.each(f); }, p);
}
/// Calls f(name, value) for each further setting of the Model Zoo that changes nothing here: with the only
/// value that is accepted, or "any".
template <class F>
void each_accepted(const text_processor& p, F f) {
  std::visit([&](const auto& x) { x.accepted(f); }, p);
}
/// Reads the data. Throws file_error for files that cannot be read and std::invalid_argument for settings
/// that are missing or do not fit. `use` says which files of GLUE's folders are meant, and whether texts may
/// lack their labels.
inline text_task task_of(const text_processor& p, text_use use) {
  return std::visit([&](const auto& x) { return x.task(use); }, p);
}

}  // namespace wsl::ml
