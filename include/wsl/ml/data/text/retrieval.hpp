// SPDX-License-Identifier: MIT
// Questions and the passages that answer them, in the form in which DPR's data are released
// (github.com/facebookresearch/DPR): an array of objects in JSON (.json), or one object a line (.jsonl),
//   {"question": "...", "positive_ctxs": [{"title": "...", "text": "..."}],
//    "hard_negative_ctxs": [{"title": "...", "text": "..."}]}
// A passage that is there several times is one passage.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "line_file.hpp"

namespace wsl::ml {

struct passage {
  std::string title, text;
  friend auto operator<=>(const passage&, const passage&) = default;
};
struct retrieval_question {
  std::string text;
  std::vector<std::size_t> right, hard;  ///< numbers of passages that answer it, and that only look so
};
struct retrieval_data {
  std::vector<passage> passages;
  std::vector<retrieval_question> questions;
  i64 without_answer = 0;    ///< questions that have been left out: no passage answers them
  i64 right_among_hard = 0;  ///< hard negatives that have been left out: they answer their question as well
};

namespace detail {

/// Adds the questions of files to the data, each passage once.
class retrieval_reader {
 public:
  explicit retrieval_reader(retrieval_data& to) : to_(to) {}

  void add(const nlohmann::json& x, const std::string& place) {
    retrieval_question q{.text = text(x, "question", place), .right = {}, .hard = {}};
    if (q.text.find_first_not_of(" \t\r\n") == std::string::npos)
      throw error(place, "the question is empty: write one, or remove the record");
    q.right = passages(x, "positive_ctxs", true, place);
    q.hard = passages(x, "hard_negative_ctxs", false, place);
    // A passage that answers a question cannot be wrong for it as well.
    const auto answers = [&](std::size_t k) {
      return std::find(q.right.begin(), q.right.end(), k) != q.right.end();
    };
    to_.right_among_hard += static_cast<i64>(std::erase_if(q.hard, answers));
    if (q.right.empty()) ++to_.without_answer;
    else to_.questions.push_back(std::move(q));
  }
  void read(const std::string& name) {
    if (name.ends_with(".jsonl")) {
      const line_file in(name);
      for (i64 i = 0; i < in.count(); ++i)
        if (const std::string_view line = in.line(i); !line.empty()) {
          const std::string place = fmt::format("{}, line {}", name, i + 1);
          add(parsed(line, line.size(), place), place);
        }
      return;
    }
    std::ifstream in(name, std::ios::binary);
    if (!in) throw error(name, "it cannot be read");
    const nlohmann::json all = parsed(in, std::filesystem::file_size(name), name);
    if (!all.is_array())
      throw error(name,
                  "it is no array of questions in JSON; a file of an object a line has the ending .jsonl");
    for (std::size_t i = 0; i < all.size(); ++i) add(all[i], fmt::format("{}, question {}", name, i + 1));
  }

 private:
  static file_error error(const std::string& place, const std::string& why) {
    return file_error(fmt::format("wsl: {}: {}", place, why));
  }
  /// The document in a text of so many bytes.
  template <class In>
  static nlohmann::json parsed(In&& in, std::size_t bytes, const std::string& place) {
    try {
      return nlohmann::json::parse(in);
    } catch (const nlohmann::json::parse_error& e) {
      throw error(fmt::format("{}, byte {}", place, std::min(e.byte, bytes)),
                  e.byte > bytes ? "the JSON ends in the middle: it is cut short, make or fetch it again"
                                 : "what stands here is no JSON: correct it");
    }
  }
  static std::string text(const nlohmann::json& x, const char* key, const std::string& place) {
    if (!x.is_object()) throw error(place, "it is no object in JSON");
    if (!x.contains(key)) throw error(place, fmt::format("the object lacks a text '{}'", key));
    if (!x[key].is_string())
      throw error(place, fmt::format("'{}' should be a text, not {}", key, short_dump(x[key])));
    return x[key].get<std::string>();
  }
  /// A value as messages show it.
  static std::string short_dump(const nlohmann::json& x) {
    return x.is_string() ? "a text" : x.is_array() ? "an array" : x.is_object() ? "an object" : x.dump();
  }
  std::vector<std::size_t> passages(const nlohmann::json& x, const char* key, bool is_needed,
                                    const std::string& place) {
    std::vector<std::size_t> numbers;
    if (!x.contains(key) && !is_needed) return numbers;
    if (!x.contains(key)) throw error(place, fmt::format("the object lacks '{}', an array of passages", key));
    if (!x[key].is_array())
      throw error(place, fmt::format("'{}' should be an array of passages, not {}", key, short_dump(x[key])));
    for (std::size_t k = 0; k < x[key].size(); ++k) {
      const nlohmann::json& p = x[key][k];
      const std::string here = fmt::format("{}, {}[{}]", place, key, k);
      const bool has_title = p.is_object() && p.contains("title") && !p["title"].is_null();
      passage is{has_title ? text(p, "title", here) : "", text(p, "text", here)};
      const auto [at, is_new] = known_.emplace(is, to_.passages.size());
      if (is_new) to_.passages.push_back(std::move(is));
      numbers.push_back(at->second);
    }
    return numbers;
  }

  retrieval_data& to_;
  std::map<passage, std::size_t> known_;
};

}  // namespace detail

/// Reads the files; all questions and passages are held in memory. A passage among the hard negatives of a
/// question that it answers is left out there. Throws file_error with the file, the line or the question, and
/// the place in it; where the JSON itself is broken with the byte.
inline retrieval_data read_retrieval(const std::vector<std::string>& files) {
  retrieval_data all;
  detail::retrieval_reader reader(all);
  for (const std::string& file : files) reader.read(file);
  if (all.questions.empty())
    throw file_error(fmt::format("wsl: {}: there is no question that a passage answers",
                                 files.empty() ? std::string("no file") : files.front()));
  return all;
}

}  // namespace wsl::ml
