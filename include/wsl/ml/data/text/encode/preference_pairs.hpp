// SPDX-License-Identifier: MIT
// Pairs of answers to a prompt, of which one is preferred, as the sequences of a decoder
// (model/preference.hpp):
//   begin, prompt, chosen, end        begin, prompt, rejected, end
// An example is a pair: the chosen sequence, then the rejected one, so that no order of the examples parts
// them. The labels of the answers and their ends alone count; those of all other tokens are
// decoder::no_label.
//   preference_pairs pairs({.length = 512, .end = 50256});
//   pairs.add(by.encode(prompt), by.encode(chosen), by.encode(rejected));
//   batches train(pairs.data(), {.size = 8});
//   const preference_batch b(train.next(), reference);      // 16 sequences
//   t.step(b.view(), rate);
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../../model/decoder.hpp"
#include "../../batches.hpp"

namespace wsl::ml {

struct preference_pair_settings {
  int length = 0;               ///< tokens of a sequence
  std::vector<i32> begin = {};  ///< the tokens with which every text begins, if there are any
  i32 end = 0;                  ///< the token of the padding
};

class preference_pairs {
 public:
  /// Throws std::invalid_argument if a sequence has no room for a token of the prompt and one of an answer.
  explicit preference_pairs(preference_pair_settings how) : how_(std::move(how)) {
    if (how_.length < static_cast<int>(how_.begin.size()) + 1)
      throw std::invalid_argument(
          fmt::format("wsl: a sequence of {} tokens has no room for a prompt and an answer: the tokens at "
                      "its beginning are "
                      "{}",
                      how_.length, how_.begin.size()));
  }

  /// Adds a pair; the answers have the tokens that end them. Texts that are too long are cut: a prompt loses
  /// its first tokens, as long as it has several, then an answer its last. Throws std::invalid_argument for
  /// texts without tokens: an answer, or a prompt where texts have no beginning.
  void add(std::vector<i32> prompt, std::vector<i32> chosen, std::vector<i32> rejected) {
    if (chosen.empty() || rejected.empty() || (prompt.empty() && how_.begin.empty()))
      throw std::invalid_argument(fmt::format("wsl: the {} of a pair has no token: leave the pair out",
                                              chosen.empty()     ? "chosen answer"
                                              : rejected.empty() ? "rejected answer"
                                                                 : "prompt"));
    // The last token of a sequence is a label only.
    const i64 room = how_.length + 1 - std::ssize(how_.begin),
              answer = std::max(std::ssize(chosen), std::ssize(rejected)),
              least = how_.begin.empty() ? 1 : std::min<i64>(1, std::ssize(prompt)),
              kept = std::min(std::ssize(prompt), std::max(least, room - answer));
    if (kept < std::ssize(prompt)) {
      ++cut_prompts_;
      prompt.erase(prompt.begin(), prompt.end() - kept);
    }
    for (std::vector<i32>* x : {&chosen, &rejected})
      if (std::ssize(*x) > room - kept) ++cut_answers_, x->resize(static_cast<std::size_t>(room - kept));
    pair p;
    for (std::vector<i32>& x : p.sequences) {
      x = how_.begin;
      x.insert(x.end(), prompt.begin(), prompt.end());
    }
    p.prompt = p.sequences[0].size();
    for (const auto& [answers, to] : {std::pair(&chosen, &p.sequences[0]), {&rejected, &p.sequences[1]}}) {
      to->insert(to->end(), answers->begin(), answers->end());
      largest_ = std::max(largest_, *std::max_element(to->begin(), to->end()));
      targets_ += std::ssize(*answers);
    }
    all_->push_back(std::move(p));
  }

  i64 count() const { return std::ssize(*all_); }
  /// Prompts, and answers, that were too long.
  i64 cut_prompts() const { return cut_prompts_; }
  i64 cut_answers() const { return cut_answers_; }
  /// The tokens of all answers, with their ends.
  i64 targets() const { return targets_; }
  /// The largest token.
  i32 largest() const { return largest_; }
  /// "100 pairs, 1234 tokens of answers; 3 prompts and 0 answers are too long and are cut"
  std::string about() const {
    std::string text = fmt::format("{} pairs, {} tokens of answers", count(), targets());
    if (cut_prompts_ || cut_answers_)
      text += fmt::format("; {} prompts and {} answers are too long and are cut", cut_prompts_, cut_answers_);
    return text;
  }

  /// For a preference_model: "ids" and "labels" of both sequences, and "pair", the number of the pair.
  dataset data() const {
    return data_with("labels", [](const pair& p, const std::vector<i32>& tokens, std::span<i32> ids,
                                  std::span<i32> labels) {
      const std::size_t inputs = tokens.size() - 1;
      std::copy_n(tokens.begin(), inputs, ids.begin());
      std::fill(labels.begin(), labels.end(), decoder::no_label);
      for (std::size_t t = p.prompt - 1; t < inputs; ++t) labels[t] = tokens[t + 1];
    });
  }
  /// For a reward_model: "ids" and "attention_mask" of both, and "pair". A sequence without padding lacks its
  /// last token, the end.
  dataset scored_data() const {
    return data_with("attention_mask", [](const pair&, const std::vector<i32>& tokens, std::span<i32> ids,
                                          std::span<i32> seen) {
      const std::size_t inputs = std::min(tokens.size(), ids.size());
      std::copy_n(tokens.begin(), inputs, ids.begin());
      for (std::size_t t = 0; t < seen.size(); ++t) seen[t] = t < inputs;
    });
  }

 private:
  struct pair {
    std::size_t prompt = 0;  // its tokens, with those at the beginning
    std::vector<i32> sequences[2] = {};
  };
  /// `fill(pair, tokens, ids, marks)` sets what a sequence has of both.
  template <class Fill>
  dataset data_with(const char* marks, Fill fill) const {
    return {.count = count(),
            .length = how_.length,
            .get =
                [all = all_, end = how_.end, fill](i64 which, const example& to) {
                  const pair& p = (*all)[static_cast<std::size_t>(which)];
                  const std::size_t length = to.named[0].size() / 2;
                  std::fill(to.named[0].begin(), to.named[0].end(), end);
                  for (std::size_t k = 0; k < 2; ++k)
                    fill(p, p.sequences[k], to.named[0].subspan(k * length, length),
                         to.named[1].subspan(k * length, length));
                  to.named[2][0] = static_cast<i32>(which);
                },
            .named = {{"ids", 2 * how_.length}, {marks, 2 * how_.length}, {"pair", 1}}};
  }

  preference_pair_settings how_;
  std::shared_ptr<std::vector<pair>> all_ = std::make_shared<std::vector<pair>>();
  i64 cut_prompts_ = 0, cut_answers_ = 0, targets_ = 0;
  i32 largest_ = 0;
};

/// A batch of pairs as one of sequences, with the log-probabilities of the reference. It owns its numbers.
class preference_batch {
 public:
  /// `reference` has two numbers for each pair of the data, by the numbers of pairs; empty: the batch has
  /// none. Throws std::invalid_argument if it lacks a pair.
  explicit preference_batch(loaded_batch of, std::span<const f32> reference = {}) : of_(std::move(of)) {
    for (const i32 pair : pairs()) {
      if (reference.empty()) break;
      const std::size_t at = 2 * static_cast<std::size_t>(pair);
      if (at + 1 >= reference.size())
        throw std::invalid_argument(fmt::format(
            "wsl: the reference has log-probabilities of {} pairs, and there is a pair {}: compute "
            "those of all",
            reference.size() / 2, pair));
      reference_.insert(reference_.end(), {reference[at], reference[at + 1]});
    }
  }

  /// The numbers of its pairs in the data.
  std::span<const i32> pairs() const { return of_.by_name.back().numbers; }
  std::span<const f32> reference() const { return reference_; }
  batch view() const {
    batch b = of_.view();
    b.named.pop_back();  // the numbers of the pairs, which no model takes
    b.sequences *= 2;
    if (!reference_.empty()) b.named.emplace_back(reference_log_probs, std::span(reference_));
    return b;
  }

 private:
  loaded_batch of_;
  std::vector<f32> reference_;
};

/// The log-probabilities of all pairs of the data by a reference, in batches of some pairs, as
/// preference_batch takes them. `predict` gives a number for each sequence of a batch; `done` is called with
/// the number of pairs behind each batch.
template <class Predict, class Done>
std::vector<f32> reference_of_all(const dataset& data, int pairs, Predict predict, Done done) {
  std::vector<f32> all(2 * static_cast<std::size_t>(data.count));
  const auto size = static_cast<int>(std::min<i64>(pairs, data.count));
  batches in(data, {.size = size, .shuffle = false, .drop_last = false});
  for (i64 k = 0; k < in.per_epoch(); ++k) {
    const preference_batch b(in.next());
    const std::vector<f32> found = predict(b.view());
    for (std::size_t i = 0; i < b.pairs().size(); ++i)
      std::copy_n(found.begin() + static_cast<std::ptrdiff_t>(2 * i), 2,
                  all.begin() + 2 * std::ptrdiff_t{b.pairs()[i]});
    done(std::ssize(b.pairs()));
  }
  return all;
}

}  // namespace wsl::ml
