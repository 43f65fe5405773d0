// SPDX-License-Identifier: MIT
// The loss of dense passage retrieval (DPR, arXiv:2004.04906): a question has a vector, and so has a passage;
// their dot product is the score of the passage for the question. Each question brings the passage that
// answers it and perhaps some that do not, and every passage of the batch is compared with every question:
// the loss is the cross-entropy of the question's scores over all of them (in-batch negatives).
//
//               passages of question 0    1         2          on all rows of workers and wafers
//   question 0  [right]  hard            .    .    .    .      the softmax of a row of scores,
//   question 1   .    .           [right]  hard    .    .      with one right passage in it
//
// A PE has the vectors of some questions and of their passages. Sums over the batch (stage::rounds_of_sums)
// bring it those of the others: each row of workers sets its own vectors in their places, and the sum has all
// of them. The gradients of the passages go back in the same way. A micro-batch is a batch of its own: it has
// fewer negatives.
#pragma once
#include <limits>
#include <span>
#include <vector>

#include "../../linalg/dense.hpp"
#include "loss.hpp"

namespace wsl::ml {

struct retrieval_settings {
  f32 temperature = 1;  ///< by which scores are divided
  /// The right passages also choose among the questions of the batch; the two means have the weights
  /// passages / (1 + passages) and 1 / (1 + passages), with the passages of a question (mutual_information of
  /// the Cerebras Model Zoo).
  bool mutual = false;
  /// A value made by `optional_ids`, for each question a number for each of its passages: 0 leaves one out.
  /// The first, the right one, always counts. -1: all count.
  int mask = -1;
  f32 factor = 1;  ///< of this loss in the sum of all losses
};

/// Reads the vectors of questions, one for each sequence, and of their passages 0, 1, ..., of which the first
/// is right; and perhaps which passages count. It is a mean over the questions.
class retrieval_loss final : public loss_stage {
 public:
  retrieval_loss(int passages, bool has_mask, const retrieval_settings& how)
      : passages_(passages), has_mask_(has_mask), how_(how) {}

  stage_cut how_cut() const override { return stage_cut::by_rows; }
  bool needs_whole_sequences() const override { return true; }
  bool is_masked() const override { return false; }
  bool is_of_sequences() const override { return true; }

  /// A round for the vectors of each passage, and one for those of the questions, if passages choose as well.
  /// Forward, whether a passage counts comes with its vector.
  int rounds_of_sums(bool) const override { return passages_ + how_.mutual; }
  bool sums_in_evaluation() const override { return true; }
  i64 sums_of_round(bool backward, int round, int features, i64 sequences) const override {
    return sequences * (features + (!backward && is_of_passages(round)));
  }
  void add_sums(activation_store& store, bool backward, int round, std::span<f32> sums) const override {
    if (backward) return copy_to(sums, state(*this, store).gradients(round));
    std::fill(sums.begin(), sums.end(), 0.f);
    const matrix<f32> mine = store.value(input_of(round));
    const int width = mine.columns(), each = width + is_of_passages(round);
    for (int t = 0; t < mine.rows(); ++t) {
      f32* const to = sums.data() + (store.first_of_pass + t) * each;
      std::copy_n(mine.row(t), width, to);
      if (is_of_passages(round)) to[width] = counts_here(store, t, round);
    }
  }
  void take_sums(activation_store& store, bool backward, int round,
                 std::span<const f32> sums) const override {
    const state s(*this, store);
    if (!backward) return void(std::copy(sums.begin(), sums.end(), s.room(round)));
    const matrix<f32> d = store.gradient(input_of(round));
    const int first = static_cast<int>(store.first_of_pass), all = static_cast<int>(s.sequences);
    add(d, matrix(sums.data(), all, d.columns()).part(first, 0, d.rows(), d.columns()));
  }

  f64 loss(activation_store& store, f32 weight) const override {
    const state s(*this, store);
    for (int round = 0; round < rounds_of_sums(true); ++round) clear(s.gradients(round));
    const token_range own = store.own_tokens();
    if (own.count() == 0) return 0;
    const auto mine = [&](const matrix<f32>& x) { return x.part(own.first, 0, own.count(), x.columns()); };
    const int first = static_cast<int>(store.first_of_pass) + own.first;
    const f32 of_passages = how_.mutual ? 1 / static_cast<f32>(1 + passages_) : 0;
    const matrix<f32> questions = mine(store.value(inputs[0])), dq = mine(store.gradient(inputs[0]));
    f64 sum = chosen(s, questions, dq, 0, passages_, first, 1 - of_passages, weight);
    if (how_.mutual)
      sum += chosen(s, mine(store.value(inputs[1])), mine(store.gradient(inputs[1])), passages_, 1, first,
                    of_passages, weight);
    return sum;
  }
  /// A question is compared with the passages of the whole batch, whose number a stage does not know: those
  /// of one question are counted.
  f64 operations(int, int, int columns, int) const override { return 6. * passages_ * columns; }

 private:
  /// The vectors of all rows of workers, (sequences, features) of each round, and whether a passage counts;
  /// and the gradients of them all through the questions here. The numbers lie one round after the other:
  ///   round 0, 1, ...    of each sequence its vector and, in rounds of passages, whether that counts, as the
  ///                      sums of a round come
  ///   gradients of round 0, 1, ...    of each sequence that of its vector
  struct state {
    i64 sequences;
    int width, passages, rounds;
    f32* numbers;
    state(const retrieval_loss& of, activation_store& store)
        : sequences(store.sequences_of_pass),
          width(store.value(of.inputs[0]).columns()),
          passages(of.passages_),
          rounds(of.rounds_of_sums(true)) {
      const i64 of_sequence = 2 * i64{rounds} * width + passages;
      numbers = store.kept(of.number, static_cast<std::size_t>(sequences * of_sequence)).data();
    }
    bool is_of_passages(int round) const { return round < passages; }
    f32* room(int round) const {
      return numbers + sequences * (i64{round} * width + std::min(round, passages));
    }
    matrix<f32> vectors(int round) const {
      return matrix(room(round), static_cast<int>(sequences), width + is_of_passages(round))
          .part(0, 0, static_cast<int>(sequences), width);
    }
    bool counts(int round, int k) const {
      return !is_of_passages(round) || room(round)[i64{k} * (width + 1) + width] != 0;
    }
    matrix<f32> gradients(int round) const {
      const i64 before = i64{rounds + round} * width + passages;
      return {numbers + sequences * before, static_cast<int>(sequences), width};
    }
  };
  bool is_of_passages(int round) const { return round < passages_; }
  int input_of(int round) const {
    return inputs[is_of_passages(round) ? static_cast<std::size_t>(1 + round) : 0];
  }
  f32 counts_here(activation_store& store, int t, int passage) const {
    if (!has_mask_ || passage == 0) return 1;
    const int v = inputs[static_cast<std::size_t>(1 + passages_)];
    return !store.has(v) || store.ids(v)[static_cast<std::size_t>(t * passages_ + passage)] != 0;
  }
  static void copy_to(std::span<f32> to, const matrix<f32>& x) {
    std::copy_n(x.first(), to.size(), to.begin());
  }
  /// Each of some vectors, x of shape (tokens, features), chooses among those of `rounds` rounds from number
  /// `from` on: vector t the number `first` + t of round `from`. Returns the sum of the cross-entropies times
  /// `share`, and adds `weight` times its gradients.
  f64 chosen(const state& s, const matrix<f32>& x, const matrix<f32>& dx, int from, int rounds, int first,
             f32 share, f32 weight) const {
    const int all = static_cast<int>(s.sequences), classes = rounds * all;
    std::vector<f32> room(static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(classes));
    const matrix<f32> scores(room.data(), x.rows(), classes);
    const auto of_round = [&](int r) { return scores.part(0, r * all, x.rows(), all); };
    for (int r = 0; r < rounds; ++r) multiply(of_round(r), x, s.vectors(from + r).transposed());
    const f32 scale = 1 / how_.temperature;
    const auto divide_by_temperature = [&] {
      for (f32& y : room) y *= scale;
    };
    divide_by_temperature();
    f64 sum = 0;
    for (int t = 0; t < x.rows(); ++t) {
      for (int r = 0; r < rounds; ++r)
        for (int k = 0; k < all; ++k)
          if (!s.counts(from + r, k)) scores(t, r * all + k) = std::numeric_limits<f32>::lowest();
      sum += cross_entropy_of_row(scores.row(t), classes, first + t, share, weight);
    }
    divide_by_temperature();  // the room has the gradients of the divided scores now
    for (int r = 0; r < rounds; ++r) {
      multiply_add(dx, of_round(r), s.vectors(from + r));
      multiply_add(s.gradients(from + r), of_round(r).transposed(), x);
    }
    return sum;
  }

  int passages_;
  bool has_mask_;
  retrieval_settings how_;
};

}  // namespace wsl::ml
