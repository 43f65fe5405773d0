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
  std::vector<std::string> words, tags;  ///< of the same number; no tags: the file does not say them
  i64 line = 0;                          ///< of the first word, from 1 on; the others follow
};

/// The sentences of a file: words in the first column, tags in the last. A line that begins with -DOCSTART-
/// is left out. Throws file_error, with the line, for a word without a tag, and for a file without words.
/// With `may_lack_tags` a word may stand alone, and the sentence has no tags then.
inline std::vector<tagged_sentence> read_tagged_words(const std::string& name, bool may_lack_tags = false) {
  const line_file in(name);
  std::vector<tagged_sentence> all(1);
  bool is_tagged = true;
  for (i64 i = 0; i < in.count(); ++i) {
    const std::vector<std::string> columns = detail::divided(in.line(i));
    if (columns.empty() || columns.front() == "-DOCSTART-") {
      if (!all.back().words.empty()) all.emplace_back(), is_tagged = true;
      continue;
    }
    if (columns.size() < 2 && !may_lack_tags)
      throw in.error(i, fmt::format("the word '{}' has no tag: write both, with a space or a tab between",
                                    columns.front()));
    tagged_sentence& s = all.back();
    if (s.words.empty()) s.line = i + 1;
    s.words.push_back(columns.front()), s.tags.push_back(columns.back());
    is_tagged = is_tagged && columns.size() > 1;
    if (!is_tagged) s.tags.clear();
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
