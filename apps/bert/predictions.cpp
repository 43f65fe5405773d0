// SPDX-License-Identifier: MIT
#include "predictions.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/run/metrics/answers.hpp>
#include <wsl/ml/run/metrics/class_metrics.hpp>
#include <wsl/ml/run/metrics/entities.hpp>
#include <wsl/ml/run/sample.hpp>
#include <wsl/support/progress.hpp>

#include "file_of_predictions.hpp"
#include "text_run.hpp"

namespace bert_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::i32;
using wsl::i64;

/// The numbers of an example that a batch has under a name.
std::span<const i32> numbers_of(const ml::loaded_batch& b, const char* name, int example) {
  for (const ml::loaded_batch::named& x : b.by_name)
    if (x.name == name) {
      const std::size_t each = x.numbers.size() / static_cast<std::size_t>(b.sequences);
      return std::span<const i32>(x.numbers).subspan(static_cast<std::size_t>(example) * each, each);
    }
  throw std::invalid_argument(fmt::format("the data have no {}", name));
}

/// Calls f(batch, number of an example in it, its logits) for all examples in their order.
void each_example(train_app::machine& m, const ml::dataset& data, int batch_size,
                  const std::function<void(const ml::loaded_batch&, int, std::span<const f32>)>& f) {
  ml::batches all(data, {.size = static_cast<int>(std::min<i64>(batch_size, data.count)),
                         .shuffle = false,
                         .drop_last = false});
  wsl::support::progress bar("batches", static_cast<wsl::u64>(all.per_epoch()));
  for (i64 k = 0; k < all.per_epoch(); ++k) {
    const ml::loaded_batch b = all.next();
    const std::vector<f32> logits = m.predict(without_targets(m.run().model(), b.view()));
    const std::size_t each = logits.size() / static_cast<std::size_t>(b.sequences);
    for (int e = 0; e < b.sequences; ++e)
      f(b, e, std::span(logits).subspan(static_cast<std::size_t>(e) * each, each));
    bar.tick();
  }
}

/// The name of a class; its number if the classes have none.
std::string name_of(const ml::label_map& classes, i32 number) {
  return number < classes.count() ? classes.name(number) : std::to_string(number);
}
/// The texts of an example as further columns.
std::string columns_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& x : texts) all += fmt::format("\t{}", text_app::as_field(x));
  return all;
}
void say_without_labels(i64 without, i64 all, const char* what) {
  if (without)
    std::printf("%lld of %lld %s have no labels and are not judged\n", static_cast<long long>(without),
                static_cast<long long>(all), what);
}

/// Sequences with a class each.
std::string classes_of_sequences(train_app::machine& m, const ml::text_task& from, int batch_size) {
  const ml::label_map& classes = from.classes;
  ml::class_metrics found(m.run().model().width(m.run().model().logits()));
  i64 number = 0;
  std::string lines = "index\tprediction\tlabel\ttext";
  for (std::size_t k = 2; k <= from.source(0).texts.size(); ++k) lines += fmt::format("\ttext {}", k);
  lines += "\n";
  each_example(m, from.data, batch_size, [&](const ml::loaded_batch& b, int e, std::span<const f32> logits) {
    const i32 said = ml::argmax(logits), right = numbers_of(b, "labels", e)[0];
    const bool is_judged = right != ml::encoder::no_label;
    lines += fmt::format("{}\t{}\t{}{}\n", number, name_of(classes, said),
                         is_judged ? name_of(classes, right) : "", columns_of(from.source(number).texts));
    if (is_judged) found.add(said, right);
    ++number;
  });
  say_without_labels(number - found.count(), number, "texts");
  if (found.count())
    std::printf("accuracy %.4f, %s %.4f, Matthews' correlation %.4f, of %lld texts\n", found.accuracy(),
                classes.count() == 2 ? "F1" : "macro F1",
                classes.count() == 2 ? found.f1(1) : found.macro_f1(), found.matthews(),
                static_cast<long long>(found.count()));
  return lines;
}

/// Tokens with a class each: tags of words, or whether a sentence belongs to a summary. A word or sentence
/// without room in a sequence is predicted as the class that says nothing, O or 0, so that the measures count
/// what it is as missed; where there is no such class it is left out.
std::string classes_of_tokens(train_app::machine& m, const ml::text_task& from, int batch_size) {
  const ml::label_map& classes = from.classes;
  const auto each = static_cast<std::size_t>(m.run().model().width(m.run().model().logits()));
  const bool are_entities = classes.count() > 0 && classes.find("O").has_value();
  const std::optional<i32> nothing = classes.count() ? classes.find("O") : std::optional<i32>(0);
  ml::class_metrics found(static_cast<int>(each));
  ml::entity_metrics entities;
  i64 number = 0, without = 0, lost = 0;
  std::string lines;
  each_example(m, from.data, batch_size, [&](const ml::loaded_batch& b, int e, std::span<const f32> logits) {
    const std::span<const i32> labels = numbers_of(b, "labels", e);
    std::vector<std::optional<i32>> said;
    for (std::size_t t = 0; t < labels.size(); ++t)
      if (labels[t] != ml::encoder::no_label) said.push_back(ml::argmax(logits.subspan(t * each, each)));
    const ml::text_source all = from.source(number++);
    lost += std::ssize(all.texts) - std::ssize(said);
    said.resize(all.texts.size(), nothing);
    std::vector<std::string> predicted, right;
    for (std::size_t k = 0; k < all.texts.size(); ++k) {
      const std::string guess = said[k] ? name_of(classes, *said[k]) : "";
      lines += fmt::format("{}{}\t{}\n", text_app::as_field(all.texts[k]),
                           all.labels.empty() ? "" : fmt::format("\t{}", all.labels[k]), guess);
      if (all.labels.empty() || !said[k]) continue;
      const i32 label = classes.count() ? classes.find(all.labels[k]).value() : std::stoi(all.labels[k]);
      found.add(*said[k], label);
      predicted.push_back(guess), right.push_back(name_of(classes, label));
    }
    lines += "\n";
    without += all.labels.empty();
    if (are_entities) entities.add(predicted, right);
  });
  if (lost)
    std::printf("%lld words or sentences have no room in max_sequence_length and are %s\n",
                static_cast<long long>(lost),
                nothing ? fmt::format("counted as {}", name_of(classes, *nothing)).c_str() : "left out");
  say_without_labels(without, number, "examples");
  if (!found.count()) return lines;
  if (are_entities) {
    const ml::entity_scores all = entities.all();
    std::printf("entities: precision %.4f, recall %.4f, F1 %.4f; accuracy of tags %.4f\n", all.precision(),
                all.recall(), all.f1(), found.accuracy());
  } else
    std::printf("accuracy %.4f, precision %.4f, recall %.4f, F1 %.4f of class 1\n", found.accuracy(),
                found.precision(1), found.recall(1), found.f1(1));
  return lines;
}

/// Answers as SQuAD's program reads them, and the same beside their questions as a table.
struct said_answers {
  std::string json, table;
};
said_answers answers(train_app::machine& m, const ml::text_task& from, const ml::qa_processor& by,
                     int batch_size) {
  std::vector<ml::window_scores> scores;
  each_example(m, from.data, batch_size, [&](const ml::loaded_batch&, int, std::span<const f32> logits) {
    ml::window_scores& w = scores.emplace_back();
    for (std::size_t t = 0; t < logits.size(); t += 2)
      w.first.push_back(logits[t]), w.last.push_back(logits[t + 1]);
  });
  const ml::asked_questions asked = by.asked(ml::text_use::prediction);
  ml::answer_metrics found;
  nlohmann::json said = nlohmann::json::object();
  std::string lines = "id\tprediction\tanswer\tquestion\n";
  for (std::size_t q = 0; q < asked.questions().size(); ++q) {
    const auto [first, windows] = asked.examples_of(q);
    const auto best = asked.answers(q, std::span(scores).subspan(static_cast<std::size_t>(first), windows),
                                    by.of_answers());
    const ml::squad_question& question = asked.questions()[q];
    const std::string text = best.empty() ? "" : best.front().text;
    said[question.id] = text;
    std::vector<std::string> right;
    for (const ml::squad_answer& a : question.answers) right.push_back(a.text);
    lines += fmt::format("{}{}\n", question.id,
                         columns_of({text, right.empty() ? "" : right.front(), question.text}));
    if (question.is_answered && (by.version_2_with_negative || !right.empty())) found.add(text, right);
  }
  const i64 all = std::ssize(asked.questions());
  if (const i64 without = all - found.count())
    std::printf("%lld of %lld questions have no answers and are not judged\n",
                static_cast<long long>(without), static_cast<long long>(all));
  if (found.count())
    std::printf("exact match %.2f %%, F1 %.2f %% of %lld questions\n", 100 * found.exact_match(),
                100 * found.f1(), static_cast<long long>(found.count()));
  return {fmt::format("{}\n", said.dump(2)), lines};
}

}  // namespace

void predict(train_app::machine& m, const ml::text_task& from, const ml::text_processor& by,
             ml::encoder_task task, int batch_size, const train_app::fields& f, const std::string& file) {
  train_app::file_of_predictions out(f, file);
  std::printf("%s\n", from.about.c_str());
  std::string text;
  switch (task) {
    case ml::encoder_task::masked_words:
    case ml::encoder_task::next_sentence:
      throw std::invalid_argument(
          "predict is of fine-tuned encoders: what one says of hidden words, the mode eval measures");
    case ml::encoder_task::sequence_classes: text = classes_of_sequences(m, from, batch_size); break;
    case ml::encoder_task::token_classes: text = classes_of_tokens(m, from, batch_size); break;
    case ml::encoder_task::span: {
      train_app::file_of_predictions table(f, std::filesystem::path(file).replace_extension(".tsv").string());
      said_answers said = answers(m, from, std::get<ml::qa_processor>(by), batch_size);
      text = std::move(said.json);
      if (table.name() != file) table.write(said.table);
      break;
    }
  }
  out.write(text);
}

}  // namespace bert_app
