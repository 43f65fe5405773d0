// SPDX-License-Identifier: MIT
// Losses of preferences: of two answers to a prompt one is preferred, and the loss becomes small where the
// model finds it likelier than the other, compared with a reference, the model as it was (DPO,
// arXiv:2305.18290). Sequences come in pairs: sequence 2k is the chosen answer, 2k + 1 the rejected one. With
// the log-probabilities p of the model and q of the reference, r = p - q of both, and the margin m =
// r(chosen) - r(rejected):
//   sigmoid   -log sigmoid(beta m)
//   hinge     max(0, 1 - beta m)                                              (SLiC, arXiv:2305.10425)
//   ipo       (m - 1 / (2 beta))^2, of means over the tokens                  (IPO, arXiv:2310.12036)
//   dpop      -log sigmoid(beta (m - penalty max(0, -r(chosen))))             (DPOP, arXiv:2402.13228)
// Without a reference r is p, and with beta 1 the first is the loss of a reward model, which gives each
// answer a score.
//
// The sequences of a pair may lie on two rows of workers, or on two wafers. Sums over the batch
// (stage::rounds_of_sums) bring each row the numbers r of all sequences: each row sets its own places among
// them. Then each sequence adds the loss of its pair, so that the mean over sequences is that over pairs, and
// the gradient of its own number.
#pragma once
#include <cmath>
#include <optional>
#include <span>

#include "loss.hpp"

namespace wsl::ml {

enum class preference_kind : u8 { sigmoid, hinge, ipo, dpop };

/// The name of the numbers of the reference, unless another value has them.
inline constexpr const char* reference_log_probs = "reference_log_probs";

struct preference_loss_settings {
  preference_kind kind = preference_kind::sigmoid;
  f32 beta = 0.1f;  ///< how strongly the reference holds the model; above 0
  /// The part of pairs that are thought to be the wrong way round, from 0 to below 0.5; of `sigmoid` alone
  /// (cDPO).
  f32 label_smoothing = 0;
  std::optional<f32> penalty = {};  ///< of `dpop` alone, where the chosen answer gets less likely; none: 5
  bool reference_free = false;      ///< there is no reference
  /// A value made by `target`, one number for each sequence; -1: a new one with that name.
  int reference = -1;
  f32 factor = 1;  ///< of this loss in the sum of all losses
};

/// The loss of a pair, and its slopes.
struct pair_loss {
  f64 loss = 0, of_chosen = 0, of_rejected = 0;
};
/// That of the numbers r of both sequences.
inline pair_loss preference_of_pair(const preference_loss_settings& how, f64 chosen, f64 rejected) {
  const auto falling = [](f64 x) { return std::max(-x, 0.) + std::log1p(std::exp(-std::abs(x))); };
  const auto sigmoid_of = [](f64 x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : 1 - 1 / (1 + std::exp(x)); };
  const f64 beta = static_cast<f64>(how.beta), margin = chosen - rejected;
  switch (how.kind) {
    case preference_kind::sigmoid: {
      const f64 x = beta * margin, wrong = static_cast<f64>(how.label_smoothing),
                slope = beta * (wrong * sigmoid_of(x) - (1 - wrong) * sigmoid_of(-x));
      return {(1 - wrong) * falling(x) + wrong * falling(-x), slope, -slope};
    }
    case preference_kind::hinge: {
      const f64 x = 1 - beta * margin, slope = x > 0 ? -beta : 0;
      return {std::max(x, 0.), slope, -slope};
    }
    case preference_kind::ipo: {
      const f64 x = margin - 1 / (2 * beta);
      return {x * x, 2 * x, -2 * x};
    }
    case preference_kind::dpop: break;
  }
  const f64 penalty = static_cast<f64>(how.penalty.value_or(5)),
            x = beta * (margin - penalty * std::max(0., -chosen)), slope = -beta * sigmoid_of(-x);
  return {falling(x), slope * (chosen < 0 ? 1 + penalty : 1), -slope};
}

/// Reads a number for each sequence, its log-probability or its score, and perhaps that of the reference. It
/// is a mean over pairs.
class preference_loss final : public loss_stage {
 public:
  explicit preference_loss(const preference_loss_settings& how) : how_(how) {}

  stage_cut how_cut() const override { return stage_cut::by_rows; }
  bool needs_whole_sequences() const override { return true; }
  bool is_masked() const override { return false; }
  bool is_of_sequences() const override { return true; }
  int sequences_together() const override { return 2; }
  /// A log-probability is a large number of which small differences count.
  bool reads_rounded(int) const override { return false; }

  int rounds_of_sums(bool backward) const override { return !backward; }
  bool sums_in_evaluation() const override { return true; }
  i64 sums_of_round(bool, int, int, i64 sequences) const override { return sequences; }
  void add_sums(activation_store& store, bool, int, std::span<f32> sums) const override {
    std::fill(sums.begin(), sums.end(), 0.f);
    if (!how_.reference_free && !store.has(inputs[1])) return;  // a prediction, which has no loss
    const matrix<f32> x = store.value(inputs[0]);
    for (int t = 0; t < x.rows(); ++t)
      sums[static_cast<std::size_t>(store.first_of_pass + t)] =
          how_.reference_free ? x(t, 0) : x(t, 0) - store.value(inputs[1])(t, 0);
  }
  void take_sums(activation_store& store, bool, int, std::span<const f32> sums) const override {
    std::copy(sums.begin(), sums.end(), all(store).begin());
  }

  f64 loss(activation_store& store, f32 weight) const override {
    const std::span<const f32> of_all = all(store);
    const matrix<f32> d = store.gradient(inputs[0]);
    const token_range own = store.own_tokens();
    f64 sum = 0;
    for (int t = own.first; t < own.end; ++t) {
      const std::size_t k = static_cast<std::size_t>(store.first_of_pass + t), chosen = k - k % 2;
      // Scores without a reference may be predicted of any number of sequences. Batches with a loss have
      // pairs.
      if (chosen + 1 >= of_all.size()) continue;
      const pair_loss pair =
          preference_of_pair(how_, static_cast<f64>(of_all[chosen]), static_cast<f64>(of_all[chosen + 1]));
      sum += pair.loss;
      // Both of the pair have its loss, which has the slope of each twice.
      d(t, 0) += 2 * weight * static_cast<f32>(k == chosen ? pair.of_chosen : pair.of_rejected);
    }
    return sum;
  }
  f64 operations(int, int, int, int) const override { return 40; }

 private:
  /// The numbers r of all sequences.
  std::span<f32> all(activation_store& store) const {
    return store.kept(number, static_cast<std::size_t>(store.sequences_of_pass));
  }

  preference_loss_settings how_;
};

}  // namespace wsl::ml
