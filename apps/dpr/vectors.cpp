// SPDX-License-Identifier: MIT
#include "vectors.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <ranks.hpp>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/run/metrics/retrieval.hpp>
#include <wsl/support/progress.hpp>

#include "file_of_predictions.hpp"

namespace dpr_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::f64;
using wsl::i64;

/// Calls f with the vectors of some examples at a time, (examples, width), by one of the encoders.
void each_vectors(train_app::machine& trained, const ml::dual_encoder& pair, bool of_questions,
                  ml::text_task from, const train_app::common_params& p,
                  const std::function<void(std::span<const f32>)>& f) {
  const ml::encoder& e = of_questions ? pair.questions : pair.passages;
  if (!e.token_types) from = ml::without(std::move(from), "token_type_ids");
  const auto half = train_app::ranks::streaming(
      pair.build_half(of_questions), ml::optimizer::sgd(),
      {.workers = 1, .threads = p.run.threads, .precision = p.precision.format(), .loss_scaling = 1.});
  for (const ml::parameter& a : half->run().model().parameters())
    std::ranges::copy(trained.run().parameter_named(a.name), half->run().parameter_named(a.name).begin());
  const int batch_size = static_cast<int>(std::min<i64>(p.eval_input.batch_size, from.data.count));
  ml::batches all(from.data, {.size = batch_size, .shuffle = false, .drop_last = false});
  wsl::support::progress bar(of_questions ? "batches of questions" : "batches of passages",
                             static_cast<wsl::u64>(all.per_epoch()));
  for (i64 k = 0; k < all.per_epoch(); ++k) {
    const ml::loaded_batch b = all.next();
    f(half->predict(b.view()));
    bar.tick();
  }
}
std::vector<f32> vectors_of(train_app::machine& trained, const ml::dual_encoder& pair, bool of_questions,
                            ml::text_task from, const train_app::common_params& p) {
  std::vector<f32> vectors;
  each_vectors(trained, pair, of_questions, std::move(from), p,
               [&](std::span<const f32> some) { vectors.insert(vectors.end(), some.begin(), some.end()); });
  return vectors;
}

/// The beginning of a file of numpy's format, version 1.0: (rows, columns) of little-endian f32 follow.
std::string npy_header(i64 rows, int columns) {
  static_assert(std::endian::native == std::endian::little);
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t before = 10, multiple = 64;
  header.append(multiple - (before + header.size() + 1) % multiple, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() % 256), file += static_cast<char>(header.size() / 256);
  return file += header;
}
std::string_view bytes_of(std::span<const f32> x) {
  return {reinterpret_cast<const char*>(x.data()), x.size() * sizeof(f32)};
}

/// The part of the questions of which a right passage has the largest score in a batch, whose passages are
/// those that the loss compares.
f64 accuracy_in_batches(const ml::retrieval_data& data, std::span<const f32> questions,
                        const wsl::matrix<const f32>& passages, const search_settings& how) {
  const auto width = static_cast<std::size_t>(passages.columns()),
             size = static_cast<std::size_t>(how.batch_size),
             hard = static_cast<std::size_t>(how.passages_of_question - 1);
  ml::retrieval_metrics found({1});
  for (std::size_t from = 0; from < data.questions.size(); from += size) {
    const std::size_t end = std::min(from + size, data.questions.size());
    std::vector<f32> of_batch;
    std::vector<std::size_t> numbers;
    const auto add = [&](std::size_t passage) {
      const f32* const row = passages.row(static_cast<int>(passage));
      of_batch.insert(of_batch.end(), row, row + width);
      numbers.push_back(passage);
    };
    for (std::size_t q = from; q < end; ++q) {
      const ml::retrieval_question& x = data.questions[q];
      add(x.right.front());
      std::for_each_n(x.hard.begin(), std::min(hard, x.hard.size()), add);
    }
    const wsl::matrix<const f32> all(of_batch.data(), static_cast<int>(numbers.size()), passages.columns());
    for (std::size_t q = from; q < end; ++q) {
      std::vector<ml::scored_passage> best = ml::best_passages(questions.subspan(q * width, width), all, 1);
      best.front().number = numbers[best.front().number];
      found.add(best, data.questions[q].right);
    }
  }
  return found.recall(0);
}

}  // namespace

void predict(train_app::machine& trained, const ml::dual_encoder& pair, const ml::retrieved_text& texts,
             const train_app::fields& f, const train_app::common_params& p, const search_settings& how,
             const std::string& folder) {
  const auto file = [&](const char* name) {
    return train_app::file_of_predictions(f, fmt::format("{}/{}", folder, name));
  };
  train_app::file_of_predictions questions_file = file("questions.npy"), passages_file = file("passages.npy"),
                                 found_file = file("predictions.jsonl");
  const ml::retrieval_data& data = texts.data();
  const std::vector<f32> of_passages = vectors_of(trained, pair, false, texts.passages(), p),
                         of_questions = vectors_of(trained, pair, true, texts.questions(), p);
  const auto width = static_cast<std::size_t>(pair.width());
  const wsl::matrix<const f32> passages(of_passages.data(), static_cast<int>(data.passages.size()),
                                        pair.width());
  ml::retrieval_metrics found({1, 5, 20});
  std::string lines;
  for (std::size_t q = 0; q < data.questions.size(); ++q) {
    const ml::retrieval_question& question = data.questions[q];
    const auto best =
        ml::best_passages(std::span(of_questions).subspan(q * width, width), passages,
                          std::max<std::size_t>(static_cast<std::size_t>(how.best), found.numbers().back()));
    found.add(best, question.right);
    nlohmann::json line{{"question", question.text}, {"ctxs", nlohmann::json::array()}};
    for (std::size_t k = 0; k < std::min(best.size(), static_cast<std::size_t>(how.best)); ++k) {
      const ml::passage& x = data.passages[best[k].number];
      line["ctxs"].push_back(
          {{"id", best[k].number},
           {"title", x.title},
           {"text", x.text},
           {"score", best[k].score},
           {"is_right", std::ranges::find(question.right, best[k].number) != question.right.end()}});
    }
    lines += line.dump() + "\n";
  }
  std::printf(
      "accuracy in batches of %d %.4f; recall@1 %.4f, recall@5 %.4f, recall@20 %.4f of %lld "
      "questions in %zu passages\n",
      how.batch_size, accuracy_in_batches(data, of_questions, passages, how), found.recall(0),
      found.recall(1), found.recall(2), static_cast<long long>(found.count()), data.passages.size());
  questions_file.add(npy_header(std::ssize(data.questions), pair.width()));
  questions_file.write(bytes_of(of_questions));
  passages_file.add(npy_header(std::ssize(data.passages), pair.width()));
  passages_file.write(bytes_of(of_passages));
  found_file.write(lines);
}

void encode_passages(train_app::machine& trained, const ml::dual_encoder& pair, const ml::text_task& passages,
                     const train_app::fields& f, const train_app::common_params& p,
                     const std::string& folder) {
  train_app::file_of_predictions out(f, fmt::format("{}/passages.npy", folder));
  std::printf("%s\n", passages.about.c_str());
  out.add(npy_header(passages.data.count, pair.width()));
  each_vectors(trained, pair, false, passages, p,
               [&](std::span<const f32> some) { out.add(bytes_of(some)); });
  out.finish();
}

}  // namespace dpr_app
