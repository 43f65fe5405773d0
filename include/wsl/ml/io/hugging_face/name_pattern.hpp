// SPDX-License-Identifier: MIT
// The names and regular expressions by which peft finds modules: one fits the path of a module if it is the
// whole path, or an end of it behind a dot, as q_proj and layers\.[01]\.self_attn\.q_proj are ends of
// model.layers.0.self_attn.q_proj. Of Python's expressions it has what extended expressions of POSIX have as
// well, and \d; they are matched in a time that is linear in the path's length.
#pragma once
#include <fmt/format.h>
#include <regex.h>

#include <cctype>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace wsl::ml::hugging_face {

class name_pattern {
 public:
  /// Whether a text is more than a name. A dot alone makes no expression, for names have dots as well.
  static bool is_expression(std::string_view text) {
    return text.find_first_of("\\*+?|()[]^$") != std::string_view::npos;
  }

  /// Throws std::invalid_argument for what is no expression, or one that only Python has.
  explicit name_pattern(const std::string& text) {
    const std::string whole = "^(.*\\.)?(" + in_posix(text) + ")$";
    auto compiled = std::make_unique<regex_t>();
    if (::regcomp(compiled.get(), whole.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      throw std::invalid_argument(
          fmt::format("wsl: '{}' is neither the end of a layer's name nor a regular expression", text));
    compiled_ = {compiled.release(), [](regex_t* r) {
                   ::regfree(r);
                   delete r;
                 }};
  }
  bool fits(const std::string& path) const {
    return ::regexec(compiled_.get(), path.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  static std::string in_posix(std::string_view text) {
    const auto refuse = [&](std::string_view what) {
      throw std::invalid_argument(
          fmt::format("wsl: '{}' has {}, which is not known here: name the layers one by one, or take an "
                      "expression of . * + ? | ( ) [ ] and \\d",
                      text, what));
    };
    std::string all;
    bool is_in_brackets = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
      const char c = text[k];
      if (c == '\\') {
        const char next = k + 1 < text.size() ? text[++k] : '\0';
        const bool is_letter = std::isalnum(static_cast<unsigned char>(next)) != 0;
        if (is_in_brackets || next == '\0' || (is_letter && next != 'd')) refuse(fmt::format("\\{}", next));
        all += is_letter ? "[0-9]" : std::string{c, next};
        continue;
      }
      if (c == '(' && !is_in_brackets && text.substr(k + 1).starts_with("?")) refuse("(?");
      if (c == '\0') refuse("a byte that is 0");
      if (c == '[') is_in_brackets = true;
      if (c == ']') is_in_brackets = false;
      all += c;
    }
    return all;
  }

  std::shared_ptr<const regex_t> compiled_;
};

}  // namespace wsl::ml::hugging_face
