// SPDX-License-Identifier: MIT
// Classes of texts: an encoder learns from a table whether a film is praised. "not" turns a word into its
// opposite, so that a word alone does not tell. Sentences that it has not seen are judged at the end.
#include <wsl/ml.hpp>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/text/encode/processors.hpp>
#include <wsl/ml/model/encoder.hpp>
#include <wsl/ml/run/metrics/class_metrics.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
using namespace wsl;

// All sentences of a small language, the last of each ten for evaluation.
void write_sentences(const std::string& folder) {
  std::ofstream words(folder + "/vocab.txt"), train(folder + "/train.tsv"), dev(folder + "/dev.tsv");
  words << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nis\nnot\n";
  const char *things[] = {"film", "plot", "cast", "end", "joke", "score"},
             *degrees[] = {"so", "very", "quite", "really", "just"},
             *qualities[] = {"good", "bad", "fine", "dull", "great", "weak"};
  for (const auto& some : {std::span<const char*>(things), {degrees}, {qualities}})
    for (const char* word : some) words << word << '\n';
  for (std::ofstream* file : {&train, &dev}) *file << "sentence\tlabel\n";
  int count = 0;
  for (const char* thing : things)
    for (const char* degree : degrees)
      for (int q = 0; q < 6; ++q)
        for (int negated = 0; negated < 2; ++negated)
          (count++ % 10 == 9 ? dev : train)
              << "The " << thing << " is " << (negated ? "not " : "") << degree << ' ' << qualities[q] << '\t'
              << ((q % 2 == 0) != (negated == 1)) << '\n';
}

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "wsl_text_classes").string();
  std::filesystem::create_directories(folder);
  write_sentences(folder);

  ml::sst2_processor p;
  p.data_dir = {folder}, p.vocab_file = folder + "/vocab.txt", p.do_lower = true, p.max_sequence_length = 10;
  const ml::text_task task = p.task(ml::text_use::training), unseen = p.task(ml::text_use::evaluation);
  std::printf("to train with: %s\nto evaluate:   %s\n", task.about.c_str(), unseen.about.c_str());

  const ml::encoder model{.vocabulary = task.vocabulary,
                          .positions = 10,
                          .layers = 2,
                          .heads = 2,
                          .width = 16,
                          .task = ml::encoder_task::sequence_classes,
                          .classes = task.classes.count()};
  ml::trainer t(model.build(), ml::optimizer::adam());
  ml::batches data(task.data, {.size = 32, .seed = 1});
  for (int step = 0; step < 300; ++step) t.step(data.next().view(), 2e-3);

  ml::batches last(unseen.data, {.size = static_cast<int>(unseen.data.count), .shuffle = false});
  const ml::loaded_batch sentences = last.next();
  const std::vector<f32> scores = t.predict(sentences.view());
  ml::class_metrics right(2);
  for (std::size_t i = 0; i < scores.size() / 2; ++i)
    right.add(scores[2 * i + 1] > scores[2 * i], sentences.by_name.back().numbers[i]);
  std::printf("of the sentences that it has not seen it judges %s\n",
              right.accuracy() > 0.95 ? "all or almost all" : "too few");
  std::filesystem::remove_all(folder);
  return right.accuracy() > 0.95 ? 0 : 1;
}
