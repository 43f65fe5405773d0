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

#include "column.hpp"
#include "settings.hpp"

namespace wsl::ml {

class writer {
 public:
  /// A model with weights wherever they lie. Throws std::invalid_argument for settings out of range, and for
  /// weights that are not of this model.
  writer(const decoder& config, stored_weights w, const writer_settings& how = {})
      : how_(checked(config, how)),
        plan_(std::make_unique<decoder_plan>(config, of_model(config, std::move(w)), how_.precision,
                                             how_.in_place, how_.columns, how_.max_length)),
        fabric_(
            layout{host, how_.columns, 1}.place<writer_column>(all).wire(sum_of_columns, logits_of_columns),
            threaded{.threads = how_.threads, .pes_per_partition = 1, .cut_lines = true}) {
    fabric_.launch<&writer_column::load>(all, plan_.get());
  }
  /// The weights of the network that `config` builds.
  writer(const decoder& config, weights w, const writer_settings& how = {})
      : writer(config, stored_weights(shape_of(config), std::move(w)), how) {}

  const decoder& config() const { return plan_->config; }
  int columns() const { return how_.columns; }
  int max_length() const { return how_.max_length; }
  fabric& wafer() { return fabric_; }
  /// The bytes of weights that a token reads.
  i64 bytes_of_weights() {
    i64 n = 0;
    for (int x = 0; x < how_.columns; ++x) n += fabric_.program_at<writer_column>({x, 0}).bytes();
    return n;
  }

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
    const in_use now(is_writing_);
    const int length = static_cast<int>(prompt.size()), room = how_.max_length - length;
    begin(how.samples, length + std::min(how.max_tokens, room));
    std::vector<sample> all;
    for (int k = 0; k < how.samples; ++k) {
      all.push_back({std::mt19937_64(seed_of(how.seed, static_cast<std::size_t>(k))), {}, {}});
      all.back().text.assign(prompt.begin(), prompt.end());
      if (room == 0) all.back().is_done = true, all.back().written.end = text_end::context_full;
    }
    if (room > 0 && how.max_tokens > 0) {
      read_prompt(prompt, length - 1);
      if (how.samples > 1) fabric_.launch<&writer_column::copy_first_text>(all_columns, length);
      const std::vector<f32> logits = logits_;
      for (int k = 0; k < how.samples; ++k)
        draw(all[static_cast<std::size_t>(k)], k, length, logits, how, on_token);
      while (pass_last_tokens(all)) {
        std::size_t row = 0;
        const std::size_t v = static_cast<std::size_t>(config().vocabulary);
        for (int k : block_.texts)
          draw(all[static_cast<std::size_t>(k)], k, length, std::span(logits_).subspan(row++ * v, v), how,
               on_token);
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
    const in_use now(is_writing_);
    begin(1, static_cast<int>(text.size()));
    std::vector<f32> all;
    read_prompt(text, 0, &all);
    return all;
  }

 private:
  static constexpr area all_columns = wsl::all;

  /// Refuses a second use of the fabric while a text is being written.
  class in_use {
   public:
    explicit in_use(bool& is_used) : is_used_(is_used) {
      if (is_used)
        throw std::invalid_argument(
            "wsl: this writer is writing a text: on_token must not call write or logits of the same writer; "
            "take the logits of the token that it is given, or another writer");
      is_used = true;
    }
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;
    ~in_use() { is_used_ = false; }

   private:
    bool& is_used_;
  };

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
  static stored_weights of_model(const decoder& config, stored_weights w) {
    const network n = shape_of(config);
    const auto& all = n.parameters();
    for (std::size_t k = 0; k < std::max(all.size(), w.size()); ++k)
      if (k >= all.size() || k >= w.size() || all[k].name != w[k].name || all[k].rows != w[k].rows ||
          all[k].columns != w[k].columns)
        throw std::invalid_argument(
            fmt::format("wsl: these weights are of another model: parameter {} is '{}' there, and '{}' here",
                        k, k < w.size() ? w[k].name : "missing", k < all.size() ? all[k].name : "missing"));
    return w;
  }
  static writer_settings checked(const decoder& d, writer_settings how) {
    constexpr int most_columns = 64;
    if (how.precision != precision::f32 && how.precision != precision::bfloat16)
      throw std::invalid_argument(fmt::format(
          "wsl: a writer keeps weights as f32 or bfloat16, not as {}: f32 holds all of them exactly",
          name_of(how.precision)));
    if (how.columns < 0 || how.columns > most_columns)
      throw std::invalid_argument(
          fmt::format("wsl: a writer has 1 to {} columns, or 0 for as many as threads, not {}", most_columns,
                      how.columns));
    if (how.max_length < 0 || how.max_length > d.positions)
      throw std::invalid_argument(
          fmt::format("wsl: max_length is at most the model's {} positions, or 0 for all of them, not {}",
                      d.positions, how.max_length));
    if (how.prompt_block < 1)
      throw std::invalid_argument(
          fmt::format("wsl: prompt_block is 1 or more tokens, not {}", how.prompt_block));
    if (how.max_length == 0) how.max_length = d.positions;
    if (how.columns == 0)
      how.columns = std::clamp(how.threads > 0 ? how.threads : default_threads(), 1, most_columns);
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
    for (const i32 id : prompt) check_token("the prompt has", id);
  }
  void check_token(const char* who, i32 id) const {
    if (id < 0 || id >= config().vocabulary)
      throw std::invalid_argument(
          fmt::format("wsl: {} token {} of a vocabulary of {}", who, id, config().vocabulary));
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
    for (const i32 id : how.stop_tokens) check_token("stop_tokens has", id);
    if (!how.stop_strings.empty() && !how.text_of)
      throw std::invalid_argument(
          "wsl: stop_strings needs text_of, the function that decodes tokens: without it, take stop_tokens");
    for (const std::string& s : how.stop_strings)
      if (s.empty()) throw std::invalid_argument("wsl: a stop string has at least one letter");
  }

  void begin(int texts, int capacity) {
    fabric_.launch<&writer_column::resize>(all_columns, texts, capacity);
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
      pass();
      if (all) all->insert(all->end(), logits_.begin(), logits_.end());
    }
  }
  /// Computes the last token of each text that is not done; false if there are none.
  bool pass_last_tokens(const std::vector<sample>& texts) {
    block_ = {};
    for (std::size_t k = 0; k < texts.size(); ++k)
      if (!texts[k].is_done) {
        block_.ids.push_back(texts[k].text.back());
        block_.positions.push_back(static_cast<i32>(texts[k].text.size()) - 1);
        block_.texts.push_back(static_cast<i32>(k));
      }
    if (block_.rows() == 0) return false;
    pass();
    return true;
  }
  /// Computes the block, and puts the logits of the columns side by side: (rows, vocabulary).
  void pass() {
    fabric_.launch<&writer_column::pass>(all_columns, static_cast<const token_block*>(&block_));
    const int rows = block_.rows_of_logits(), most = plan_->largest_share_of_vocabulary();
    const f32* from = fabric_.program_at<writer_column>({0, 0}).logits.data();
    logits_.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(config().vocabulary));
    for (int c = 0; c < how_.columns && rows; ++c) {
      const feature_run own = plan_->share(config().vocabulary, c);
      for (int t = 0; t < rows; ++t, from += most)
        std::copy_n(from, own.count, logits_.data() + i64{t} * config().vocabulary + own.first);
    }
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
  std::unique_ptr<decoder_plan> plan_;
  fabric fabric_;
  token_block block_;
  std::vector<f32> logits_;  // of the last block
  bool is_writing_ = false;
};

}  // namespace wsl::ml
