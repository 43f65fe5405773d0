// SPDX-License-Identifier: MIT
// A paragraph that is longer than a sequence is asked about in windows, which overlap (google-research/bert,
// run_squad.py): each window is a sequence [CLS] question [SEP] part of the paragraph [SEP].
//   pieces of the paragraph   0 1 2 3 4 5 6 7 8 9
//   windows of 6, stride 2    0 1 2 3 4 5
//                                 2 3 4 5 6 7
//                                     4 5 6 7 8 9
// A piece that lies in several windows is judged in the one where it has most text around it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "piece.hpp"

namespace wsl::ml {

/// Some pieces of a paragraph.
struct answer_window {
  int first = 0, count = 0;
  int end() const { return first + count; }
};

/// The windows of a paragraph of so many pieces. Throws std::invalid_argument if a window has no room.
inline std::vector<answer_window> windows_of(int pieces, int room, int stride) {
  if (room < 1 || stride < 1)
    throw std::invalid_argument(
        fmt::format("wsl: a window of a paragraph has room for {} of its tokens and a stride of {}: take a "
                    "larger max_sequence_length, a smaller max_query_length, and a positive doc_stride",
                    room, stride));
  std::vector<answer_window> all;
  for (int first = 0;; first += std::min(room, stride)) {
    all.push_back({first, std::min(room, pieces - first)});
    if (all.back().end() >= pieces) return all;
  }
}

/// Whether a piece has in this window more text around it than in any other; of equal ones the first.
inline bool is_most_context(std::span<const answer_window> all, std::size_t window, int piece) {
  std::size_t best = window;
  f64 most = -1;
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (piece < all[w].first || piece >= all[w].end()) continue;
    const f64 around = std::min(piece - all[w].first, all[w].end() - 1 - piece) + 0.01 * all[w].count;
    if (around > most) most = around, best = w;
  }
  return best == window;
}

/// The first and the last piece of a part of the text; nothing if no piece touches it.
inline std::optional<std::pair<int, int>> pieces_between(std::span<const text_piece> all, std::size_t begin,
                                                         std::size_t end) {
  int first = -1, last = -1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].end <= begin || all[i].begin >= end) continue;
    if (first < 0) first = static_cast<int>(i);
    last = static_cast<int>(i);
  }
  if (first < 0) return {};
  return std::pair(first, last);
}

/// The scores of a model for a window: one for each token of the sequence to be the first of the answer,
/// and one to be the last.
struct window_scores {
  std::vector<f32> first, last;  ///< (length of the sequence)
};

struct answer_settings {
  int n_best_size = 20;        ///< the first and last tokens of a window that are paired, and the answers
  int max_answer_length = 30;  ///< tokens
  bool may_have_none = false;  ///< there may be no answer (SQuAD 2.0): both scores of the first token say so
  f64 null_score_diff_threshold = 0;  ///< none is the answer if its score is larger by more than this
};

struct scored_answer {
  std::string text;     ///< as it stands in the paragraph; empty: there is none
  f64 score = 0;        ///< the sum of both scores
  f64 probability = 0;  ///< among the answers of the list
};

namespace detail {

inline std::vector<int> places_of_largest(std::span<const f32> scores, int count) {
  std::vector<int> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const auto n = std::min<std::ptrdiff_t>(count, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](int a, int b) {
    const f32 x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  order.resize(static_cast<std::size_t>(n));
  return order;
}

struct answer_candidate {
  int first, last;  // pieces of the paragraph
  f64 score;
};

/// The pairs of a window that may be an answer; `before` tokens of the sequence come before the paragraph.
inline void add_candidates(std::vector<answer_candidate>& to, std::span<const answer_window> windows,
                           std::size_t w, const window_scores& scores, int before,
                           const answer_settings& how) {
  const answer_window& window = windows[w];
  const auto piece_at = [&](int token) { return window.first + token - before; };
  for (const int first : places_of_largest(scores.first, how.n_best_size))
    for (const int last : places_of_largest(scores.last, how.n_best_size)) {
      if (first < before || last < first || last >= before + window.count ||
          last - first + 1 > how.max_answer_length || !is_most_context(windows, w, piece_at(first)))
        continue;
      to.push_back({piece_at(first), piece_at(last),
                    static_cast<f64>(scores.first[static_cast<std::size_t>(first)]) +
                        static_cast<f64>(scores.last[static_cast<std::size_t>(last)])});
    }
}

inline void set_probabilities(std::vector<scored_answer>& all) {
  f64 sum = 0;
  for (scored_answer& x : all) sum += x.probability = std::exp(x.score - all.front().score);
  for (scored_answer& x : all) x.probability /= sum;
}

}  // namespace detail

/// The best answers to a question, the best first; never none: without a possible answer it is the empty
/// text. `scores` has those of each window; `before` says how many tokens of a sequence come before the
/// paragraph. Throws std::invalid_argument if they do not belong together.
inline std::vector<scored_answer> best_answers(std::string_view context, std::span<const text_piece> pieces,
                                               std::span<const answer_window> windows,
                                               std::span<const window_scores> scores, int before,
                                               const answer_settings& how) {
  if (how.n_best_size < 1 || how.max_answer_length < 1)
    throw std::invalid_argument(
        fmt::format("wsl: n_best_size and max_answer_length are at least 1, not {} "
                    "and {}",
                    how.n_best_size, how.max_answer_length));
  if (windows.size() != scores.size())
    throw std::invalid_argument(
        fmt::format("wsl: {} windows have scores of {}", windows.size(), scores.size()));
  std::vector<detail::answer_candidate> candidates;
  std::optional<f64> none;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const std::size_t least = static_cast<std::size_t>(before + windows[w].count);
    if (scores[w].first.size() < least || scores[w].last.size() != scores[w].first.size() || before < 1)
      throw std::invalid_argument(fmt::format("wsl: a window of {} tokens has {} and {} scores", least,
                                              scores[w].first.size(), scores[w].last.size()));
    const f64 of_none = static_cast<f64>(scores[w].first[0]) + static_cast<f64>(scores[w].last[0]);
    none = std::min(none.value_or(of_none), of_none);
    detail::add_candidates(candidates, windows, w, scores[w], before, how);
  }
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.score != b.score ? a.score > b.score : std::pair(a.first, a.last) < std::pair(b.first, b.last);
  });
  std::vector<scored_answer> all;
  for (const detail::answer_candidate& c : candidates) {
    if (std::ssize(all) == how.n_best_size) break;
    const std::size_t begin = pieces[static_cast<std::size_t>(c.first)].begin,
                      end = pieces[static_cast<std::size_t>(c.last)].end;
    const std::string text(context.substr(begin, end - begin));
    if (std::none_of(all.begin(), all.end(), [&](const scored_answer& x) { return x.text == text; }))
      all.push_back({text, c.score});
  }
  if (how.may_have_none && none) {
    const bool wins = all.empty() || *none - all.front().score > how.null_score_diff_threshold;
    all.insert(wins ? all.begin() : all.end(), {"", *none});
  }
  if (all.empty()) all.push_back({});
  detail::set_probabilities(all);
  return all;
}

}  // namespace wsl::ml
