// A model with an encoder and a decoder learns words of which a letter may be missing. The encoder reads one,
// and a beam search finds the words that it may be, the most probable first.
#include <wsl/ml.hpp>
#include <wsl/ml/model/encoder_decoder.hpp>
#include <wsl/ml/write/encoder_decoder_writer.hpp>

#include <cstdio>
#include <string>
using namespace wsl;

// Some are twice as frequent.
const std::vector<std::string> words{"rose", "rose", "rise", "ride", "tide",
                                     "time", "time", "lime", "line", "nine"};
constexpr i32 begin_of_text = 0, end_of_text = 1;
constexpr int letters = 4;

std::vector<i32> numbers(const std::string& s) { return {s.begin(), s.end()}; }
std::string text(std::span<const i32> ids) {
  std::string s;
  for (const i32 id : ids) s += id == end_of_text ? '.' : static_cast<char>(id);
  return s;
}

ml::weights learn(const ml::encoder_decoder& model) {
  std::vector<i32> read, decoded, labels;  // every word, whole and without each of its letters
  for (const std::string& word : words)
    for (int missing = 0; missing <= letters; ++missing) {
      for (int i = 0; i < letters; ++i)
        read.push_back(i == missing ? '?' : word[static_cast<std::size_t>(i)]);
      decoded.push_back(begin_of_text);
      for (const i32 letter : numbers(word)) decoded.push_back(letter), labels.push_back(letter);
      labels.push_back(end_of_text);
    }
  ml::trainer t(model.build(), ml::optimizer::adamw({.beta2 = 0.95f}), {.workers = 2, .clip_norm = 1});
  for (int step = 0; step < 60; ++step)
    t.step({.named = {{"input_ids", std::span<const i32>(read)},
                      {"decoder_input_ids", std::span<const i32>(decoded)},
                      {"labels", std::span<const i32>(labels)}},
            .sequences = static_cast<int>(words.size()) * (letters + 1),
            .length = letters},
           5e-3);
  ml::weights learned(t.model());
  for (std::size_t k = 0; k < learned.size(); ++k)
    learned[k].assign(t.parameters()[k].begin(), t.parameters()[k].end());
  return learned;
}

int main() {
  const ml::encoder_decoder model{.vocabulary = 128, .layers = 1, .heads = 4, .width = 32, .deviation = 0.1f};
  ml::encoder_decoder_writer writer(model, learn(model), {.columns = 2});

  const std::vector<i32> first = numbers("tide"), second = numbers("r?se"), third = numbers("?ime");
  const std::vector<ml::source_text> texts{first, second, third};
  const auto found = writer.write_all(
      texts, {.beams = 2, .max_tokens = letters + 1, .begin = {begin_of_text}, .end = {end_of_text}});
  for (std::size_t k = 0; k < texts.size(); ++k)
    for (const ml::hypothesis& h : found[k])
      if (h.log_probability > -3)
        std::printf("%s -> %s\n", text(texts[k].ids).c_str(), text(h.tokens).c_str());
}
