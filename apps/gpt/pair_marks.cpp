// SPDX-License-Identifier: MIT
#include "pair_marks.hpp"

#include <fmt/format.h>

namespace gpt_app {

namespace ml = wsl::ml;

namespace {
constexpr const char *separator_fact = "pairs.separator", *end_fact = "pairs.end";
}

ml::text_by_name pair_marks::facts() const {
  return {{separator_fact, separator}, {end_fact, std::to_string(end)}};
}

std::optional<pair_marks> pair_marks::of(const std::string& checkpoint) {
  const ml::checkpoint c(checkpoint);
  if (!c.facts().contains(separator_fact)) return {};
  return pair_marks{.separator = c.fact(separator_fact), .end = c.whole_number<wsl::i32>(end_fact)};
}

std::optional<pair_marks> pair_marks::from(const ml::text_by_name& facts) {
  if (!facts.contains(separator_fact)) return {};
  return pair_marks{.separator = facts.at(separator_fact), .end = std::stoi(facts.at(end_fact))};
}

void require_same_separator(const std::string& checkpoint, const std::string& ours) {
  const std::optional<pair_marks> theirs = pair_marks::of(checkpoint);
  if (theirs && theirs->separator != ours)
    throw std::invalid_argument(fmt::format(
        "{} was trained with the separator '{}' between prompts and completions, and these params "
        "have '{}': go on with that of the run, or leave --separator out",
        checkpoint, theirs->separator, ours));
}

void require_same_marks(const std::string& checkpoint, const pair_marks& ours, const vocabulary& words) {
  require_same_separator(checkpoint, ours.separator);
  const std::optional<pair_marks> theirs = pair_marks::of(checkpoint);
  if (!theirs || theirs->end == ours.end) return;
  const auto word = [&](wsl::i32 id) { return fmt::format("{} ('{}')", id, words.decode({&id, 1})); };
  throw std::invalid_argument(
      fmt::format("{} was trained with the token {} behind completions, and these params have {}: go on with "
                  "that of the run, or leave --end_token out",
                  checkpoint, word(theirs->end), word(ours.end)));
}

}  // namespace gpt_app
