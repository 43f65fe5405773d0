// SPDX-License-Identifier: MIT
// Questions and passages as the sequences of a pair of encoders (model/dual_encoder.hpp): a question alone, a
// passage as the pair of its title and its text. Batches have, of each question, "questions_input_ids",
// "questions_attention_mask" and "questions_token_type_ids", the same of its passages "ctx_0_...", which
// answers it, "ctx_1_..." and so on, which do not, and "ctx_seen", 0 for a passage that it lacks.
//   const retrieved_text all({.files = {"nq-train.json"}, .passages_of_question = 2}, by);
//   batches train(all.task(true).data, {.size = 32});
//   all.questions(), all.passages()    // each alone, for an encoder
// Passages that no question asks for, such as those of an index, are read from tables with the columns "text"
// and perhaps "title" (passages_of).
#pragma once
#include <algorithm>
#include <numeric>

#include "../draws.hpp"
#include "../records.hpp"
#include "../retrieval.hpp"
#include "sequences.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct retrieval_text_settings {
  std::vector<std::string> files = {};  ///< .json or .jsonl (../retrieval.hpp)
  int max_sequence_length = 64;         ///< tokens of a question
  int max_passage_length = 256;         ///< tokens of a passage with its title; 0: as many as of a question
  int passages_of_question = 1;         ///< the first that answers it, and so many less 1 that do not

  int passage_length() const { return max_passage_length ? max_passage_length : max_sequence_length; }
  /// The name of the setting that says it.
  const char* passage_setting() const {
    return max_passage_length ? "max_passage_length" : "max_sequence_length";
  }
};

namespace detail {

/// A passage as a sequence of a length, the pair of its title and its text.
inline token_sequence sequence_of_passage(const special_tokens& special, const piece_encoder& encode,
                                          const passage& p, int length) {
  const bool pair = !p.title.empty();
  std::vector<text_piece> title = encode(p.title), text = encode(p.text);
  shorten(title, text, length - special.around(pair));
  return pair ? sequence_of(special, title, text) : sequence_of(special, text);
}

}  // namespace detail

class retrieved_text {
 public:
  /// All texts are held in memory. Throws file_error for files that cannot be read, std::invalid_argument for
  /// settings that leave no room.
  retrieved_text(const retrieval_text_settings& how, const tokenizer& by)
      : state_(std::make_shared<const state>(how, by)) {}

  const retrieval_data& data() const { return state_->data; }
  /// The questions with their passages. Those that do not answer are, where `training`, drawn anew in each
  /// epoch, and otherwise the first of the file.
  text_task task(bool training) const {
    const auto s = state_;
    text_task t;
    t.vocabulary = s->vocabulary, t.token_types = s->token_types(), t.about = s->about();
    t.data.count = std::ssize(s->data.questions), t.data.length = s->how.max_sequence_length;
    add_fields(t.data.named, "questions_", s->how.max_sequence_length);
    for (int k = 0; k < s->how.passages_of_question; ++k)
      add_fields(t.data.named, fmt::format("ctx_{}_", k), s->how.passage_length());
    t.data.named.push_back({"ctx_seen", s->how.passages_of_question});
    t.data.get = [s, training](i64 which, const example& to) { s->get(which, to, training); };
    return t;
  }
  /// The questions, or the passages, each alone with the names of an encoder's inputs.
  text_task questions() const {
    return alone(std::ssize(state_->data.questions), state_->how.max_sequence_length,
                 [s = state_](std::size_t k) { return s->of_question(k); });
  }
  text_task passages() const {
    return alone(std::ssize(state_->data.passages), state_->how.passage_length(),
                 [s = state_](std::size_t k) { return s->of_passage(k); });
  }

 private:
  static void add_fields(std::vector<named_field>& to, const std::string& before, int length) {
    for (const named_field& x : encoder_fields(length)) to.push_back({before + x.name, x.count});
  }
  template <class F>
  text_task alone(i64 count, int length, F sequence) const {
    text_task t;
    t.vocabulary = state_->vocabulary;
    t.data.count = count, t.data.length = length;
    t.data.named = encoder_fields(length);
    t.data.get = [s = state_, sequence](i64 which, const example& to) {
      put(to, sequence(static_cast<std::size_t>(which)), s->special);
    };
    return t;
  }

  struct state {
    retrieval_text_settings how;
    special_tokens special;
    int vocabulary;
    std::string unknown;
    retrieval_data data;
    piece_encoder encode;

    state(const retrieval_text_settings& h, const tokenizer& by)
        : how(h),
          special(special_tokens::of(by)),
          vocabulary(by.size()),
          unknown(by.token(special.unknown)),
          data(read_retrieval(h.files)),
          encode(by) {
      check_length(how.max_sequence_length, special, false);
      check_length(how.passage_length(), special, true, how.passage_setting());
      if (how.passages_of_question < 1)
        throw std::invalid_argument(
            fmt::format("wsl: a question has at least 1 passage, the one that answers it, not {}",
                        how.passages_of_question));
    }
    std::string about() const {
      const auto few = std::count_if(data.questions.begin(), data.questions.end(), [&](const auto& q) {
        return std::ssize(q.hard) + 1 < how.passages_of_question;
      });
      std::string all = fmt::format("{} questions, {} passages", data.questions.size(), data.passages.size());
      if (few)
        all += fmt::format("; {} questions have fewer hard negatives than {}", few,
                           how.passages_of_question - 1);
      if (data.without_answer)
        all += fmt::format("; {} questions are left out, which no passage answers", data.without_answer);
      if (data.right_among_hard)
        all += fmt::format("; {} hard negatives are left out, which answer their question",
                           data.right_among_hard);
      return all + survey_of_questions() + survey_of_passages();
    }
    std::string survey_of_questions() const {
      text_survey survey(unknown, special.unknown);
      const int room = how.max_sequence_length - special.around(false);
      for (auto q = data.questions.begin(); q != data.questions.end() && !survey.is_full(); ++q)
        survey.add(encode(q->text), room);
      return survey.text(std::ssize(data.questions), "max_sequence_length", how.max_sequence_length,
                         "questions");
    }
    std::string survey_of_passages() const {
      text_survey survey(unknown, special.unknown);
      for (auto p = data.passages.begin(); p != data.passages.end() && !survey.is_full(); ++p) {
        const std::vector<text_piece> title = encode(p->title), text = encode(p->text);
        survey.add_unknown(title), survey.add_unknown(text);
        survey.add_example(std::ssize(title) + std::ssize(text) + special.around(!p->title.empty()) >
                           how.passage_length());
      }
      return survey.text(std::ssize(data.passages), how.passage_setting(), how.passage_length(), "passages");
    }
    int token_types() const {
      return special.types(std::any_of(data.passages.begin(), data.passages.end(),
                                       [](const passage& p) { return !p.title.empty(); }));
    }
    token_sequence of_question(std::size_t k) const {
      std::vector<text_piece> text = encode(data.questions[k].text), none;
      shorten(text, none, how.max_sequence_length - special.around(false));
      return sequence_of(special, text);
    }
    token_sequence of_passage(std::size_t k) const {
      return detail::sequence_of_passage(special, encode, data.passages[k], how.passage_length());
    }
    void get(i64 which, const example& to, bool training) const {
      const auto number = static_cast<std::size_t>(which);
      const retrieval_question& q = data.questions[number];
      std::vector<std::size_t> hard = q.hard;
      if (training) draws(to.key, which).shuffle(std::span(hard));
      put_at(to, 0, of_question(number));
      const std::span<i32> seen = to.named.back();
      for (std::size_t k = 0; k < seen.size(); ++k) {
        seen[k] = k <= hard.size();
        put_at(to, 3 * (1 + k),
               k == 0    ? of_passage(q.right.front())
               : seen[k] ? of_passage(hard[k - 1])
                         : sequence_of(special, {}));
      }
    }
    void put_at(const example& to, std::size_t field, const token_sequence& s) const {
      example part = to;
      part.named = to.named.subspan(field, 3);
      put(part, s, special);
    }
  };

  std::shared_ptr<const state> state_;
};

/// Passages alone with the names of an encoder's inputs, from tables (.tsv, .csv) or objects a line (.jsonl)
/// with a "text" and perhaps a "title" each, which stay on the disk. `setting` is the name of the length.
/// Throws file_error for files that cannot be read and for the first passage without a text, that of others
/// when it is read; std::invalid_argument for a length without room.
inline text_task passages_of(const std::vector<std::string>& files, int length, const tokenizer& by,
                             const char* setting = "max_passage_length") {
  const special_tokens special = special_tokens::of(by);
  check_length(length, special, true, setting);
  const auto all = std::make_shared<const records>(files);
  all->text(0, "text");
  const auto encode = std::make_shared<const piece_encoder>(by);
  text_task t;
  t.vocabulary = by.size(), t.about = fmt::format("{} passages", all->count());
  t.token_types = special.types(true);
  t.data.count = all->count(), t.data.length = length, t.data.named = encoder_fields(length);
  t.data.get = [all, special, encode, length](i64 which, const example& to) {
    const passage p{all->find(which, "title").value_or(""), all->text(which, "text")};
    put(to, detail::sequence_of_passage(special, *encode, p, length), special);
  };
  return t;
}

}  // namespace wsl::ml
