// SPDX-License-Identifier: MIT
// Questions and the passages that answer them, in the form in which DPR's data are released
// (github.com/facebookresearch/DPR): an array of objects in JSON (.json), or one object a line (.jsonl),
//   {"question": "...", "positive_ctxs": [{"title": "...", "text": "..."}],
//    "hard_negative_ctxs": [{"title": "...", "text": "..."}]}
// A passage that is there several times is one passage.
#pragma once
#include <fmt/format.h>

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
  i64 without_answer = 0;  ///< questions that have been left out: no passage answers them
};

namespace detail {

/// Adds the questions of files to the data, each passage once.
class retrieval_reader {
 public:
  explicit retrieval_reader(retrieval_data& to) : to_(to) {}

  void add(const nlohmann::json& x, const std::string& place) {
    retrieval_question q{text(x, "question", place), passages(x, "positive_ctxs", true, place),
                         passages(x, "hard_negative_ctxs", false, place)};
    if (q.right.empty()) ++to_.without_answer;
    else to_.questions.push_back(std::move(q));
  }
  void read(const std::string& name) {
    if (name.ends_with(".jsonl")) {
      const line_file in(name);
      for (i64 i = 0; i < in.count(); ++i)
        if (!in.line(i).empty())
          add(nlohmann::json::parse(in.line(i), nullptr, false), fmt::format("{}, line {}", name, i + 1));
      return;
    }
    std::ifstream in(name);
    if (!in) throw file_error(fmt::format("wsl: {}: it cannot be read", name));
    const nlohmann::json all = nlohmann::json::parse(in, nullptr, false);
    if (!all.is_array())
      throw file_error(fmt::format(
          "wsl: {}: it is no array of questions in JSON; a file of an object a line has the ending .jsonl",
          name));
    for (std::size_t i = 0; i < all.size(); ++i) add(all[i], fmt::format("{}, question {}", name, i + 1));
  }

 private:
  static file_error error(const std::string& place, const std::string& why) {
    return file_error(fmt::format("wsl: {}: {}", place, why));
  }
  static std::string text(const nlohmann::json& x, const char* key, const std::string& place) {
    if (!x.is_object()) throw error(place, "it is no object in JSON");
    if (!x.contains(key) || !x[key].is_string())
      throw error(place, fmt::format("the object lacks a text '{}'", key));
    return x[key].get<std::string>();
  }
  std::vector<std::size_t> passages(const nlohmann::json& x, const char* key, bool is_needed,
                                    const std::string& place) {
    std::vector<std::size_t> numbers;
    if (!x.contains(key) && !is_needed) return numbers;
    if (!x.contains(key) || !x[key].is_array())
      throw error(place, fmt::format("the object lacks '{}', an array of passages", key));
    for (const nlohmann::json& p : x[key]) {
      const bool has_title = p.is_object() && p.contains("title") && !p["title"].is_null();
      passage is{has_title ? text(p, "title", place) : "", text(p, "text", place)};
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

/// Reads the files; all questions and passages are held in memory. Throws file_error.
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
