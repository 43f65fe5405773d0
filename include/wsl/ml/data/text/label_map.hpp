// SPDX-License-Identifier: MIT
// The classes of a task: names, each with its number. A label in a file is a name or a number.
//   label_map classes({"entailment", "neutral", "contradiction"});
//   classes.number("neutral") == 1
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../io/input_file.hpp"

namespace wsl::ml {

class label_map {
 public:
  label_map() = default;
  /// Throws std::invalid_argument if a name is there twice.
  explicit label_map(std::vector<std::string> names) : names_(std::move(names)) {
    for (auto x = names_.begin(); x != names_.end(); ++x)
      if (std::find(names_.begin(), x, *x) != x)
        throw std::invalid_argument(fmt::format("wsl: two classes are called '{}': rename one", *x));
  }
  /// From an object in JSON of names and numbers, which count from 0 (the Model Zoo's label_vocab_file).
  /// Throws file_error.
  static label_map of_file(const std::string& name) {
    const nlohmann::json all = nlohmann::json::parse(read_whole(name), nullptr, false);
    if (!all.is_object() || all.empty())
      throw file_error(
          fmt::format("wsl: {}: it should be one object in JSON, {{\"name\": number, ...}}", name));
    std::vector<std::string> names(all.size());
    std::vector<bool> used(all.size());
    for (const auto& [label, number] : all.items()) {
      const bool fits = number.is_number_unsigned() && number.get<u64>() < all.size();
      const std::size_t at = fits ? number.get<std::size_t>() : 0;
      if (!fits || used[at])
        throw file_error(
            fmt::format("wsl: {}: the class '{}' should have a number of its own from 0 to {}, not {}", name,
                        label, all.size() - 1, number.dump()));
      names[at] = label, used[at] = true;
    }
    return label_map(std::move(names));
  }

  int count() const { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(i32 number) const { return names_[static_cast<std::size_t>(number)]; }
  /// The number of a label: that of its name, or the number that it is. Nothing if there is no such class.
  std::optional<i32> find(std::string_view label) const {
    const auto at = std::find(names_.begin(), names_.end(), label);
    if (at != names_.end()) return static_cast<i32>(at - names_.begin());
    i32 number = 0;
    const auto [past, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    if (error != std::errc() || past != label.data() + label.size() || number < 0 || number >= count())
      return {};
    return number;
  }
  /// All of them, for people: 0 entailment, 1 neutral, 2 contradiction.
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < names_.size(); ++i)
      all += fmt::format("{}{} {}", i ? ", " : "", i, names_[i]);
    return all;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace wsl::ml
