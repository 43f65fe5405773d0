// SPDX-License-Identifier: MIT
// The search for a text of a decoder. It has some open hypotheses, of which it is told the logits of the next
// token, and says how they go on: a beam search keeps the most probable of all that one more token gives,
// otherwise each hypothesis goes on with a token that is chosen for it. The model is elsewhere, so this is
// the work of a host alone; encoder_decoder_writer.hpp runs one for each text.
//   text_search s(how, room);
//   while (!s.is_done()) s.take(logits of s.open());
//   s.best()
#pragma once
#include <fmt/format.h>

#include "../model/weights.hpp"
#include "search_settings.hpp"
#include "token_block.hpp"

namespace wsl::ml {

/// Throws std::invalid_argument, with the name of a setting, for values that it cannot have.
inline void check_search(const search_settings& how, int vocabulary) {
  constexpr int most = 1024;
  const auto refuse = [](const char* name, const std::string& range, auto value) {
    throw std::invalid_argument(fmt::format("wsl: a search: {} is {}, not {}", name, range, value));
  };
  const auto check_tokens = [&](const char* name, std::span<const i32> tokens) {
    for (const i32 id : tokens)
      if (id < 0 || id >= vocabulary)
        refuse(name, fmt::format("of tokens of a vocabulary of {}", vocabulary), id);
  };
  check_sampling(how.choice);
  if (how.beams < 1 || how.beams > most) refuse("beams", fmt::format("1 to {}", most), how.beams);
  if (how.samples < 1 || how.samples > most) refuse("samples", fmt::format("1 to {}", most), how.samples);
  if (!std::isfinite(how.length_penalty)) refuse("length_penalty", "a finite number", how.length_penalty);
  if (how.max_tokens < 1) refuse("max_tokens", "1 or more", how.max_tokens);
  if (how.min_tokens < 0 || how.min_tokens > how.max_tokens)
    refuse("min_tokens", fmt::format("0 to max_tokens, {}", how.max_tokens), how.min_tokens);
  if (how.no_repeat_ngram < 0) refuse("no_repeat_ngram", "0, which allows all, or more", how.no_repeat_ngram);
  if (how.begin.empty())
    throw std::invalid_argument(
        "wsl: a search: begin has no token: the decoder's text begins with at least one, which a model of "
        "transformers names decoder_start_token_id");
  check_tokens("begin", how.begin), check_tokens("end", how.end), check_tokens("never", how.never);
  if (how.beams > 1 && (how.choice.temperature != 0 || how.choice.repetition_penalty != 1 || how.samples > 1))
    throw std::invalid_argument(
        "wsl: a search: a temperature, a repetition penalty and samples are for one beam: several take the "
        "best tokens");
}

class text_search {
 public:
  /// `room` is the number of tokens that the model has positions for, behind those of `begin`.
  text_search(const search_settings& how, int room)
      : how_(how),
        limit_(std::min(how.max_tokens, room)),
        last_end_(room < how.max_tokens ? text_end::context_full : text_end::max_tokens),
        open_{{how.begin, 0, 0}} {
    if (is_beam()) return;
    found_.resize(static_cast<std::size_t>(how.samples));
    for (int k = 0; k < how.samples; ++k)
      random_.emplace_back(seed_of(how.seed, static_cast<std::size_t>(k)));
  }

  bool is_done() const { return open_.empty(); }
  std::span<const open_hypothesis> open() const { return open_; }
  /// The number of places for keys and values that a search takes.
  static int places(const search_settings& how) { return std::max(how.beams, how.samples); }
  /// The copies of keys and values that the open hypotheses need, from place to place.
  std::span<const text_copy> copies() const { return copies_; }

  /// Takes the logits of the next token of each open hypothesis, (hypotheses, vocabulary). Throws not_finite
  /// for logits by which no token can be chosen.
  void take(std::span<const f32> logits) {
    ++length_;
    is_beam() ? grow(logits) : draw(logits);
  }
  /// The hypotheses: of a beam search the best first, otherwise in the order of the samples.
  const std::vector<hypothesis>& best() const { return found_; }

 private:
  /// A token behind an open hypothesis.
  struct candidate {
    f64 log_probability = 0;
    int parent = 0;
    i32 token = 0;
    int sample = 0;
  };

  bool is_beam() const { return how_.beams > 1; }
  f64 divisor(int length) const {
    const f64 x = how_.length == length_rule::power ? length : (5. + length) / 6;
    return std::pow(x, how_.length_penalty);
  }
  bool ends(i32 token) const { return std::find(how_.end.begin(), how_.end.end(), token) != how_.end.end(); }

  /// The logits of hypothesis k with which tokens that it must not have are never chosen, and the logarithm
  /// of the sum of the exponentials of all.
  f64 allowed(std::vector<f32>& row, std::span<const f32> logits, std::size_t k) const {
    const std::size_t words = logits.size() / open_.size();
    const std::span<const f32> own = logits.subspan(k * words, words);
    check_logits(own);
    row.resize(words);
    f32 shift, total;
    run_vectorized<detail::exponentials_loop>(row.data(), &shift, &total, own.data(),
                                              static_cast<int>(words));
    std::copy(own.begin(), own.end(), row.begin());
    const auto rule_out = [&](i32 token) {
      row[static_cast<std::size_t>(token)] = -std::numeric_limits<f32>::infinity();
    };
    for (const i32 token : how_.never) rule_out(token);
    if (length_ <= how_.min_tokens)
      for (const i32 token : how_.end) rule_out(token);
    if (how_.no_repeat_ngram) rule_out_repetitions(open_[k].tokens, rule_out);
    return std::log(static_cast<f64>(total)) + static_cast<f64>(shift);
  }
  /// Calls rule_out(token) for each with which the last tokens of a text would be a sequence that it has.
  template <class F>
  void rule_out_repetitions(const std::vector<i32>& text, F rule_out) const {
    const std::ptrdiff_t before = how_.no_repeat_ngram - 1;
    for (auto at = text.begin(); text.end() - at > before; ++at)
      if (std::equal(text.end() - before, text.end(), at)) rule_out(at[before]);
  }

  /// One more token of each hypothesis, each chosen for itself.
  void draw(std::span<const f32> logits) {
    std::vector<candidate> next;
    std::vector<f32> row;
    for (int k = 0; k < (length_ == 1 ? how_.samples : static_cast<int>(open_.size())); ++k) {
      // All samples begin with the same tokens.
      const std::size_t parent = length_ == 1 ? 0 : static_cast<std::size_t>(k);
      const int sample = length_ == 1 ? k : sample_[parent];
      const f64 log_sum = allowed(row, logits, parent);
      if (*std::max_element(row.begin(), row.end()) == -std::numeric_limits<f32>::infinity()) {
        found_[static_cast<std::size_t>(sample)] = ended(open_[parent], text_end::no_token_left);
        continue;
      }
      const i32 token =
          sample_token(row, how_.choice, random_[static_cast<std::size_t>(sample)], open_[parent].tokens);
      const f64 of_token =
          static_cast<f64>(logits[parent * row.size() + static_cast<std::size_t>(token)]) - log_sum;
      const candidate c{open_[parent].log_probability + of_token, static_cast<int>(parent), token, sample};
      if (ends(token) || length_ == limit_) found_[static_cast<std::size_t>(sample)] = ended(c);
      else next.push_back(c);
    }
    go_on(next);
  }

  /// One more token of the best hypotheses.
  void grow(std::span<const f32> logits) {
    // So many that enough of them do not end, each with one of the tokens that end a text.
    const std::vector<candidate> all = best_candidates(
        logits, static_cast<std::size_t>(how_.beams) * std::max<std::size_t>(2, 1 + how_.end.size()));
    if (all.empty())
      for (const open_hypothesis& x : open_) add(ended(x, text_end::no_token_left));
    std::vector<candidate> next;
    const std::size_t beams = static_cast<std::size_t>(how_.beams);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!ends(all[k].token) && length_ < limit_) {
        if (next.size() < beams) next.push_back(all[k]);
      } else if (k < beams) add(ended(all[k]));
    }
    if (found_.size() > beams) found_.resize(beams);
    if (found_.size() == beams && !next.empty() && !may_improve(next[0].log_probability)) next.clear();
    go_on(next);
  }
  /// Puts a hypothesis behind those that are as good or better.
  void add(hypothesis h) {
    const auto behind =
        std::upper_bound(found_.begin(), found_.end(), h,
                         [](const hypothesis& a, const hypothesis& b) { return a.score > b.score; });
    found_.insert(behind, std::move(h));
  }
  /// Whether a hypothesis with this probability so far may become better than those that have been found.
  bool may_improve(f64 log_probability) const {
    if (how_.stop == early_stop::when_full) return false;
    const bool at_last = how_.stop == early_stop::when_impossible && how_.length_penalty > 0;
    return log_probability / divisor(at_last ? limit_ : length_) > found_.back().score;
  }
  /// The most probable continuations of all hypotheses by one token, best first; of equal ones that of the
  /// first hypothesis, and the first token.
  std::vector<candidate> best_candidates(std::span<const f32> logits, std::size_t most) const {
    std::vector<candidate> best;
    std::vector<f32> row;
    const auto is_better = [](const candidate& a, const candidate& b) {
      return a.log_probability > b.log_probability;
    };
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const f64 log_sum = allowed(row, logits, k), so_far = open_[k].log_probability;
      for (std::size_t token = 0; token < row.size(); ++token) {
        const f64 p = so_far + (static_cast<f64>(row[token]) - log_sum);
        if (std::isinf(p) || (best.size() == most && !(p > best.back().log_probability))) continue;
        const candidate c{p, static_cast<int>(k), static_cast<i32>(token)};
        best.insert(std::upper_bound(best.begin(), best.end(), c, is_better), c);
        if (best.size() > most) best.pop_back();
      }
    }
    return best;
  }

  std::vector<i32> text_of(const candidate& c) const {
    std::vector<i32> text = open_[static_cast<std::size_t>(c.parent)].tokens;
    text.push_back(c.token);
    return text;
  }
  hypothesis ended(const open_hypothesis& x, text_end why) const {
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(how_.begin.size());
    hypothesis h{{x.tokens.begin() + begin, x.tokens.end()}, x.log_probability, x.log_probability, why};
    if (!h.tokens.empty()) h.score /= divisor(static_cast<int>(h.tokens.size()));
    return h;
  }
  hypothesis ended(const candidate& c) const {
    return ended({text_of(c), c.log_probability}, ends(c.token) ? text_end::stop_token : last_end_);
  }
  /// The hypotheses that go on. The first that continues another has its place, with the keys and values
  /// there, and the others copy them to places that are free.
  void go_on(const std::vector<candidate>& next) {
    copies_.clear(), sample_.clear();
    std::vector<int> place(next.size(), -1);
    std::vector<bool> is_taken(static_cast<std::size_t>(places(how_))), continued(open_.size());
    for (std::size_t k = 0; k < next.size(); ++k) {
      const std::size_t parent = static_cast<std::size_t>(next[k].parent);
      if (continued[parent]) continue;
      continued[parent] = true, place[k] = open_[parent].place;
      is_taken[static_cast<std::size_t>(place[k])] = true;
    }
    std::vector<open_hypothesis> open;
    for (std::size_t k = 0; k < next.size(); ++k) {
      const open_hypothesis& parent = open_[static_cast<std::size_t>(next[k].parent)];
      if (place[k] < 0) {
        const auto free = std::find(is_taken.begin(), is_taken.end(), false);
        *free = true, place[k] = static_cast<int>(free - is_taken.begin());
        copies_.push_back({parent.place, place[k], static_cast<int>(parent.tokens.size())});
      }
      open.push_back({text_of(next[k]), next[k].log_probability, place[k]});
      sample_.push_back(next[k].sample);
    }
    open_ = std::move(open);
  }

  search_settings how_;
  int limit_ = 0, length_ = 0;  // tokens at the most, and those that the open hypotheses have
  text_end last_end_;           // of a hypothesis of the largest length
  std::vector<open_hypothesis> open_;
  std::vector<int> sample_;  // of each
  std::vector<hypothesis> found_;
  std::vector<text_copy> copies_;
  std::vector<std::mt19937_64> random_;  // of each sample
};

}  // namespace wsl::ml
