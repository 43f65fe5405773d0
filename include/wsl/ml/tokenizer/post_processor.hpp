// SPDX-License-Identifier: MIT
// Post-processors: the special tokens around a text or around two, such as [CLS] A [SEP] B [SEP].
// `post_processor_of` makes one of the entry "post_processor" of a tokenizer.json.
#pragma once
#include "json_field.hpp"

namespace wsl::ml::detail {

/// A piece of a template: special tokens, or the first or the second text.
struct template_piece {
  enum what { special, first, second } is = special;
  std::vector<i32> ids;  ///< of a special token
  i32 type = 0;          ///< the segment that a model is told (token_type_ids)
};
struct post_processor {
  std::vector<template_piece> single{{template_piece::first, {}, 0}};
  std::vector<template_piece> pair{{template_piece::first, {}, 0}, {template_piece::second, {}, 1}};
};

inline std::vector<template_piece> pieces_of(const json_field& f, const json_field& special) {
  std::vector<template_piece> all;
  for (const json_field& piece : f.items()) {
    const bool is_text = piece.has("Sequence");
    const json_field p = is_text ? piece.at("Sequence") : piece.at("SpecialToken");
    template_piece made{.ids = {}, .type = p.has("type_id") ? p.at("type_id").id() : 0};
    const std::string& name = p.at("id").text();
    if (is_text) {
      if (name != "A" && name != "B") throw p.at("id").wrong("A or B");
      made.is = name == "A" ? template_piece::first : template_piece::second;
    } else {
      for (const json_field& id : special.at(name.c_str()).at("ids").items()) made.ids.push_back(id.id());
    }
    all.push_back(std::move(made));
  }
  return all;
}

// BertProcessing and RobertaProcessing, the older form of a template.
inline post_processor around(const json_field& f, bool doubled) {
  const auto id = [&](const char* key) {
    const std::vector<json_field> token_and_id = f.at(key).items();
    if (token_and_id.size() != 2) throw f.at(key).wrong("a token and its number");
    return template_piece{template_piece::special, {token_and_id[1].id()}, 0};
  };
  const template_piece begin = id("cls"), end = id("sep");
  const i32 other = doubled ? 0 : 1;
  template_piece end_of_second = end;
  end_of_second.type = other;
  post_processor p{.single = {begin, {template_piece::first, {}, 0}, end},
                   .pair = {begin, {template_piece::first, {}, 0}, end}};
  if (doubled) p.pair.push_back(end);
  p.pair.push_back({template_piece::second, {}, other}), p.pair.push_back(end_of_second);
  return p;
}

inline post_processor post_processor_of(const json_field& f, int depth = 0) {
  const std::string& type = f.at("type").text();
  if (type == "ByteLevel") return {};
  if (type == "BertProcessing") return around(f, false);
  if (type == "RobertaProcessing") return around(f, true);
  if (type == "TemplateProcessing") {
    const json_field special = f.at("special_tokens");
    post_processor p{.single = pieces_of(f.at("single"), special), .pair = {}};
    p.pair = f.has("pair") ? pieces_of(f.at("pair"), special) : post_processor{}.pair;
    return p;
  }
  if (type == "Sequence") {
    // One of them adds tokens; ByteLevel changes offsets only.
    if (depth > 8) throw f.error("sequences are nested more than 8 deep: write one sequence");
    post_processor made;
    bool adds = false;
    for (const json_field& one : f.at("processors").items()) {
      if (one.at("type").text() == "ByteLevel") continue;
      if (std::exchange(adds, true))
        throw one.error("a second post-processor that adds tokens: keep one of them");
      made = post_processor_of(one, depth + 1);
    }
    return made;
  }
  throw f.error(
      fmt::format("there is no post-processor '{}' here; known are BertProcessing, ByteLevel, "
                  "RobertaProcessing, Sequence and TemplateProcessing",
                  type));
}

}  // namespace wsl::ml::detail
