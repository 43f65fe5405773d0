// SPDX-License-Identifier: MIT
// One or two texts as the sequence that an encoder takes, with the special tokens of its tokenizer:
//   BERT      [CLS] first [SEP]      [CLS] first [SEP] second [SEP]
//   RoBERTa   <s> first </s>         <s> first </s> </s> second </s>
#pragma once
#include <fmt/format.h>

#include <array>
#include <span>
#include <stdexcept>

#include "../text_task.hpp"
#include "pieces.hpp"

namespace wsl::ml {

/// The special tokens of an encoder, found by the names that BERT or RoBERTa give them.
struct special_tokens {
  i32 begin = 0, separator = 0, padding = 0, unknown = 0, mask = 0;
  bool doubles_separator = false;  ///< RoBERTa, which does not tell the texts of a pair apart by types either

  /// Throws std::invalid_argument if a token is missing.
  static special_tokens of(const tokenizer& t) {
    const bool is_bert = t.id("[CLS]").has_value();
    const auto id = [&](const char* of_bert, const char* of_roberta) {
      const char* name = is_bert ? of_bert : of_roberta;
      if (const auto found = t.id(name)) return *found;
      throw std::invalid_argument(
          fmt::format("wsl: the vocabulary has no token {}, which an encoder needs: take that of BERT or "
                      "RoBERTa",
                      name));
    };
    return {id("[CLS]", "<s>"),   id("[SEP]", "</s>"),    id("[PAD]", "<pad>"),
            id("[UNK]", "<unk>"), id("[MASK]", "<mask>"), !is_bert};
  }
  std::vector<i32> all() const { return {begin, separator, padding, unknown, mask}; }
  /// Special tokens of a sequence.
  int around(bool pair) const { return pair ? 3 + doubles_separator : 2; }
  /// Types of its tokens.
  int types(bool pair) const { return pair && !doubles_separator ? 2 : 1; }
};

/// A sequence, not yet padded: ids, types, and for each token whether it continues the word before it.
struct token_sequence {
  std::vector<i32> ids, types;
  std::vector<bool> continues;
  int second = 0;  ///< the place of the first token of the second text

  void add_special(i32 id, i32 type) { ids.push_back(id), types.push_back(type), continues.push_back(false); }
  void add(std::span<const text_piece> pieces, i32 type) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      ids.push_back(pieces[i].id), types.push_back(type),
          continues.push_back(i > 0 && pieces[i].word == pieces[i - 1].word);
  }
};

inline token_sequence sequence_of(const special_tokens& by, std::span<const text_piece> text) {
  token_sequence s;
  s.add_special(by.begin, 0), s.add(text, 0), s.add_special(by.separator, 0);
  return s;
}
inline token_sequence sequence_of(const special_tokens& by, std::span<const text_piece> first,
                                  std::span<const text_piece> second) {
  token_sequence s = sequence_of(by, first);
  const i32 type = by.doubles_separator ? 0 : 1;
  if (by.doubles_separator) s.add_special(by.separator, type);
  s.second = static_cast<int>(s.ids.size());
  s.add(second, type), s.add_special(by.separator, type);
  return s;
}

/// Takes tokens from the end of the longer one of two texts, of equal ones the second, until both have room.
inline void shorten(std::vector<text_piece>& first, std::vector<text_piece>& second, int room) {
  while (std::ssize(first) + std::ssize(second) > room)
    (first.size() > second.size() ? first : second).pop_back();
}
/// Throws std::invalid_argument, with the name of the setting, if a sequence has no room for any token of its
/// texts.
inline void check_length(int length, const special_tokens& by, bool pair,
                         const char* setting = "max_sequence_length") {
  const int least = by.around(pair) + (pair ? 2 : 1);
  if (length < least)
    throw std::invalid_argument(
        fmt::format("wsl: {} is {}; with the special tokens it takes {} or more", setting, length, least));
}

/// The fields of every encoder, in the order in which `put` fills them.
inline std::vector<named_field> encoder_fields(int length) {
  return {{"input_ids", length}, {"attention_mask", length}, {"token_type_ids", length}};
}
/// Fills the fields of an encoder.
inline void put(const example& to, const token_sequence& s, const special_tokens& by) {
  detail::fill(to.named[0], s.ids, by.padding);
  detail::fill_mask(to.named[1], s.ids.size());
  detail::fill(to.named[2], s.types, 0);
}

}  // namespace wsl::ml
