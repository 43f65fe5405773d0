// SPDX-License-Identifier: MIT
// Examples of encoders and of encoder-decoders, which the data of their trainers make: sequences with hidden
// words, and texts with spans left out. Draws depend on the seed and on the number of an example.
#include <fmt/format.h>

#include <cmath>
#include <wsl/ml/data/text/encode/corrupted_text.hpp>
#include <wsl/ml/data/text/encode/masked_text.hpp>
#include <wsl/ml/data/text/encode/vocabulary_file.hpp>

#include "examples.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;

void require_tokenizer(const example_conversion& how) {
  if (how.tokenizer.empty())
    throw std::invalid_argument(
        "--form bert and t5 are of the tokens of a tokenizer: give --tokenizer, a tokenizer.json, a "
        "SentencePiece "
        "model, a list of tokens (.txt) or a folder with one");
}
std::vector<std::string> features_of(std::initializer_list<const char*> names) {
  return {names.begin(), names.end()};
}

/// Examples by their numbers, so that the number of the next one is all that it takes to go on.
class text_maker : public example_maker {
 public:
  i64 count() const override { return task_.data.count; }
  i64 done() const override { return next_; }
  i64 take(i64 most, std::vector<std::vector<i32>>& to) override {
    const i64 n = std::min(most, count() - next_);
    const std::vector<form> all = forms();
    to.clear();
    for (const form& x : all) to.emplace_back(static_cast<std::size_t>(n * x.features * x.length));
    on_all_cores(n, [&](i64 k) {
      std::vector<std::vector<i32>> named;
      for (const named_field& x : task_.data.named) named.emplace_back(static_cast<std::size_t>(x.count));
      std::vector<std::span<i32>> rooms(named.begin(), named.end());
      task_.data.get(next_ + k, {.ids = {}, .features = {}, .targets = {}, .named = rooms, .key = key_});
      std::vector<std::span<i32>> places;
      for (std::size_t s = 0; s < all.size(); ++s) {
        const auto each = static_cast<std::size_t>(all[s].features * all[s].length);
        places.push_back(std::span(to[s]).subspan(static_cast<std::size_t>(k) * each, each));
      }
      put(named, places);
    });
    next_ += n;
    return n;
  }
  nlohmann::json state() const override { return next_; }
  bool resume(const nlohmann::json& state) override {
    next_ = state.get<i64>();
    return next_ >= 0 && next_ <= count();
  }
  void write_vocabulary(const std::string& folder) const override {
    write_tokenizer(folder, vocabulary_, how_.tokenizer);
  }

 protected:
  text_maker(const example_conversion& how, text_task task, std::string vocabulary)
      : how_(how), task_(std::move(task)), vocabulary_(std::move(vocabulary)), key_(scramble(how.seed)) {}
  /// Puts the numbers by name of an example into its places in the datasets.
  virtual void put(const std::vector<std::vector<i32>>& named, std::span<const std::span<i32>> to) const = 0;

  example_conversion how_;
  text_task task_;
  std::string vocabulary_;

 private:
  u64 key_;
  i64 next_ = 0;
};

int predictions_of(const example_conversion& how) {
  return how.max_predictions_per_seq ? how.max_predictions_per_seq
                                     : static_cast<int>(std::ceil(how.masked_lm_prob * how.length));
}

class masked_maker final : public text_maker {
 public:
  explicit masked_maker(const example_conversion& how)
      : text_maker(how,
                   masked_of({.files = files_of(how.in, {".txt"}),
                              .max_sequence_length = how.length,
                              .next_sentences = how.next_sentences,
                              .masked = {how.masked_lm_prob, predictions_of(how), how.mask_whole_word}},
                             tokenizer_of(how.tokenizer, how.do_lower)),
                   vocabulary_json(how.tokenizer, how.do_lower) + "\n") {}

  const char* what() const override { return "sequences"; }
  std::vector<form> forms() const override {
    std::vector<form> all{
        {"data", has_types() ? 3 : 2, how_.length},
        how_.gathers ? form{"labels", 3, predictions_of(how_)} : form{"labels", 1, how_.length}};
    if (how_.next_sentences) all.push_back({"next_sentence_label", 1, 1});
    return all;
  }
  nlohmann::ordered_json params() const override {
    std::vector<std::string> features = has_types()
                                            ? features_of({"input_ids", "attention_mask", "token_type_ids"})
                                            : features_of({"input_ids", "attention_mask"});
    features.emplace_back("labels");
    if (how_.gathers) features.insert(features.end(), {"masked_lm_positions", "masked_lm_mask"});
    return {{"features", features},
            {"max_seq_length", how_.length},
            {"max_sequence_length", how_.length},
            {"max_predictions_per_seq", predictions_of(how_)},
            {"vocab_size", task_.vocabulary},
            {"seed", how_.seed},
            {"dataset",
             {{"training_objective", "mlm"},
              {"mlm_fraction", how_.masked_lm_prob},
              {"mlm_with_gather", how_.gathers},
              {"ignore_index", ignored_label}}}};
  }

 private:
  bool has_types() const { return task_.token_types > 1; }
  void put(const std::vector<std::vector<i32>>& named, std::span<const std::span<i32>> to) const override {
    auto data = to[0].begin();
    for (int k = 0; k < (has_types() ? 3 : 2); ++k) {
      const std::vector<i32>& row = named[static_cast<std::size_t>(k)];
      data = std::copy(row.begin(), row.end(), data);
    }
    if (how_.next_sentences) to[2][0] = named[4][0];
    const std::vector<i32>& labels = named[3];
    if (!how_.gathers) return void(std::copy(labels.begin(), labels.end(), to[1].begin()));
    const std::size_t most = to[1].size() / 3;
    const std::span<i32> of_places = to[1].first(most), places = to[1].subspan(most, most),
                         mask = to[1].last(most);
    std::fill(of_places.begin(), of_places.end(), ignored_label);
    std::size_t n = 0;
    for (std::size_t t = 0; t < labels.size(); ++t)
      if (labels[t] != ignored_label)
        of_places[n] = labels[t], places[n] = static_cast<i32>(t), mask[n] = 1, ++n;
  }
};

/// Tokens that are written of the texts whose inputs fill a sequence.
int targets_of(const example_conversion& how) {
  if (how.target_length) return how.target_length;
  const span_corruption spans;
  const int longest = spans.longest(how.length - 1, 2 * how.length);
  return longest < 2 ? how.length : spans.shape_of(longest).targets + 1;
}
encoder_decoder_settings sequences_of(const example_conversion& how) {
  encoder_decoder_settings s{.src_max_sequence_length = how.length,
                             .tgt_max_sequence_length = targets_of(how),
                             .sos_token = how.sos_token,
                             .oov_token = how.oov_token};
  if (!how.eos_token.empty()) s.eos_token = how.eos_token;
  if (!how.pad_token.empty()) s.pad_token = how.pad_token;
  return s;
}

class corrupted_maker final : public text_maker {
 public:
  corrupted_maker(const example_conversion& how, const tokenizer& by)
      : text_maker(how,
                   corrupted_of({.files = files_of(how.in, {".txt"}),
                                 .sequences = sequences_of(how),
                                 .extra_ids = how.extra_ids,
                                 .pack_sequences = how.pack_sequences},
                                by),
                   vocabulary_json_of_words(how.tokenizer, how.oov_token, how.do_lower) + "\n"),
        padding_(encoder_decoder_tokens::of(sequences_of(how), by).padding) {}

  const char* what() const override { return "texts"; }
  std::vector<form> forms() const override {
    return {{"data_0", 2, how_.length}, {"data_1", 3, targets_of(how_)}};
  }
  nlohmann::ordered_json params() const override {
    const encoder_decoder_settings s = sequences_of(how_);
    return {{"data_0_features", features_of({"input_ids", "attention_mask"})},
            {"data_1_features", features_of({"decoder_input_ids", "decoder_attention_mask", "labels"})},
            {"src_max_sequence_length", s.src_max_sequence_length},
            {"tgt_max_sequence_length", s.tgt_max_sequence_length},
            {"vocab_size", task_.vocabulary},
            {"extra_ids", how_.extra_ids},
            {"sos_token", s.sos_token},
            {"eos_token", s.eos_token},
            {"pad_token", s.pad_token},
            {"oov_token", s.oov_token},
            {"seed", how_.seed},
            {"dataset", {{"training_objective", "span_corruption"}}}};
  }

 private:
  void put(const std::vector<std::vector<i32>>& named, std::span<const std::span<i32>> to) const override {
    const auto of_mask = std::copy(named[0].begin(), named[0].end(), to[0].begin());
    std::copy(named[1].begin(), named[1].end(), of_mask);
    const std::size_t n = named[3].size();
    const std::span<i32> mask = to[1].subspan(n, n), labels = to[1].last(n);
    std::copy(named[2].begin(), named[2].end(), to[1].begin());
    for (std::size_t t = 0; t < n; ++t) {
      mask[t] = named[3][t] != ignored_label;
      labels[t] = mask[t] ? named[3][t] : padding_;
    }
  }

  i32 padding_;
};

}  // namespace

std::unique_ptr<example_maker> masked_examples(const example_conversion& how) {
  require_tokenizer(how);
  if (!(how.masked_lm_prob > 0 && how.masked_lm_prob <= 1))  // nor what is no number
    throw std::invalid_argument(
        fmt::format("--masked_lm_prob is above 0 and at most 1, such as 0.15, not {}", how.masked_lm_prob));
  return std::make_unique<masked_maker>(how);
}
std::unique_ptr<example_maker> corrupted_examples(const example_conversion& how) {
  require_tokenizer(how);
  return std::make_unique<corrupted_maker>(how,
                                           tokenizer_of_words(how.tokenizer, how.oov_token, how.do_lower));
}

}  // namespace data_app
