// SPDX-License-Identifier: MIT
// The files beside the weights of a model with which text is read and written: its tokenizer, its chat
// template, and the settings of generation with the tokens that begin, end and fill up a text.
#pragma once
#include "../../../support/whole_file.hpp"
#include "config.hpp"

namespace wsl::ml::hugging_face {

inline constexpr const char* companion_files[]{"tokenizer.json",
                                               "tokenizer.model",
                                               "tokenizer_config.json",
                                               "special_tokens_map.json",
                                               "added_tokens.json",
                                               "vocab.json",
                                               "merges.txt",
                                               "chat_template.jinja"};
inline constexpr const char* generation_file = "generation_config.json";

/// The fields of an object whose names end in `_token_id`, as bos_token_id does. Null is none.
inline json token_ids_of(const json& fields) {
  json ids = json::object();
  for (const auto& [name, value] : fields.items())
    if (name.ends_with("_token_id") && !value.is_null()) ids[name] = value;
  return ids;
}

/// What the generation_config.json of a folder says, and the tokens that config.json alone names; empty if
/// neither is there. Throws file_error.
inline json generation_of(const std::string& folder) {
  const auto fields_in = [&](const char* file) {
    const std::string name = folder + "/" + file;
    return file_exists(name) ? config_file(name).fields() : json::object();
  };
  json all = fields_in(generation_file);
  const json tokens = token_ids_of(fields_in("config.json"));
  for (const auto& [name, id] : tokens.items())
    if (!all.contains(name) || all[name].is_null()) all[name] = id;
  return all;
}

/// Copies the companions of a model that are there to another folder. Tokens that config.json alone names
/// come to generation_config.json. Returns the tokens, which config.json of transformers has as well. Throws
/// file_error.
inline json copy_companions(const std::string& from, const std::string& to) {
  for (const char* file : companion_files)
    if (file_exists(from + "/" + file))
      support::write_whole_file(to + "/" + file, read_whole(from + "/" + file));
  const json all = generation_of(from);
  if (!all.empty()) {
    const std::string there = from + "/" + generation_file;
    support::write_whole_file(
        to + "/" + generation_file,
        file_exists(there) && config_file(there).fields() == all ? read_whole(there) : all.dump(2) + "\n");
  }
  return token_ids_of(all);
}

}  // namespace wsl::ml::hugging_face
