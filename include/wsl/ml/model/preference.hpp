// SPDX-License-Identifier: MIT
// Decoders that learn from preferences: of two answers to a prompt, one is better. They learn directly,
// compared with what they were before, the reference (DPO and its relatives, layer/preference_loss.hpp):
//   const preference_model m{.of = d, .how = {.beta = 0.1f}};
//   trainer reference(m.log_probabilities(), optimizer::sgd()), policy(m.build(), optimizer::adamw());
//   const std::vector<f32> q = reference_log_probabilities(reference, b);  // once for each batch
//   b.named.emplace_back("reference_log_probs", q), policy.step(b, 1e-6);
//   preference_metrics seen;
//   seen.add(policy.logits(), q, 0.1);
// Or a reward model learns scores of answers. Batches have an even number of sequences: sequence 2k is the
// chosen answer with its prompt, 2k + 1 the rejected one. They have "ids", and a preference_model "labels",
// the token that follows each token, or decoder::no_label where it does not count, as in the prompt and the
// padding; a reward_model perhaps "attention_mask", 0 for the padding behind a text.
// See docs/guide/finetuning.md.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "adapters.hpp"
#include "batch.hpp"
#include "decoder.hpp"

namespace wsl::ml {

struct preference_model {
  decoder of;
  preference_loss_settings how = {};

  /// The network that learns, whose output are the log-probabilities of the sequences, with ipo the means
  /// over their tokens. With adapters all else is frozen. Throws std::invalid_argument as decoder::build and
  /// network::preference do.
  network build(const adapter_settings& adapters = {}) const {
    network n;
    const decoder::output y = add_to(n, adapters);
    n.preference("loss", n.logits(), how);
    if (of.balance != 0 && !y.scores.empty())
      n.balance("balance", y.scores, of.experts_per_token, of.balance);
    if (!adapters.layers.empty()) n.train_adapters();
    return n;
  }
  /// The network of the reference, which has no loss. Its parameters are those of the decoder.
  network log_probabilities() const {
    network n;
    add_to(n, {});
    return n;
  }

 private:
  decoder::output add_to(network& n, const adapter_settings& adapters) const {
    decoder::output y = of.add_to(n, adapters);
    n.predicts(
        n.log_probability("log-probability", y.logits,
                          {.ignore_index = decoder::no_label, .mean = how.kind == preference_kind::ipo}));
    return y;
  }
};

/// A decoder that gives each text a score, a linear function of its last token, and learns to give the chosen
/// one of a pair the larger: the loss is -log sigmoid(chosen - rejected).
struct reward_model {
  decoder of;  ///< its head is not used

  /// The network, whose output are the scores. Its parameters are those of the decoder without its head, and
  /// "score.weight", (1, width). With adapters that weight learns as well, and all else is frozen.
  network build(const adapter_settings& adapters = {}) const {
    network n;
    const decoder::output y = of.add_to(n, adapters, false);
    const int seen = n.optional_ids("attention_mask", 2), last = n.last_token("last token", y.last, seen);
    const int score = n.linear("score", last, 1, false, initial::normal(of.deviation));
    n.preference("loss", score, {.beta = 1, .reference_free = true});
    if (of.balance != 0 && !y.scores.empty())
      n.balance("balance", y.scores, of.experts_per_token, of.balance);
    if (!adapters.layers.empty()) n.train_adapters({"score.weight"});
    return n;
  }
};

/// Weights with which a reward model begins: those of a decoder, and a score with its initial values by this
/// seed. Adapters begin as they do anew. Throws std::invalid_argument if the decoder is another one.
inline weights with_score(const network& plain, const weights& w, const network& rewards, u64 seed) {
  weights all(rewards, seed);
  const auto is_new = [](const std::string& name) {
    return name == "score.weight" || name.ends_with(" lora_A.weight") || name.ends_with(" lora_B.weight");
  };
  for (std::size_t k = 0; k < all.size(); ++k) {
    const parameter& to = rewards.parameters()[k];
    if (is_new(to.name)) continue;
    const auto from = std::find_if(plain.parameters().begin(), plain.parameters().end(),
                                   [&](const parameter& p) { return p.name == to.name; });
    if (from == plain.parameters().end() || from->rows != to.rows || from->columns != to.columns)
      throw std::invalid_argument(fmt::format(
          "wsl: {} of the reward model is no parameter of the decoder with whose weights it begins, or has "
          "another size there: take one of the same form",
          to.name));
    all[k] = w[static_cast<std::size_t>(from - plain.parameters().begin())];
  }
  return all;
}

/// The batch as a reference takes it, without targets and without its own log-probabilities.
inline batch without_reference(const network& reference, batch b) {
  std::erase_if(b.named, [](const named_numbers& x) { return x.name == reference_log_probs; });
  return without_targets(reference, std::move(b));
}
/// The log-probabilities of the sequences of a batch by a model of preferences, one for each sequence: those
/// of the reference, which are computed once and go with the batch as "reference_log_probs" ever after. `by`
/// is a trainer of `preference_model::log_probabilities`, or of `build` before its first step, if the model
/// as it begins is the reference. Throws std::invalid_argument if the batch does not fit.
template <class Trainer>
std::vector<f32> reference_log_probabilities(Trainer& by, const batch& b) {
  return by.predict(without_reference(by.model(), b));
}

/// Rewards of pairs, and how often the chosen one is the larger. A reward is beta (log p - log p of the
/// reference), or the score of a reward model; rewards, margins and log-probabilities are means over pairs.
class preference_metrics {
 public:
  /// The sums so far: a run that resumes between two entries of its log takes them over.
  struct sums {
    i64 pairs = 0, right = 0;
    f64 chosen = 0, rejected = 0;        ///< of the rewards
    f64 of_chosen = 0, of_rejected = 0;  ///< of the numbers themselves
  };
  preference_metrics() = default;
  explicit preference_metrics(const sums& so_far) : s_(so_far) {}
  const sums& so_far() const { return s_; }

  /// Adds the pairs of a batch: a number for each sequence, and that of the reference, or none. Throws
  /// std::invalid_argument if they are no pairs, or not as many.
  void add(std::span<const f32> numbers, std::span<const f32> reference, f64 beta) {
    if (numbers.size() % 2 || (!reference.empty() && reference.size() != numbers.size()))
      throw std::invalid_argument(fmt::format(
          "wsl: preferences are of pairs of sequences, with as many numbers of the reference or none, "
          "not of {} with {}",
          numbers.size(), reference.size()));
    for (std::size_t k = 0; k < numbers.size(); k += 2) {
      const auto reward = [&](std::size_t i) {
        return beta *
               (static_cast<f64>(numbers[i]) - (reference.empty() ? 0. : static_cast<f64>(reference[i])));
      };
      const f64 chosen = reward(k), rejected = reward(k + 1);
      s_.chosen += chosen, s_.rejected += rejected, s_.right += chosen > rejected;
      s_.of_chosen += static_cast<f64>(numbers[k]), s_.of_rejected += static_cast<f64>(numbers[k + 1]);
      ++s_.pairs;
    }
  }
  i64 pairs() const { return s_.pairs; }
  f64 chosen() const { return mean(s_.chosen); }
  f64 rejected() const { return mean(s_.rejected); }
  f64 margin() const { return mean(s_.chosen - s_.rejected); }
  /// The part of pairs whose chosen sequence has the larger reward.
  f64 accuracy() const { return mean(static_cast<f64>(s_.right)); }
  /// The log-probabilities, or scores, themselves.
  f64 log_probability_of_chosen() const { return mean(s_.of_chosen); }
  f64 log_probability_of_rejected() const { return mean(s_.of_rejected); }

 private:
  f64 mean(f64 sum) const { return s_.pairs ? sum / static_cast<f64>(s_.pairs) : 0; }

  sums s_;
};

}  // namespace wsl::ml
