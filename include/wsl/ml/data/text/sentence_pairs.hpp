// SPDX-License-Identifier: MIT
// Pairs of texts for the task of next sentences (BERT, google-research/bert, create_pretraining_data.py): the
// sentences of a document are taken as many as a sequence has room for, and cut in two at random. In half of
// the pairs the second text is replaced by sentences of another document. Where the cut is, and what replaces
// the second text, is drawn anew in each epoch; sentences that are replaced are not used elsewhere in it, so
// that the number of examples does not depend on what is drawn. The files have one sentence a line and empty
// lines between documents; of each line, up to twenty bytes are held in memory.
#pragma once
#include <algorithm>

#include "draws.hpp"
#include "packed_text.hpp"

namespace wsl::ml {

struct sentence_pair {
  std::vector<text_piece> first, second;
  bool is_random = false;  ///< the second text is of another document
};

class sentence_pairs {
 public:
  /// `room` is the number of tokens of both texts. Throws file_error if there are less than two documents.
  sentence_pairs(const std::vector<std::string>& files, line_encoder encode, int room)
      : lines_(files, std::move(encode)), room_(room) {
    if (room < 2)
      throw std::invalid_argument(fmt::format(
          "wsl: a pair of texts has room for {} tokens: take a larger max_sequence_length", room));
    bool begins = true;
    for (i64 i = 0; i < lines_.count(); ++i) {
      const std::string_view line = lines_.line(i);
      begins = begins || line.empty() || lines_.begins_file(i);
      if (line.empty()) continue;
      const auto tokens = static_cast<i32>(lines_.tokens(i).size());
      if (tokens == 0) continue;
      if (std::exchange(begins, false)) documents_.push_back(std::ssize(line_));
      line_.push_back(i), tokens_.push_back(tokens);
    }
    if (documents_.size() < 2)
      throw file_error(
          fmt::format("wsl: {}: next sentences need two documents or more, with an empty line "
                      "between them, but there are {}: divide the text, or set disable_nsp",
                      files.empty() ? "no file" : files.front(), documents_.size()));
    for (std::size_t d = 0; d < documents_.size(); ++d) take_parts(d);
  }

  i64 count() const { return std::ssize(parts_); }
  i64 documents() const { return std::ssize(documents_); }

  sentence_pair get(i64 which, draws& random) const {
    const part& p = parts_[static_cast<std::size_t>(which)];
    const i64 sentences = p.end - p.begin;
    const i64 cut = p.begin + (sentences > 1 ? 1 + random.below(sentences - 1) : 1);
    sentence_pair x;
    add(x.first, p.begin, cut);
    x.is_random = sentences == 1 || random.uniform() < 0.5;
    if (!x.is_random) {
      add(x.second, cut, p.end);
    } else {
      const std::size_t other = another(p.document, random);
      const i64 end = end_of(other);
      const i64 begin = documents_[other] + random.below(end - documents_[other]);
      i64 last = begin;
      for (i64 tokens = std::ssize(x.first); last < end && tokens < room_; ++last)
        tokens += tokens_[static_cast<std::size_t>(last)];
      add(x.second, begin, std::max(last, begin + 1));
    }
    shorten(x, random);
    return x;
  }

 private:
  struct part {
    std::size_t document;
    i64 begin, end;  // sentences
  };
  i64 end_of(std::size_t document) const {
    return document + 1 < documents_.size() ? documents_[document + 1] : std::ssize(line_);
  }
  void take_parts(std::size_t document) {
    i64 begin = documents_[document], tokens = 0;
    for (i64 s = begin; s < end_of(document); ++s) {
      tokens += tokens_[static_cast<std::size_t>(s)];
      if (tokens < room_ && s + 1 < end_of(document)) continue;
      parts_.push_back({document, begin, s + 1});
      begin = s + 1, tokens = 0;
    }
  }
  std::size_t another(std::size_t document, draws& random) const {
    const auto other = static_cast<std::size_t>(random.below(documents() - 1));
    return other + (other >= document);
  }
  void add(std::vector<text_piece>& to, i64 begin, i64 end) const {
    for (i64 s = begin; s < end; ++s) {
      const i32 words = to.empty() ? 0 : to.back().word + 1;
      for (text_piece p : lines_.tokens(line_[static_cast<std::size_t>(s)])) {
        p.word += words;
        to.push_back(p);
      }
    }
  }
  /// Takes tokens from the longer text, at random from its beginning or its end.
  void shorten(sentence_pair& x, draws& random) const {
    while (std::ssize(x.first) + std::ssize(x.second) > room_) {
      std::vector<text_piece>& longer = x.first.size() > x.second.size() ? x.first : x.second;
      if (random.uniform() < 0.5) longer.erase(longer.begin());
      else longer.pop_back();
    }
  }
  encoded_lines lines_;
  int room_;
  std::vector<i64> line_, documents_;  // of each sentence; the first sentence of each document
  std::vector<i32> tokens_;            // of each sentence
  std::vector<part> parts_;
};

}  // namespace wsl::ml
