// SPDX-License-Identifier: MIT
// Prompts and their completions as the sequences of a decoder, such as texts and their summaries:
//   begin, prompt, separator, completion, end
// The model learns the completion and its end alone: the targets of all other tokens are decoder::no_label,
// those of the padding behind the end as well. A prompt that is too long loses its last tokens, so that the
// completion has room.
//   completions pairs({.length = 1024, .separator = by.encode(" TL;DR: "), .end = 50256});
//   pairs.add(by.encode(text), by.encode(summary));
//   batches train(pairs.data(), {.size = 8});
//   pairs.prompt(0)   // begin, prompt and separator, which a writer continues
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../documents.hpp"

namespace wsl::ml {

struct completion_settings {
  int length = 0;                   ///< tokens of a sequence, of which each but the end has a target
  std::vector<i32> begin = {};      ///< the tokens with which every text begins, if there are any
  std::vector<i32> separator = {};  ///< between a prompt and its completion
  i32 end = 0;                      ///< the token behind a completion, and of the padding
};

class completions {
 public:
  /// Throws std::invalid_argument if a sequence has no room for a completion.
  explicit completions(completion_settings how) : how_(std::move(how)) {
    if (how_.length < fixed() + 1)
      throw std::invalid_argument(fmt::format(
          "wsl: a sequence of {} tokens has no room for a completion: the tokens at its beginning "
          "and the separator are {}",
          how_.length, fixed()));
  }

  /// Adds a pair. Returns whether it has room: a completion that is too long even without its prompt is left
  /// out.
  bool add(std::vector<i32> prompt, const std::vector<i32>& completion) {
    // The last token, the end, is a target only.
    const i64 room = how_.length - fixed() - std::ssize(completion);
    if (room < 0) return ++left_out_, false;
    if (std::ssize(prompt) > room) ++cut_, prompt.resize(static_cast<std::size_t>(room));
    pair x;
    const auto append = [&](const std::vector<i32>& part) {
      x.tokens.insert(x.tokens.end(), part.begin(), part.end());
    };
    append(how_.begin), append(prompt), append(how_.separator);
    x.completion = x.tokens.size();
    append(completion);
    x.tokens.push_back(how_.end);
    largest_ = std::max(largest_, *std::max_element(x.tokens.begin(), x.tokens.end()));
    all_->push_back(std::move(x));
    return true;
  }

  i64 count() const { return std::ssize(*all_); }
  /// Pairs whose prompt was too long, and pairs that have been left out.
  i64 cut() const { return cut_; }
  i64 left_out() const { return left_out_; }
  /// The largest token.
  i32 largest() const { return largest_; }
  /// The tokens of a pair before its completion, and those of the completion without the end.
  std::span<const i32> prompt(i64 which) const {
    const pair& x = (*all_)[static_cast<std::size_t>(which)];
    return std::span(x.tokens).first(x.completion);
  }
  std::span<const i32> completion(i64 which) const {
    const pair& x = (*all_)[static_cast<std::size_t>(which)];
    return std::span(x.tokens).subspan(x.completion, x.tokens.size() - x.completion - 1);
  }
  /// The tokens that the model learns, with the ends.
  i64 targets() const {
    i64 n = 0;
    for (const pair& x : *all_) n += static_cast<i64>(x.tokens.size() - x.completion);
    return n;
  }
  /// "100 pairs, 1234 tokens of completions; the prompts of 3 were too long and are cut"
  std::string about() const {
    std::string text = fmt::format("{} pairs, {} tokens of completions", count(), targets());
    if (cut_) text += fmt::format("; the prompts of {} are too long and are cut", cut_);
    if (left_out_) text += fmt::format("; {} are left out, whose completions have no room", left_out_);
    return text;
  }

  /// A pair in each sequence, and padding; the pairs as documents, several of which may share a sequence
  /// (packed_documents.hpp).
  dataset data() const { return padded_documents(documents(), how_.length, how_.end); }
  ml::documents documents() const {
    return {.count = count(),
            .length =
                [all = all_](i64 which) {
                  return static_cast<int>((*all)[static_cast<std::size_t>(which)].tokens.size()) - 1;
                },
            .get =
                [all = all_](i64 which, std::span<i32> ids, std::span<i32> targets) {
                  const pair& x = (*all)[static_cast<std::size_t>(which)];
                  std::fill(targets.begin(), targets.end(), decoder::no_label);
                  std::copy_n(x.tokens.begin(), ids.size(), ids.begin());
                  for (std::size_t t = std::max<std::size_t>(x.completion, 1) - 1; t < ids.size(); ++t)
                    targets[t] = x.tokens[t + 1];
                }};
  }

 private:
  struct pair {
    std::vector<i32> tokens;
    std::size_t completion = 0;  // the place of its first token
  };
  int fixed() const { return static_cast<int>(how_.begin.size() + how_.separator.size()); }

  completion_settings how_;
  std::shared_ptr<std::vector<pair>> all_ = std::make_shared<std::vector<pair>>();
  i64 cut_ = 0, left_out_ = 0;
  i32 largest_ = 0;
};

}  // namespace wsl::ml
