// SPDX-License-Identifier: MIT
// Examples of a language model, (input_ids, mask of the loss, labels) of one
// length, made of documents as the Cerebras Model Zoo's scripts make them: packed, so that documents follow
// each other and are cut where a sequence is full; each by itself, with padding; or prompts and completions,
// of which completions alone count.
//   example_packer p({.length = 2048, .end = 50256});
//   p.add(by.encode(document));
//   p.finish();
//   p.examples();   // (n, 3, 2048)
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

struct packing_settings {
  int length = 0;                     ///< tokens of a sequence
  std::vector<i32> begin = {};        ///< tokens with which every document begins
  std::optional<i32> end = {};        ///< the token behind a document, or a completion
  std::optional<i32> separator = {};  ///< the token between a prompt and its completion
  i32 padding = 0;
  bool packs = true;  ///< documents follow each other; false: each begins a sequence
  int least = 10;     ///< sequences of fewer tokens are left out
};

class example_packer {
 public:
  /// Its knowledge of the documents before the next one.
  struct state {
    std::vector<i32> waiting = {};  ///< tokens that no example has yet
    i64 too_short = 0, too_long = 0;
  };
  state now() const { return {waiting_, too_short_, too_long_}; }
  /// Goes on from there, without examples.
  void resume(state from) {
    waiting_ = std::move(from.waiting), too_short_ = from.too_short, too_long_ = from.too_long;
    examples_.clear();
  }

  /// Throws std::invalid_argument for a length below 1.
  explicit example_packer(packing_settings how) : how_(std::move(how)) {
    if (how_.length < 1)
      throw std::invalid_argument(fmt::format("wsl: a sequence has at least one token, not {}", how_.length));
  }

  /// Adds a document. A sequence ends with the token before that with which the next one begins, so that
  /// every token but the first is a label once.
  void add(std::span<const i32> document) {
    waiting_.insert(waiting_.end(), how_.begin.begin(), how_.begin.end());
    waiting_.insert(waiting_.end(), document.begin(), document.end());
    if (how_.end) waiting_.push_back(*how_.end);
    const auto length = static_cast<std::size_t>(how_.length);
    std::size_t at = 0;
    for (; waiting_.size() - at > length; at += length) take(std::span(waiting_).subspan(at, length + 1), {});
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    if (!how_.packs) finish();
  }
  /// Adds a prompt and its completion; one that has no room is left out.
  void add(std::span<const i32> prompt, std::span<const i32> completion) {
    std::vector<i32> all(how_.begin);
    all.insert(all.end(), prompt.begin(), prompt.end());
    if (how_.separator) all.push_back(*how_.separator);
    const std::size_t first = all.size();  // of the completion
    all.insert(all.end(), completion.begin(), completion.end());
    if (how_.end) all.push_back(*how_.end);
    if (std::ssize(all) > how_.length) return static_cast<void>(++too_long_);
    take(all, first);
  }
  /// The tokens that wait for others become a sequence with padding.
  void finish() {
    // One alone has been a label.
    if (waiting_.size() > 1) take(waiting_, {});
    waiting_.clear();
  }

  /// The examples that are complete, (n, 3, length).
  const std::vector<i32>& examples() const { return examples_; }
  i64 count() const { return std::ssize(examples_) / (3 * i64{how_.length}); }
  /// Takes the first n of them away.
  void drop(i64 n) { examples_.erase(examples_.begin(), examples_.begin() + n * 3 * how_.length); }
  /// Sequences with fewer tokens than `least`, and pairs without room, which have been left out.
  i64 too_short() const { return too_short_; }
  i64 too_long() const { return too_long_; }

 private:
  // Labels from token `first` on count; without it all do.
  void take(std::span<const i32> tokens, std::optional<std::size_t> first) {
    if (std::ssize(tokens) < how_.least || tokens.size() < 2) return static_cast<void>(++too_short_);
    const std::size_t length = static_cast<std::size_t>(how_.length), begin = examples_.size(),
                      inputs = tokens.size() - 1;
    examples_.resize(begin + 3 * length, how_.padding);
    const auto row = [&](std::size_t k) {
      return examples_.begin() + static_cast<std::ptrdiff_t>(begin + k * length);
    };
    std::copy_n(tokens.begin(), inputs, row(0));
    // A pair that does not fill the sequence is an input with all of its tokens, the end as well.
    if (first && inputs < length) *(row(0) + static_cast<std::ptrdiff_t>(inputs)) = tokens.back();
    for (std::size_t t = 0; t < length; ++t)
      row(1)[static_cast<std::ptrdiff_t>(t)] = t < inputs && (!first || t + 1 >= *first);
    std::copy_n(tokens.begin() + 1, inputs, row(2));
  }

  packing_settings how_;
  std::vector<i32> waiting_, examples_;
  i64 too_short_ = 0, too_long_ = 0;
};

}  // namespace wsl::ml
