// SPDX-License-Identifier: MIT
// How well entities are found in tagged words (Tjong Kim Sang, De Meulder, CoNLL-2003): an entity counts only
// if its beginning, its end and its type are right.
//   B-PER I-PER O B-LOC    entities: PER, words 0 to 1; LOC, word 3
// The rule of conlleval, which seqeval follows, takes an entity to begin also where a tag I- follows another
// type or no entity. The strict rule (IOB2) takes B- only, and such an I- is no part of an entity.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

struct entity {
  std::string type;
  int first = 0, last = 0;  ///< words
  friend auto operator<=>(const entity&, const entity&) = default;
};

enum class entity_rule : u8 { conll, strict };

/// The entities of a sentence. Throws std::invalid_argument for a tag other than O, B-... and I-....
inline std::vector<entity> entities_of(std::span<const std::string> tags,
                                       entity_rule rule = entity_rule::conll) {
  std::vector<entity> all;
  bool is_open = false;
  for (int i = 0; i < static_cast<int>(tags.size()); ++i) {
    const std::string& tag = tags[static_cast<std::size_t>(i)];
    const bool begins = tag.starts_with("B-"), goes_on = tag.starts_with("I-");
    if (!begins && !goes_on && tag != "O")
      throw std::invalid_argument(fmt::format("wsl: the tag '{}' is none of O, B-... and I-...", tag));
    const std::string_view type = std::string_view(tag).substr(tag == "O" ? 1 : 2);
    if (goes_on && is_open && all.back().type == type) {
      all.back().last = i;
      continue;
    }
    is_open = begins || (goes_on && rule == entity_rule::conll);
    if (is_open) all.push_back({std::string(type), i, i});
  }
  return all;
}

/// Counts of entities, and what follows from them.
struct entity_scores {
  i64 right = 0, said = 0, there = 0;  ///< found as they are, found, there to be found

  f64 precision() const { return ratio(right, said); }
  f64 recall() const { return ratio(right, there); }
  f64 f1() const { return ratio(2 * right, said + there); }

 private:
  static f64 ratio(i64 part, i64 of) { return of ? static_cast<f64>(part) / static_cast<f64>(of) : 0; }
};

class entity_metrics {
 public:
  explicit entity_metrics(entity_rule rule = entity_rule::conll) : rule_(rule) {}

  /// Adds a sentence. Throws std::invalid_argument if both do not have as many tags.
  void add(std::span<const std::string> said, std::span<const std::string> right) {
    if (said.size() != right.size())
      throw std::invalid_argument(
          fmt::format("wsl: {} tags are said of {} words", said.size(), right.size()));
    const std::vector<entity> found = entities_of(said, rule_), there = entities_of(right, rule_);
    for (const entity& x : there) ++by_type_[x.type].there;
    for (const entity& x : found) {
      entity_scores& s = by_type_[x.type];
      ++s.said;
      s.right += std::find(there.begin(), there.end(), x) != there.end();
    }
  }
  /// Of all types together (micro average).
  entity_scores all() const {
    entity_scores sum;
    for (const auto& [type, s] : by_type_) sum.right += s.right, sum.said += s.said, sum.there += s.there;
    return sum;
  }
  const std::map<std::string, entity_scores>& by_type() const { return by_type_; }

 private:
  entity_rule rule_;
  std::map<std::string, entity_scores> by_type_;
};

}  // namespace wsl::ml
