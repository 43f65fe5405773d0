// SPDX-License-Identifier: MIT
#include "loaded.hpp"

#include <algorithm>

#include "export.hpp"
#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::i32;

/// The tokenizer of a folder, if it has one.
std::optional<ml::tokenizer> tokenizer_in(const std::string& folder) {
  for (const char* file : {"/tokenizer.json", "/tokenizer.model", "/merges.txt", "/vocab.bpe"})
    if (std::filesystem::exists(folder + file)) return ml::tokenizer::from_file(folder);
  return {};
}

}  // namespace

int loaded_model::tokens() const {
  const ml::network& n = on->run().model();
  return n.width(n.logits());
}

std::vector<i32> loaded_model::encode(const std::string& text, bool specials) const {
  const std::vector<i32> ids =
      words ? words->encode(text, {.add_special_tokens = specials}) : letters.encode(text);
  for (const i32 id : ids)
    if (id >= tokens())
      throw std::invalid_argument("token " + std::to_string(id) + " of the text is beyond the model's " +
                                  std::to_string(tokens()) +
                                  (words ? ": its tokenizer is of another model" : ": give others"));
  return ids;
}

i32 loaded_model::first_token() const {
  return words && words->begin_of_text() && *words->begin_of_text() < tokens() ? *words->begin_of_text() : 0;
}

loaded_model load_model(options& o) {
  loaded_model l;
  if (o.hf.empty()) {
    l.on = gpt_app::trained(o, l.letters);
    l.positions = o.model.max_position_embeddings;
    return l;
  }
  const stored_model m = read_hugging_face_model(o.hf);
  l.on = train_app::ranks::streaming(m.config.build(), ml::optimizer::sgd(),
                                     {.workers = 1, .columns = 1, .threads = o.common.run.threads});
  gpt_app::set_weights(l.on->run(), m.numbers);
  l.words = tokenizer_in(o.hf);
  l.positions = m.config.positions;
  return l;
}

}  // namespace zoo_app
