// SPDX-License-Identifier: MIT
#include "sample.hpp"

#include <cstdio>
#include <wsl/ml/tokenizer/streaming_decoder.hpp>

#include "../files.hpp"
#include "loaded.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::i32;

std::string prompt_of(const sampling& s) {
  if (!s.prompt.empty() && !s.prompt_file.empty())
    throw std::invalid_argument("--prompt and --prompt_file both give the prompt: leave one of them out");
  return s.prompt_file.empty() ? s.prompt : app::read_file(s.prompt_file);
}

/// Writes after the prompt, as text or as numbers.
void print_continuation(const loaded_model& m, const sampling& s) {
  const std::string prompt = prompt_of(s);
  std::vector<i32> ids = prompt.empty() ? std::vector<i32>{} : m.encode(prompt, true);
  if (ids.empty()) ids.push_back(m.first_token());
  std::optional<ml::streaming_decoder> stream;
  if (m.words) stream.emplace(*m.words);
  const auto print = [&](i32 id) {
    const std::string text = stream ? stream->put(id) : m.letters.decode({&id, 1});
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  };
  for (const i32 id : ids) print(id);
  gpt_app::write_tokens(*m.on,
                        {.prompt = ids,
                         .tokens = s.tokens,
                         .how = {.temperature = s.temperature, .top_k = s.top_k, .top_p = s.top_p},
                         .seed = static_cast<wsl::u64>(s.seed),
                         .positions = m.positions,
                         .known_tokens = m.known_tokens()},
                        print);
  if (stream) std::fputs(stream->finish().c_str(), stdout);
  std::puts("");
}

}  // namespace

void sample(options& o) {
  const loaded_model m = load_model(o);
  with_average(o, m, [&] { print_continuation(m, o.sample); });
}

}  // namespace zoo_app
