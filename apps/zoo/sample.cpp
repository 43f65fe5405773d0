// SPDX-License-Identifier: MIT
#include "sample.hpp"

#include <charconv>
#include <cstdio>
#include <sstream>
#include <wsl/ml/tokenizer/streaming_decoder.hpp>

#include "../files.hpp"
#include "export.hpp"
#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using gpt_app::vocabulary;
using wsl::i32;

/// Tokens as numbers, where there is no tokenizer.
std::vector<i32> numbers_in(const std::string& text, int vocabulary) {
  std::vector<i32> ids;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    i32 id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc{} || end != word.data() + word.size() || id < 0 || id >= vocabulary)
      throw std::invalid_argument(
          "the folder has no tokenizer.json, so a prompt is numbers of tokens from 0 to " +
          std::to_string(vocabulary - 1) + ", and '" + word + "' is none");
    ids.push_back(id);
  }
  return ids;
}

std::string prompt_of(const sampling& s) {
  if (!s.prompt.empty() && !s.prompt_file.empty())
    throw std::invalid_argument("--prompt and --prompt_file both give the prompt: leave one of them out");
  return s.prompt_file.empty() ? s.prompt : app::read_file(s.prompt_file);
}

/// Writes after the prompt, as text or as numbers.
void print_continuation(train_app::machine& t, const options& o, const ml::tokenizer* words,
                        const vocabulary& letters, int positions) {
  const sampling& s = o.sample;
  const std::string prompt = prompt_of(s);
  const ml::network& model = t.run().model();
  const int tokens = model.width(model.logits());
  const int known = words ? words->size() : letters.size();
  std::vector<i32> ids = prompt.empty()   ? std::vector<i32>{}
                         : words          ? words->encode(prompt)
                         : letters.size() ? letters.encode(prompt)
                                          : numbers_in(prompt, tokens);
  if (ids.empty()) ids.push_back(words && words->begin_of_text() ? *words->begin_of_text() : 0);
  for (const i32 id : ids)
    if (id >= tokens)
      throw std::invalid_argument("token " + std::to_string(id) + " of the prompt is beyond the model's " +
                                  std::to_string(tokens) + ": its tokenizer.json is of another model");
  std::optional<ml::streaming_decoder> stream;
  if (words) stream.emplace(*words);
  const auto print = [&](i32 id) {
    const std::string text = stream ? stream->put(id) : letters.decode({&id, 1});
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  };
  for (const i32 id : ids) print(id);
  gpt_app::write_tokens(t,
                        {.prompt = ids,
                         .tokens = s.tokens,
                         .how = {.temperature = s.temperature, .top_k = s.top_k, .top_p = s.top_p},
                         .seed = static_cast<wsl::u64>(s.seed),
                         .positions = positions,
                         .known_tokens = std::min(known, tokens)},
                        print);
  if (stream) std::fputs(stream->finish().c_str(), stdout);
  std::puts("");
}

}  // namespace

void sample(options& o) {
  if (o.hf.empty()) {
    vocabulary letters;
    const auto t = gpt_app::trained(o, letters);
    train_app::with_average(o.common.optimizer, *t, [&] {
      print_continuation(*t, o, nullptr, letters, o.model.max_position_embeddings);
    });
    return;
  }
  const stored_model m = read_hugging_face_model(o.hf);
  const auto t = train_app::ranks::streaming(m.config.build(), ml::optimizer::sgd(),
                                             {.workers = 1, .columns = 1, .threads = o.common.run.threads});
  gpt_app::set_weights(t->run(), m.numbers);
  std::optional<ml::tokenizer> words;
  if (std::filesystem::exists(o.hf + "/tokenizer.json"))
    words = ml::tokenizer::from_file(o.hf + "/tokenizer.json");
  print_continuation(*t, o, words ? &*words : nullptr, {}, m.config.positions);
}

}  // namespace zoo_app
