// SPDX-License-Identifier: MIT
// A pair of encoders for dense passage retrieval (DPR, arXiv:2004.04906; DPRQuestionEncoder and
// DPRContextEncoder of transformers): one gives each question a vector, the other each passage, the state of
// the first token or a projection of it. The passages with the largest dot products answer the question, so
// passages are encoded once and searched for ever after. It learns from questions with the right passage and
// perhaps some wrong ones that look right (hard negatives); all passages of a batch are compared.
//   dual_encoder{.questions = e, .passages = e, .passages_of_question = 2}.build()
// The inputs are "questions_input_ids" and, for passage k of a question, "ctx_k_input_ids"; where a batch
// has them also "..._attention_mask" and "..._token_type_ids" of each, and "ctx_seen", (sequences, passages),
// where 0 leaves a passage out. Questions and passages have axes of their own: their lengths differ.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "encoder.hpp"

namespace wsl::ml {

struct dual_encoder {
  encoder questions, passages;  ///< their tasks are not used
  int projection = 0;           ///< features of a vector; 0: those of a state, as it is
  bool shared = false;          ///< passages have the encoder of questions, with the same weights
  int passages_of_question = 1;
  f32 temperature = 1;  ///< by which the scores are divided
  bool mutual = false;  ///< passages choose among questions, too (retrieval_settings)

  friend bool operator==(const dual_encoder&, const dual_encoder&) = default;

  /// The features of a vector.
  int width() const { return projection ? projection : questions.width; }
  static std::string name_of_passage(int k) { return fmt::format("ctx_{}_", k); }

  /// The network that learns, with the loss as its last stage. Its output are the vectors of the questions.
  /// Throws std::invalid_argument for sizes that do not fit.
  network build() const {
    if (passages_of_question < 1)
      throw std::invalid_argument(
          fmt::format("wsl: a question has at least 1 passage, the right one, not {}", passages_of_question));
    if (shared ? !(questions == passages) : !projection && questions.width != passages.width)
      throw std::invalid_argument(
          shared
              ? std::string("wsl: a shared encoder has one form: describe questions and passages alike")
              : fmt::format("wsl: the vectors of questions have {} features and those of passages {}: take "
                            "encoders of one width, or a projection",
                            questions.width, passages.width));
    network n;
    const int question = add_vector(n, questions, "question ", "questions_", 0),
              axis = n.axis("tokens of passages");
    int first = shared ? 0 : static_cast<int>(n.parameters().size());
    std::vector<int> vectors;
    for (int k = 0; k < passages_of_question; ++k) {
      const auto add = [&] {
        return add_vector(n, passages, fmt::format("passage {} ", k), name_of_passage(k), axis);
      };
      vectors.push_back(k == 0 && !shared ? add() : n.with_parameters_from(first, add));
    }
    const int seen = n.optional_ids("ctx_seen", 2, passages_of_question, n.axis_of_sequences());
    n.retrieval("loss", question, vectors, {temperature, mutual, seen});
    n.predicts(question);
    return n;
  }
  /// One of the encoders alone, whose output are the vectors. Its inputs are those of an encoder, and its
  /// parameters are called as those of that half of the whole (`prefix_of`).
  network build_half(bool of_questions) const {
    network n;
    n.predicts(add_vector(n, of_questions ? questions : passages, prefix_of(of_questions), "", 0));
    return n;
  }
  /// The word before the names of the parameters of a half.
  std::string prefix_of(bool of_questions) const {
    return of_questions || shared ? "question " : "passage 0 ";
  }

 private:
  /// Adds an encoder to a network. Returns the value with its vectors.
  int add_vector(network& n, const encoder& e, const std::string& name, const std::string& texts,
                 int axis) const {
    const int y = n.first_token(name + "first token", e.states(n, name, texts, axis));
    return projection ? n.linear(name + "projection", y, projection, true, e.usual_start()) : y;
  }
};

}  // namespace wsl::ml
