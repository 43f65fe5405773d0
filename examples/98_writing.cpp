// SPDX-License-Identifier: MIT
// A model that has learned a sentence letter by letter writes it. Keys and values stay on the fabric, so each
// letter costs one pass through the weights however long the text is; two columns of PEs share them out.
#include <wsl/ml.hpp>
#include <wsl/ml/write/writer.hpp>

#include <cstdio>
#include <string>
using namespace wsl;

constexpr int length = 48;
const std::string song = "a rose is a rose is a rose, and the wafer is wide. ";

std::vector<i32> letters(std::size_t from, std::size_t n) {
  std::vector<i32> ids;
  for (std::size_t i = 0; i < n; ++i) ids.push_back(song[(from + i) % song.size()]);
  return ids;
}
std::string words(std::span<const i32> ids) { return {ids.begin(), ids.end()}; }

ml::weights learn(const ml::decoder& model) {
  ml::trainer t(model.build(), ml::optimizer::adamw({.beta2 = 0.95f}), {.workers = 2, .clip_norm = 1});
  const ml::rate::schedule rate = ml::rate::cosine(1e-2, 0, 300);
  for (std::size_t step = 0; step < 300; ++step) {
    const std::vector<i32> ids = letters(7 * step, 2 * length), next = letters(7 * step + 1, 2 * length);
    t.step({.ids = ids, .targets = next, .sequences = 2, .length = length}, rate(t.steps()));
  }
  ml::weights learned(t.model());
  for (std::size_t k = 0; k < learned.size(); ++k)
    learned[k].assign(t.parameters()[k].begin(), t.parameters()[k].end());
  return learned;
}

int main() {
  const ml::decoder model{
      .vocabulary = 128, .positions = length, .layers = 2, .heads = 4, .width = 32, .deviation = 0.08f};
  ml::writer writer(model, learn(model), {.columns = 2});

  // Each letter as it is drawn; temperature 0 takes the argmax.
  const std::vector<i32> begin = letters(22, 10), middle = letters(24, 8);
  std::printf("%s|", words(begin).c_str());
  writer.write(begin, {.max_tokens = 24, .temperature = 0},
               [](const ml::written_token& t) { std::putchar(t.id); });
  std::puts("");

  // Several texts side by side, which end with a string.
  ml::text_settings how{.max_tokens = 40, .temperature = 0.5, .top_k = 5, .samples = 2};
  how.stop_strings = {"wide."}, how.text_of = words;
  for (const ml::written_text& t : writer.write(middle, how))
    std::printf("%s|%s (%s)\n", words(middle).c_str(), words(t.tokens).c_str(), name_of(t.end).data());
}
