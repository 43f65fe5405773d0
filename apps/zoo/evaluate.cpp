// SPDX-License-Identifier: MIT
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <wsl/ml/data/utf8.hpp>
#include <wsl/ml/run/sample.hpp>
#include <wsl/ml/tokenizer/unicode.hpp>

#include "loaded.hpp"
#include "questions.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::f64;
using wsl::i32;

/// The logarithm of the probability of a token.
f64 log_probability(std::span<const f32> logits, i32 token) {
  const f64 largest = static_cast<f64>(*std::max_element(logits.begin(), logits.end()));
  f64 sum = 0;
  for (const f32 x : logits) sum += std::exp(static_cast<f64>(x) - largest);
  return static_cast<f64>(logits[static_cast<std::size_t>(token)]) - largest - std::log(sum);
}

/// The logarithm of the probability of tokens after a context, and whether each is the argmax.
struct likelihood {
  f64 log = 0;
  bool is_greedy = true, is_cut = false;  ///< whether the context has lost its beginning
};
/// The context loses its beginning if both together are longer than the model's sequences.
likelihood likelihood_of(const loaded_model& m, std::span<const i32> text, std::size_t first) {
  const std::size_t most = static_cast<std::size_t>(m.positions) + 1;  // the last token is only predicted
  if (text.size() - first >= most)
    throw std::invalid_argument("an answer has " + std::to_string(text.size() - first) +
                                " tokens, and the model's sequences " + std::to_string(m.positions) +
                                ": leave this question out, or take a model of longer sequences");
  const std::size_t left_out = text.size() > most ? text.size() - most : 0;
  first -= left_out, text = text.subspan(left_out);
  const std::size_t length = text.size() - 1, all = static_cast<std::size_t>(m.tokens());
  const std::vector<f32> logits =
      m.on->predict({.ids = text.first(length), .sequences = 1, .length = static_cast<int>(length)});
  likelihood l{.is_cut = left_out > 0};
  for (std::size_t t = first; t < text.size(); ++t) {
    const auto at = std::span(logits).subspan((t - 1) * all, all);
    ml::check_logits(at);
    l.log += log_probability(at, text[t]);
    l.is_greedy = l.is_greedy && ml::argmax(at) == text[t];
  }
  return l;
}

/// Each token but the first is predicted once, from those before it in its window.
void print_perplexity(const loaded_model& m, const evaluation& e) {
  if (e.window > m.positions)
    throw std::invalid_argument("--window " + std::to_string(e.window) + " is more than the " +
                                std::to_string(m.positions) + " tokens of the model's sequences");
  const std::vector<i32> text = m.encode(ml::read_text(e.text), true);
  if (text.size() < 2)
    throw std::invalid_argument("--text " + e.text +
                                " has fewer than two tokens, so there is none to predict");
  const std::size_t window = static_cast<std::size_t>(e.window ? e.window : m.positions);
  f64 log = 0;
  for (std::size_t first = 0; first + 1 < text.size(); first += window) {
    const std::size_t length = std::min(window, text.size() - 1 - first);
    log += likelihood_of(m, std::span(text).subspan(first, length + 1), 1).log;
  }
  const f64 loss = -log / static_cast<f64>(text.size() - 1);
  std::printf("%s: %zu tokens, loss %.5f, perplexity %.4f\n", e.text.c_str(), text.size(), loss,
              std::exp(loss));
}

/// The bytes of a text of UTF-8 without the blanks at its end.
std::size_t length_without_blanks(const std::string& text) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size();)
    if (!ml::unicode::is_space(ml::unicode::next(text, at))) length = at;
  return length;
}

/// The likelihood of an answer, whose tokens are those by which both together have more than the context.
/// Blanks at the end of the context are the answer's, as lm-evaluation-harness has it, since tokens begin
/// with blanks.
likelihood likelihood_of(const loaded_model& m, const question& q, const std::string& answer) {
  const std::vector<i32> context = m.encode(q.context.substr(0, length_without_blanks(q.context)));
  std::vector<i32> text = m.encode(q.context + answer);
  std::size_t first = context.size();
  if (first == 0) text.insert(text.begin(), m.first_token()), first = 1;
  if (text.size() <= first)
    throw std::invalid_argument("the answer '" + answer + "' has no tokens of its own");
  return likelihood_of(m, text, first);
}

/// The same; a mistake is of the question's line.
likelihood placed_likelihood_of(const loaded_model& m, const question& q, const std::string& answer) {
  try {
    return likelihood_of(m, q, answer);
  } catch (const ml::not_finite&) { throw; } catch (const std::invalid_argument& e) {
    const std::string sentence = e.what();
    throw ml::file_error(q.place + ": " + sentence.substr(sentence.starts_with("wsl: ") ? 5 : 0));
  }
}

/// The characters of a text of UTF-8.
f64 characters_in(const std::string& text) {
  return static_cast<f64>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void print_answers(const loaded_model& m, const evaluation& e) {
  const std::vector<question> all = read_questions(e.choices, e.limit);
  int right = 0, right_by_length = 0, words = 0, right_words = 0, cut = 0;
  f64 log_of_words = 0;
  for (const question& q : all) {
    std::vector<f64> logs, by_length;
    likelihood l;
    bool is_cut = false;
    for (const std::string& answer : q.answers) {
      l = placed_likelihood_of(m, q, answer), is_cut |= l.is_cut;
      logs.push_back(l.log), by_length.push_back(l.log / std::max(characters_in(answer) - 1, 1.));
    }
    cut += is_cut;
    if (q.answers.size() == 1) {
      ++words, right_words += l.is_greedy, log_of_words += l.log;
      continue;
    }
    const auto best = [](const std::vector<f64>& x) {
      return static_cast<int>(std::max_element(x.begin(), x.end()) - x.begin());
    };
    right += best(logs) == q.right, right_by_length += best(by_length) == q.right;
  }
  if (cut)
    std::fprintf(stderr,
                 "%s: %d contexts were too long for the model's %d tokens, and have lost their beginning.\n",
                 e.choices.c_str(), cut, m.positions);
  const int choices = static_cast<int>(all.size()) - words;
  const auto part = [](int n, int of) { return static_cast<f64>(n) / of; };
  if (choices)
    std::printf("%s: %d questions, acc %.4f, acc_norm %.4f\n", e.choices.c_str(), choices,
                part(right, choices), part(right_by_length, choices));
  if (words)
    std::printf("%s: %d last words, acc %.4f, perplexity %.4f\n", e.choices.c_str(), words,
                part(right_words, words), std::exp(-log_of_words / words));
}

}  // namespace

void evaluate(options& o) {
  const loaded_model m = load_model(o);
  try {
    with_average(o, m, [&] {
      if (!o.eval_of.text.empty()) print_perplexity(m, o.eval_of);
      if (!o.eval_of.choices.empty()) print_answers(m, o.eval_of);
    });
  } catch (const ml::not_finite& e) { throw ml::file_error(m.name + ": " + std::string(e.what()).substr(5)); }
}

}  // namespace zoo_app
