// SPDX-License-Identifier: MIT
// The text of a params file as nodes of yaml-cpp: sentences that begin with the file and the line of a
// mistake, maps with what `<<` merges into them, and nodes that are made at the line of another.
#pragma once
#include <yaml-cpp/yaml.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace train_app {

/// Everything that is wrong with some params: a sentence for each mistake, with its place.
class invalid_params : public std::invalid_argument {
 public:
  explicit invalid_params(std::vector<std::string> sentences);
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  std::vector<std::string> sentences_;
};
/// The sentences of an exception: those of invalid_params, or its only one.
std::vector<std::string> sentences_of(const std::invalid_argument& e);

/// Mistakes that are collected, so that all of them are known at once.
class mistakes {
 public:
  void add(std::string sentence) { all_.push_back(std::move(sentence)); }
  /// Calls f, and adds what it throws.
  template <class F>
  void of(F f) {
    try {
      f();
    } catch (const std::invalid_argument& e) {
      for (std::string& sentence : sentences_of(e)) add(std::move(sentence));
    }
  }
  const std::vector<std::string>& all() const { return all_; }
  /// Throws invalid_params if there are any.
  void report() const {
    if (!all_.empty()) throw invalid_params(all_);
  }
  /// The same with each sentence as `said` has it.
  template <class F>
  void report(F said) const {
    std::vector<std::string> all;
    for (const std::string& sentence : all_) all.push_back(said(sentence));
    if (!all.empty()) throw invalid_params(std::move(all));
  }

 private:
  std::vector<std::string> all_;
};

/// Throws std::invalid_argument.
[[noreturn]] void refuse(const std::string& where, const std::string& sentence);
/// "params.yaml:14"
std::string place(const std::string& file, const YAML::Node& node);
/// A node in words: 'its text', a map, an empty list.
std::string shown(const YAML::Node& node);

/// Whether a scalar is true or false in YAML 1.1, as PyYAML reads the Zoo's files: yes and off are such words,
/// too; none if it is neither.
std::optional<bool> truth_of(const YAML::Node& node);

/// The one document of a text. Throws std::invalid_argument with the line for text that is no YAML, or too
/// long.
YAML::Node parsed(const std::string& text, const std::string& where);

using named_nodes = std::vector<std::pair<std::string, YAML::Node>>;
/// The pairs of a map with those that `<<` merges into it. The map's own pairs override merged ones, and a
/// nearer map overrides a farther one. Duplicate keys are mistakes, of which the first one counts; throws
/// std::invalid_argument for what is no map.
named_nodes pairs_of(const YAML::Node& map, const std::string& file, const std::string& what,
                     mistakes& found);
/// The same; throws for duplicate keys, too.
named_nodes pairs_of(const YAML::Node& map, const std::string& file, const std::string& what);

/// The text of nodes, with anchors and what `<<` merges written out. Scalars keep their spelling. Throws
/// std::invalid_argument for maps that lie in each other without end; `file` is for messages.
std::string written_out(const YAML::Node& root, const std::string& file);

/// The node of a text in YAML, at the line of another.
YAML::Node at_line_of(const YAML::Node& there, const std::string& yaml);

}  // namespace train_app
