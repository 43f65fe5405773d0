// SPDX-License-Identifier: MIT
#include "packing.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

namespace gpt_app {

namespace ml = wsl::ml;
using wsl::i32;
using wsl::i64;

namespace {

constexpr const char* packed_fact = "data.packed";

i32 token_between(const vocabulary& words, const std::string& token) {
  const auto lacks = [](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("pack_sequences needs the token between the documents of a text: {}", why));
  };
  if (words.tokens()) {
    const std::optional<i32> id = token.empty() ? words.end_of_text() : words.id(token);
    if (!id)
      lacks(token.empty() ? "the tokenizer has none that ends a text; name one with --end_token"
                          : fmt::format("the tokenizer has no token '{}', which end_token names", token));
    return *id;
  }
  const std::string name = !token.empty()            ? token
                           : words.saved() == "gpt2" ? "50256"
                           : words.saved().empty()   ? ""
                                                     : "\n";
  if (name.empty()) lacks("nobody says which number it is; name it with --end_token, such as 50256");
  std::vector<i32> ids;
  try {
    ids = words.encode(name);
  } catch (const std::invalid_argument&) {
    // Of a vocabulary without the end of a line, or a name where tokens are numbers.
  }
  if (ids.size() != 1)
    lacks(fmt::format("'{}' is none of the vocabulary; name another one with --end_token",
                      name == "\n" ? "\\n" : name));
  return ids.front();
}

}  // namespace

ml::text_by_name packs::facts() const {
  return train ? ml::text_by_name{{packed_fact, "true"}} : ml::text_by_name{};
}

void require_same_packing(const std::string& checkpoint, const packs& ours) {
  const bool theirs = ml::checkpoint(checkpoint).facts().contains(packed_fact);
  if (theirs != ours.train)
    throw std::invalid_argument(fmt::format(
        "{} was trained {} several documents in a sequence, and these params have train_input.pack_sequences "
        "{}: go on with --train_input.pack_sequences {}, or begin a run with its weights alone: "
        "--checkpoint_path {} --load_checkpoint_states model and another --model_dir",
        checkpoint, theirs ? "with" : "without", ours.train, theirs, checkpoint));
}

arranged arrange(const ml::documents& from, int length, i32 padding, bool packed) {
  if (!packed) return {.data = ml::padded_documents(from, length, padding), .about = {}};
  // The longest first leaves the least padding; epochs draw the sequences in an order of their own.
  const ml::packed_documents x(
      from, {.length = length, .padding = padding, .order = ml::packing_order::longest_first});
  return {.data = x.data(), .about = x.about()};
}

parted_text documents_of(const ml::tokens& text, const vocabulary& words, const std::string& token,
                         int length, const std::string& section) {
  const i32 between = token_between(words, token);
  bool is_there = false;
  for (i64 t = 0; t < text.size() && !is_there; ++t) is_there = text[t] == between;
  if (!is_there)
    throw std::invalid_argument(fmt::format(
        "{}.pack_sequences: the text has no token {} between documents, so it is one: leave "
        "pack_sequences out, name another token with --end_token, or let `wsl-data tokenize` put it "
        "between",
        section, between));
  return {ml::documents_in(text, between, length), between};
}

}  // namespace gpt_app
