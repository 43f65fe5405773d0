// SPDX-License-Identifier: MIT
#include "loaded.hpp"

#include <algorithm>

#include "export.hpp"
#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::i32;

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
  std::vector<i32> known;
  if (words)
    for (const std::optional<i32> id : {words->begin_of_text(), words->end_of_text()})
      if (id) known.push_back(*id);
  for (const std::vector<i32>* more : {&begins, &ends}) known.insert(known.end(), more->begin(), more->end());
  for (const i32 id : known)
    if (id >= 0 && id < tokens()) return id;
  return 0;
}

loaded_model load_model(options& o) {
  loaded_model l;
  if (o.hf.empty()) {
    l.on = gpt_app::trained(o, l.letters);
    l.positions = o.model.max_position_embeddings;
    l.name = o.common.run.checkpoint_path.empty() ? o.common.run.model_dir : o.common.run.checkpoint_path;
    return l;
  }
  const stored_model m = read_hugging_face_model(o.hf);
  l.on = train_app::ranks::streaming(m.config.build(), ml::optimizer::sgd(),
                                     {.workers = 1,
                                      .columns = 1,
                                      .threads = o.common.run.threads,
                                      .precision = o.common.precision.format(),
                                      .loss_scaling = 1.});
  gpt_app::set_weights(l.on->run(), o.lora.adapter.empty()
                                        ? m.numbers
                                        : gpt_app::folded(o.lora.adapter, m.config, m.model_type, m.numbers));
  if (!o.train.tokenizer_dir.empty()) l.words = ml::tokenizer::from_file(o.train.tokenizer_dir);
  l.positions = m.config.positions, l.name = o.hf;
  l.begins = gpt_app::tokens_in(o.hf, "bos_token_id"), l.ends = gpt_app::tokens_in(o.hf, "eos_token_id");
  return l;
}

}  // namespace zoo_app
