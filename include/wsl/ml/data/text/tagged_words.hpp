// SPDX-License-Identifier: MIT
// Sentences whose words have tags, such as names of persons and places, as CoNLL's shared tasks write them:
// one word and its tag a line, with whatever columns between them, and an empty line between sentences.
//   U.N.      NNP  B-ORG
//   official  NN   O
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "line_file.hpp"

namespace wsl::ml {

struct tagged_sentence {
  std::vector<std::string> words, tags;  ///< of the same number
};

/// The sentences of a file: words in the first column, tags in the last. A line that begins with -DOCSTART-
/// is left out. Throws file_error, with the line, for a word without a tag, and for a file without words.
inline std::vector<tagged_sentence> read_tagged_words(const std::string& name) {
  const line_file in(name);
  std::vector<tagged_sentence> all(1);
  for (i64 i = 0; i < in.count(); ++i) {
    const std::vector<std::string> columns = detail::divided(in.line(i));
    if (columns.empty() || columns.front() == "-DOCSTART-") {
      if (!all.back().words.empty()) all.emplace_back();
      continue;
    }
    if (columns.size() < 2)
      throw in.error(i, fmt::format("the word '{}' has no tag: write both, with a space or a tab between",
                                    columns.front()));
    all.back().words.push_back(columns.front()), all.back().tags.push_back(columns.back());
  }
  if (all.back().words.empty()) all.pop_back();
  if (all.empty()) throw file_error(fmt::format("wsl: {}: there are no words with tags in it", name));
  return all;
}

/// The tags that sentences have, in the order of their names after "O", which comes first.
inline std::vector<std::string> tags_of(const std::vector<tagged_sentence>& all) {
  std::vector<std::string> tags;
  for (const tagged_sentence& s : all) tags.insert(tags.end(), s.tags.begin(), s.tags.end());
  std::sort(tags.begin(), tags.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a != "O", std::string_view(a)) < std::pair(b != "O", std::string_view(b));
  });
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return tags;
}

}  // namespace wsl::ml
