// SPDX-License-Identifier: MIT
// A writer continues texts with a decoder of any kind. Its fabric is a row of PEs, the columns, each with a
// part of every layer's weights in its memory and with the keys and values of its own heads, so a token costs
// one pass through the weights however long the text is. The host draws a token from the logits and launches
// the next one; the tokens of a prompt go through the layers together, and so do those of several samples.
//   ml::writer w{config, weights, {.columns = 2, .precision = ml::precision::bfloat16}};
//   auto texts = w.write(prompt, {.max_tokens = 128, .temperature = 0.8, .top_k = 40, .samples = 2},
//                        [](const ml::written_token& t) { ... });
// A time of a token is that of reading all weights from memory: `scripts/bench generate`. See
// docs/guide/writing.md and examples/98_writing.cpp.
#pragma once
#include <fmt/format.h>

#include "decoder_part.hpp"
#include "row_of_columns.hpp"
#include "settings.hpp"

namespace wsl::ml {

class writer {
 public:
  /// A model with weights wherever they lie. Throws std::invalid_argument for settings out of range, and for
  /// weights that are not of this model.
  writer(const decoder& config, stored_weights w, const writer_settings& how = {})
      : how_(checked(config, how)),
        columns_(decoder_plan(config,
                              {weights_of(shape_of(config), std::move(w)), how_.precision, how_.in_place,
                               how_.columns},
                              how_.max_length),
                 how_.threads) {}
  /// The weights of the network that `config` builds.
  writer(const decoder& config, weights w, const writer_settings& how = {})
      : writer(config, stored_weights(shape_of(config), std::move(w)), how) {}

  const decoder& config() const { return columns_.of().config; }
  int columns() const { return how_.columns; }
  int max_length() const { return how_.max_length; }
  fabric& wafer() { return columns_.wafer(); }
  /// The bytes of weights that a token reads.
  i64 bytes_of_weights() { return columns_.bytes_of_weights(); }

  /// Throws std::invalid_argument for settings out of range, for an empty prompt or one that is longer than
  /// `max_length`, and for a token that is not in the vocabulary.
  void check(std::span<const i32> prompt, const text_settings& how) const { check(prompt), check(how); }

  /// Continues a prompt. `on_token` is called with each token when it has been drawn, those of several
  /// samples in turn; it must not use this writer, whose keys and values are those of the text. Throws what
  /// `check` does, std::invalid_argument if it is called from within `on_token`, and not_finite for a model
  /// whose logits are NaN or infinite.
  std::vector<written_text> write(std::span<const i32> prompt, const text_settings& how = {},
                                  const std::function<void(const written_token&)>& on_token = {}) {
    check(prompt, how);
    const writer_in_use now(is_writing_, "on_token");
    const int length = static_cast<int>(prompt.size()), room = how_.max_length - length;
    columns_.resize(how.samples, length + std::min(how.max_tokens, room));
    std::vector<sample> all;
    for (int k = 0; k < how.samples; ++k) {
      all.push_back({std::mt19937_64(seed_of(how.seed, static_cast<std::size_t>(k))), {}, {}});
      all.back().text.assign(prompt.begin(), prompt.end());
      if (room == 0) all.back().is_done = true, all.back().written.end = text_end::context_full;
    }
    if (room > 0 && how.max_tokens > 0) {
      read_prompt(prompt, length - 1);
      for (int k = 0; k < how.samples; ++k)
        draw(all[static_cast<std::size_t>(k)], k, length, logits_, how, on_token);
      std::vector<text_copy> copies;  // of the prompt
      for (int k = 1; k < how.samples; ++k) copies.push_back({0, k, length});
      while (pass_last_tokens(all, std::exchange(copies, {}))) {
        std::size_t row = 0;
        const std::size_t v = static_cast<std::size_t>(config().vocabulary);
        for (int k : block_.texts)
          draw(all[static_cast<std::size_t>(k)], k, length, logits_.subspan(row++ * v, v), how, on_token);
      }
    }
    std::vector<written_text> texts;
    for (sample& s : all) texts.push_back(std::move(s.written));
    return texts;
  }
  /// The logits behind each token of a text, (tokens, vocabulary). Throws std::invalid_argument as write
  /// does.
  std::vector<f32> logits(std::span<const i32> text) {
    check(text);
    const writer_in_use now(is_writing_, "on_token");
    columns_.resize(1, static_cast<int>(text.size()));
    std::vector<f32> all;
    read_prompt(text, 0, &all);
    return all;
  }

 private:
  struct sample {
    std::mt19937_64 random;
    std::vector<i32> text;  // with the prompt
    written_text written;
    bool is_done = false;
  };

  /// The network whose parameters the decoder has. Tables of positions that are computed are not made.
  static network shape_of(decoder d) {
    if (d.position != positioning::learned) d.positions = 1;
    return d.build();
  }
  static writer_settings checked(const decoder& d, writer_settings how) {
    how.columns = columns_of_writer(how.columns, how.threads, how.precision);
    if (how.max_length < 0 || how.max_length > d.positions)
      throw std::invalid_argument(
          fmt::format("wsl: max_length is at most the model's {} positions, or 0 for all of them, not {}",
                      d.positions, how.max_length));
    if (how.prompt_block < 1)
      throw std::invalid_argument(
          fmt::format("wsl: prompt_block is 1 or more tokens, not {}", how.prompt_block));
    if (how.max_length == 0) how.max_length = d.positions;
    return how;
  }
  void check(std::span<const i32> prompt) const {
    if (prompt.empty())
      throw std::invalid_argument(
          "wsl: a prompt has at least one token, such as that of the beginning of a text");
    if (prompt.size() > static_cast<std::size_t>(how_.max_length))
      throw std::invalid_argument(
          fmt::format("wsl: a prompt of {} tokens is longer than max_length, {}: take its last tokens, or a "
                      "larger max_length",
                      prompt.size(), how_.max_length));
    for (const i32 id : prompt) check_token("the prompt has", id, config().vocabulary);
  }
  void check(const text_settings& how) const {
    check_sampling(how.choice());
    constexpr int most_samples = 1024;
    if (how.max_tokens < 0)
      throw std::invalid_argument(
          fmt::format("wsl: a text is continued with 0 or more tokens, not {}", how.max_tokens));
    if (how.min_tokens < 0 || how.min_tokens > how.max_tokens)
      throw std::invalid_argument(
          fmt::format("wsl: min_tokens is 0 to max_tokens, {}, not {}", how.max_tokens, how.min_tokens));
    if (how.samples < 1 || how.samples > most_samples)
      throw std::invalid_argument(
          fmt::format("wsl: 1 to {} samples are written, not {}", most_samples, how.samples));
    if (how.known_tokens < 0 || how.known_tokens > config().vocabulary)
      throw std::invalid_argument(fmt::format("wsl: known_tokens is at most the vocabulary of {}, not {}",
                                              config().vocabulary, how.known_tokens));
    for (const i32 id : how.stop_tokens) check_token("stop_tokens has", id, config().vocabulary);
    if (!how.stop_strings.empty() && !how.text_of)
      throw std::invalid_argument(
          "wsl: stop_strings needs text_of, the function that decodes tokens: without it, take stop_tokens");
    for (const std::string& s : how.stop_strings)
      if (s.empty()) throw std::invalid_argument("wsl: a stop string has at least one letter");
  }

  /// Computes the tokens of a prompt, and the logits of those from `first_logits` on. Without `all` only
  /// those of the last block are kept.
  void read_prompt(std::span<const i32> prompt, int first_logits, std::vector<f32>* all = nullptr) {
    const int length = static_cast<int>(prompt.size());
    for (int from = 0; from < length; from += how_.prompt_block) {
      const int n = std::min(how_.prompt_block, length - from);
      const std::span<const i32> ids =
          prompt.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(n));
      block_ = {.ids = {ids.begin(), ids.end()},
                .positions = {},
                .texts = std::vector<i32>(static_cast<std::size_t>(n)),
                .first_logits = std::clamp(first_logits - from, 0, n),
                .is_prompt = true};
      for (int t = 0; t < n; ++t) block_.positions.push_back(from + t);
      logits_ = columns_.pass(block_);
      if (all) all->insert(all->end(), logits_.begin(), logits_.end());
    }
  }
  /// Computes the last token of each text that is not done; false if there are none.
  bool pass_last_tokens(const std::vector<sample>& texts, std::vector<text_copy> copies) {
    block_ = {}, block_.copies = std::move(copies);
    for (std::size_t k = 0; k < texts.size(); ++k)
      if (!texts[k].is_done) {
        block_.ids.push_back(texts[k].text.back());
        block_.positions.push_back(static_cast<i32>(texts[k].text.size()) - 1);
        block_.texts.push_back(static_cast<i32>(k));
      }
    if (block_.rows() == 0) return false;
    logits_ = columns_.pass(block_);
    return true;
  }
  void draw(sample& s, int number, int prompt, std::span<const f32> logits, const text_settings& how,
            const std::function<void(const written_token&)>& on_token) const {
    if (how.known_tokens) logits = logits.first(static_cast<std::size_t>(how.known_tokens));
    const i32 id = static_cast<int>(s.written.tokens.size()) < how.min_tokens && !how.stop_tokens.empty()
                       ? sample_token(without(logits, how.stop_tokens), how.choice(), s.random, s.text)
                       : sample_token(logits, how.choice(), s.random, s.text);
    s.text.push_back(id), s.written.tokens.push_back(id);
    if (on_token) on_token({id, number, static_cast<int>(s.written.tokens.size()) - 1, logits});
    s.is_done = ends(s.written, how, prompt);
  }
  /// Logits with which some tokens are never drawn.
  static std::vector<f32> without(std::span<const f32> logits, std::span<const i32> tokens) {
    std::vector<f32> x(logits.begin(), logits.end());
    for (const i32 id : tokens)
      if (static_cast<std::size_t>(id) < x.size())
        x[static_cast<std::size_t>(id)] = -std::numeric_limits<f32>::infinity();
    return x;
  }
  bool ends(written_text& t, const text_settings& how, int prompt) const {
    const auto end_with = [&](text_end why) { return t.end = why, true; };
    if (std::find(how.stop_tokens.begin(), how.stop_tokens.end(), t.tokens.back()) != how.stop_tokens.end())
      return end_with(text_end::stop_token);
    if (!how.stop_strings.empty()) {
      const std::string text = how.text_of(t.tokens);
      for (const std::string& stop : how.stop_strings)
        if (text.find(stop) != std::string::npos) return t.stop = stop, end_with(text_end::stop_string);
    }
    const int written = static_cast<int>(t.tokens.size());
    if (written == how.max_tokens) return end_with(text_end::max_tokens);
    return prompt + written == how_.max_length && end_with(text_end::context_full);
  }

  writer_settings how_;
  row_of_columns<decoder_part> columns_;
  token_block block_;
  std::span<const f32> logits_;  // of the last block
  bool is_writing_ = false;
};

}  // namespace wsl::ml
