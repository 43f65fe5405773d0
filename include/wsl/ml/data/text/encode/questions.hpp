// SPDX-License-Identifier: MIT
// Questions about paragraphs (SQuAD) as sequences, and the answers that a model's scores mean. A paragraph is
// read in windows (../answer_windows.hpp), each of which is an example. Batches have "input_ids",
// "attention_mask", "token_type_ids", and for each example "start_positions" and "end_positions", the tokens
// of the answer; both are 0, the place of [CLS], if the window does not have the whole answer.
//   const asked_questions asked(how, by);
//   batches train(asked.task().data, {.size = 32});
//   ...
//   asked.answers(0, scores_of_windows, {})[0].text   // as it stands in the paragraph
#pragma once
#include "../answer_windows.hpp"
#include "../delimited.hpp"
#include "../squad.hpp"
#include "sequences.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct question_settings {
  std::vector<std::string> files = {};  ///< SQuAD's JSON, version 1.1 or 2.0
  int max_sequence_length = 384;
  int doc_stride = 128;           ///< tokens from one window to the next
  int max_query_length = 64;      ///< tokens of a question; those behind them are left out
  bool may_lack_answers = false;  ///< a question may have no `answers`, not even an empty list
};

class asked_questions {
 public:
  /// All paragraphs and questions are held in memory, as text and as tokens. Throws file_error for files that
  /// cannot be read, std::invalid_argument for settings that leave no room.
  asked_questions(const question_settings& how, const tokenizer& by)
      : state_(std::make_shared<const state>(how, by)) {}

  const std::vector<squad_question>& questions() const { return state_->data.questions; }
  const std::string& context(std::size_t question) const {
    return state_->data.contexts[questions()[question].context];
  }
  /// The examples of a question: the number of the first, and how many windows it has. In the order of the
  /// data (batch_settings::shuffle false) these are the examples of a run of evaluation.
  std::pair<i64, std::size_t> examples_of(std::size_t question) const {
    return {state_->first_example[question], state_->windows[question].size()};
  }
  text_task task() const {
    const auto s = state_;
    text_task t;
    t.vocabulary = s->vocabulary, t.token_types = s->special.types(true);
    t.about = fmt::format("{} questions about {} paragraphs in {} windows{}{}", s->data.questions.size(),
                          s->data.contexts.size(), s->question_of.size(), s->left_out_words,
                          s->data.left_out.empty()
                              ? ""
                              : fmt::format("; {} questions are left out, since the text of an answer is not "
                                            "at its place: {}",
                                            s->data.left_out.size(), detail::quoted_list(s->data.left_out)));
    t.data.count = std::ssize(s->question_of), t.data.length = s->how.max_sequence_length;
    t.data.named = encoder_fields(s->how.max_sequence_length);
    t.data.named.push_back({"start_positions", 1}), t.data.named.push_back({"end_positions", 1});
    t.data.get = [s](i64 which, const example& to) { s->get(which, to); };
    return t;
  }
  /// The best answers to a question, from the scores of its windows in their order, the best first.
  std::vector<scored_answer> answers(std::size_t question, std::span<const window_scores> scores,
                                     const answer_settings& how) const {
    const state& s = *state_;
    return best_answers(context(question), s.pieces[questions()[question].context], s.windows[question],
                        scores, s.before(question), how);
  }

 private:
  struct state {
    question_settings how;
    special_tokens special;
    int vocabulary;
    squad_data data;
    std::vector<std::vector<text_piece>> pieces, queries;  // of each paragraph, of each question
    std::vector<std::vector<answer_window>> windows;       // of each question
    std::vector<i64> first_example;                        // of each question
    std::vector<std::size_t> question_of;                  // each example
    std::string left_out_words;                            // a part of the sentence about the data

    state(const question_settings& h, const tokenizer& by)
        : how(h), special(special_tokens::of(by)), vocabulary(by.size()) {
      if (how.max_query_length < 1)
        throw std::invalid_argument(
            fmt::format("wsl: max_query_length is at least 1, not {}", how.max_query_length));
      for (const std::string& file : how.files) add(read_squad(file, how.may_lack_answers));
      if (data.questions.empty()) throw file_error("wsl: no file of questions is named");
      const piece_encoder encode(by);
      text_survey survey(by.token(special.unknown), special.unknown);
      for (const std::string& context : data.contexts)
        survey.add_unknown(pieces.emplace_back(encode(context)));
      for (std::size_t q = 0; q < data.questions.size(); ++q) {
        queries.push_back(encode(data.questions[q].text));
        survey.add(queries.back(), how.max_query_length);
        if (std::ssize(queries.back()) > how.max_query_length)
          queries.back().resize(static_cast<std::size_t>(how.max_query_length));
        windows.push_back(windows_of(static_cast<int>(pieces[data.questions[q].context].size()),
                                     how.max_sequence_length - before(q) - 1, how.doc_stride));
        first_example.push_back(std::ssize(question_of));
        question_of.insert(question_of.end(), windows.back().size(), q);
      }
      left_out_words = survey.text(std::ssize(data.questions), "max_query_length", how.max_query_length);
    }
    /// Tokens of a sequence before the paragraph.
    int before(std::size_t question) const {
      return static_cast<int>(queries[question].size()) + special.around(true) - 1;
    }
    void get(i64 which, const example& to) const {
      const std::size_t q = question_of[static_cast<std::size_t>(which)];
      const answer_window& w = windows[q][static_cast<std::size_t>(which - first_example[q])];
      const std::span<const text_piece> all = pieces[data.questions[q].context];
      put(to,
          sequence_of(special, queries[q],
                      all.subspan(static_cast<std::size_t>(w.first), static_cast<std::size_t>(w.count))),
          special);
      i32 first = 0, last = 0;
      if (const auto at = place_of(q); at && at->first >= w.first && at->second < w.end())
        first = at->first - w.first + before(q), last = at->second - w.first + before(q);
      to.named[3][0] = first, to.named[4][0] = last;
    }

   private:
    void add(squad_data some) {
      const std::size_t contexts = data.contexts.size();
      for (squad_question& q : some.questions) q.context += contexts, data.questions.push_back(std::move(q));
      std::move(some.contexts.begin(), some.contexts.end(), std::back_inserter(data.contexts));
      std::move(some.left_out.begin(), some.left_out.end(), std::back_inserter(data.left_out));
    }
    /// The pieces of the first answer.
    std::optional<std::pair<int, int>> place_of(std::size_t question) const {
      const squad_question& q = data.questions[question];
      if (q.answers.empty()) return {};
      const squad_answer& a = q.answers.front();
      return pieces_between(pieces[q.context], a.begin, a.begin + a.text.size());
    }
  };

  std::shared_ptr<const state> state_;
};

}  // namespace wsl::ml
