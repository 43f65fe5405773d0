// SPDX-License-Identifier: MIT
// A writer of an encoder-decoder translates, sums up or answers texts. Its fabric is that of writer.hpp, a
// row of PEs with a part of every layer's weights each. The encoder reads a text once, as one block, and the
// columns keep the keys and values that the decoder has of it. Then each pass computes one token of every
// open hypothesis of all texts. Where a beam search goes on with a hypothesis twice, its own keys and values
// are copied.
//   ml::encoder_decoder_writer w{config, weights, {.columns = 2}};
//   std::vector<ml::hypothesis> best =
//       w.write(ids, {.beams = 4, .length_penalty = 0.6, .begin = {0}, .end = {1}});
// See docs/guide/writing.md and examples/100_translating.cpp.
#pragma once
#include <fmt/format.h>

#include "encoder_decoder_part.hpp"
#include "row_of_columns.hpp"
#include "text_search.hpp"

namespace wsl::ml {

/// A text for an encoder, which it refers to.
struct source_text {
  std::span<const i32> ids;
  std::span<const i32> seen = {};  ///< `attention_mask`: 0 hides a token; empty: all are seen

  source_text(std::span<const i32> ids_, std::span<const i32> seen_ = {}) : ids(ids_), seen(seen_) {}
  source_text(const std::vector<i32>& ids_, std::span<const i32> seen_ = {}) : ids(ids_), seen(seen_) {}
  // A temporary list would be gone before the text is read.
  source_text(std::vector<i32>&&, std::span<const i32> = {}) = delete;
  source_text(std::span<const i32>, std::vector<i32>&&) = delete;
  source_text(const std::vector<i32>&, std::vector<i32>&&) = delete;
};

class encoder_decoder_writer {
 public:
  /// A model with weights wherever they lie. Throws std::invalid_argument for settings out of range, and for
  /// weights that are not of this model.
  encoder_decoder_writer(const encoder_decoder& config, stored_weights w,
                         const encoder_decoder_writer_settings& how = {})
      : columns_(encoder_decoder_plan(
                     config, {weights_of(shape_of(config), std::move(w)), how.precision, how.in_place,
                              columns_of_writer(how.columns, how.threads, how.precision)}),
                 how.threads) {}
  /// The weights of the network that `config` builds.
  encoder_decoder_writer(const encoder_decoder& config, weights w,
                         const encoder_decoder_writer_settings& how = {})
      : encoder_decoder_writer(config, stored_weights(shape_of(config), std::move(w)), how) {}

  const encoder_decoder& config() const { return columns_.of().config; }
  int columns() const { return columns_.columns(); }
  fabric& wafer() { return columns_.wafer(); }
  /// The bytes of weights that a token of the decoder reads.
  i64 bytes_of_weights() { return columns_.bytes_of_weights(); }

  /// Called before the tokens of a step are chosen; it must not use the same writer.
  using observer = std::function<void(const search_step&)>;

  /// Throws std::invalid_argument for settings out of range; for a text that is empty, has a token that is
  /// not in the vocabulary, or has none that is seen; and for one with more tokens than the model has
  /// positions.
  void check(const source_text& text, const search_settings& how) const { check(text), check(how); }

  /// The hypotheses for a text, as many as there are beams, or as samples: of a beam search the best first.
  /// Throws what `check` does, and not_finite for a model whose logits are NaN or infinite.
  std::vector<hypothesis> write(const source_text& text, const search_settings& how,
                                const observer& on_step = {}) {
    return std::move(write_all({&text, 1}, how, on_step)[0]);
  }
  /// The hypotheses for each of several texts, which the encoder reads one after the other and for which the
  /// decoder writes side by side. They are those of `write`.
  std::vector<std::vector<hypothesis>> write_all(std::span<const source_text> texts,
                                                 const search_settings& how, const observer& on_step = {}) {
    check(how);
    for (const source_text& x : texts) check(x);
    const writer_in_use now(is_writing_, "on_step");
    const int begin = static_cast<int>(how.begin.size()),
              room = std::min(how.max_tokens, positions() - begin);
    std::vector<text_search> all(texts.size(), text_search(how, positions() - begin));
    const int places = text_search::places(how);
    columns_.resize(static_cast<int>(texts.size()) * places, begin + room);
    for (std::size_t s = 0; s < texts.size(); ++s) read(texts[s], static_cast<i32>(s));
    // Tokens that all texts begin with, one after the other: the last gives logits, in the loop below.
    for (int t = 0; t + 1 < begin; ++t) {
      token_block b;
      for (std::size_t s = 0; s < texts.size(); ++s)
        add(b, how.begin[static_cast<std::size_t>(t)], t, static_cast<i32>(s), static_cast<i32>(s) * places);
      b.first_logits = b.rows();
      columns_.pass(b);
    }
    while (pass_open(all, places, on_step)) {}
    std::vector<std::vector<hypothesis>> found;
    for (const text_search& x : all) found.push_back(x.best());
    return found;
  }
  /// The logits behind each token of a text of the decoder, (tokens, vocabulary). Throws
  /// std::invalid_argument as write does.
  std::vector<f32> logits(const source_text& text, std::span<const i32> of_decoder) {
    check(text), check(source_text(of_decoder));
    const writer_in_use now(is_writing_, "on_step");
    const int n = static_cast<int>(of_decoder.size());
    columns_.resize(1, n);
    read(text, 0);
    token_block b;
    for (int t = 0; t < n; ++t) add(b, of_decoder[static_cast<std::size_t>(t)], t, 0, 0);
    b.is_prompt = true;
    const std::span<const f32> all = columns_.pass(b);
    return {all.begin(), all.end()};
  }

 private:
  /// The network whose parameters the model has. Tables of positions that are computed are not made.
  static network shape_of(encoder_decoder m) {
    if (m.position != position_encoding::learned) m.positions = 1;
    return m.build();
  }
  /// The longest text of a side.
  int positions() const {
    constexpr int any = 1 << 24;
    return config().position == position_encoding::relative ? any : config().positions;
  }
  void check(const source_text& text) const {
    if (text.ids.empty())
      throw std::invalid_argument("wsl: a text for an encoder or a decoder has at least one token");
    if (text.ids.size() > static_cast<std::size_t>(positions()))
      throw std::invalid_argument(
          fmt::format("wsl: a text of {} tokens is longer than the {} positions of the model",
                      text.ids.size(), positions()));
    for (const i32 id : text.ids) check_token("the text has", id, config().vocabulary);
    if (text.seen.empty()) return;
    if (text.seen.size() != text.ids.size())
      throw std::invalid_argument(fmt::format(
          "wsl: `seen` has {} numbers for a text of {} tokens: it says of each whether it is seen",
          text.seen.size(), text.ids.size()));
    if (std::all_of(text.seen.begin(), text.seen.end(), [](i32 x) { return x == 0; }))
      throw std::invalid_argument("wsl: `seen` hides all tokens of a text: at least one is seen");
  }
  void check(const search_settings& how) const {
    check_search(how, config().vocabulary);
    if (how.begin.size() >= static_cast<std::size_t>(positions()))
      throw std::invalid_argument(fmt::format(
          "wsl: a search begins with {} tokens, which leaves none of the {} positions of the model",
          how.begin.size(), positions()));
  }

  static void add(token_block& b, i32 id, int position, i32 source, i32 text) {
    b.ids.push_back(id), b.positions.push_back(position);
    b.sources.push_back(source), b.texts.push_back(text);
  }
  /// The encoder reads a text.
  void read(const source_text& text, i32 number) {
    token_block b;
    for (std::size_t t = 0; t < text.ids.size(); ++t) add(b, text.ids[t], static_cast<int>(t), number, 0);
    b.seen.assign(text.seen.begin(), text.seen.end());
    b.first_logits = b.rows(), b.is_prompt = true, b.of_encoder = true;
    columns_.pass(b);
  }
  /// Computes the last token of each open hypothesis, and lets the searches go on; false if all are done.
  bool pass_open(std::vector<text_search>& all, int places, const observer& on_step) {
    token_block b;
    for (std::size_t s = 0; s < all.size(); ++s) {
      const i32 source = static_cast<i32>(s), first = source * places;
      for (const open_hypothesis& x : all[s].open())
        add(b, x.tokens.back(), static_cast<int>(x.tokens.size()) - 1, source, first + x.place);
      if (!all[s].is_done())
        for (const text_copy& c : all[s].copies())
          b.copies.push_back({first + c.from, first + c.to, c.tokens});
    }
    if (b.rows() == 0) return false;
    std::span<const f32> left = columns_.pass(b);
    for (std::size_t s = 0; s < all.size(); ++s) {
      const std::size_t numbers = all[s].open().size() * static_cast<std::size_t>(config().vocabulary);
      if (numbers == 0) continue;
      if (on_step) on_step({static_cast<int>(s), all[s].open(), left.first(numbers)});
      all[s].take(left.first(numbers));
      left = left.subspan(numbers);
    }
    return true;
  }

  row_of_columns<encoder_decoder_part> columns_;
  bool is_writing_ = false;
};

}  // namespace wsl::ml
