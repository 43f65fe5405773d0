// SPDX-License-Identifier: MIT
// The texts that a template in Jinja writes: what stands in it as it is, and the strings of its expressions.
// It is not run; the texts tell whether it says anything that a format of chats (chat_template.hpp) does not.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace wsl::ml::detail {

class template_texts {
 public:
  /// The texts between two values, such as "<|im_start|>" and "\n" of {{ '<|im_start|>' + role + '\n' +
  /// content }}, of all that a template writes or assigns. Conditions, names of fields and what an exception
  /// says are left out; blanks around blocks are those of transformers (trim_blocks, lstrip_blocks).
  static std::vector<std::string> of(std::string_view jinja) { return template_texts(jinja).texts_; }

 private:
  static constexpr std::string_view blanks = " \t\r\n";

  explicit template_texts(std::string_view jinja) {
    if (jinja.ends_with('\n')) jinja.remove_suffix(1);
    for (std::size_t at = 0; at < jinja.size();) {
      const std::size_t open = find_tag(jinja, at);
      std::string_view plain = jinja.substr(at, open - at);
      if (open >= jinja.size()) {
        add(plain);
        break;
      }
      const char kind = jinja[open + 1];
      const bool strips = jinja.substr(open + 2, 1) == "-";
      if (strips) plain = plain.substr(0, plain.find_last_not_of(blanks) + 1);
      else if (kind != '{') plain = without_indent(plain);
      add(plain);
      const std::size_t close = end_of_tag(jinja, open + 2, kind == '{' ? '}' : kind);
      tag(kind, jinja.substr(open + 2 + strips, close - open - 2 - strips));
      at = std::min(jinja.size(), close + 2);
      if (close > 0 && close <= jinja.size() && jinja[close - 1] == '-')
        at = std::min(jinja.size(), jinja.find_first_not_of(blanks, at));
      else if (kind != '{' && at < jinja.size() && jinja[at] == '\n') ++at;
    }
    end();
  }

  /// The place of the next {{, {% or {#.
  static std::size_t find_tag(std::string_view jinja, std::size_t from) {
    for (std::size_t at = jinja.find('{', from); at != jinja.npos; at = jinja.find('{', at + 1))
      if (at + 1 < jinja.size() && std::string_view("{%#").find(jinja[at + 1]) != jinja.npos) return at;
    return jinja.size();
  }
  /// The place of }}, %} or #} that is in no string.
  static std::size_t end_of_tag(std::string_view jinja, std::size_t at, char last) {
    for (char quote = 0; at + 1 < jinja.size(); ++at) {
      if (quote && jinja[at] == '\\') ++at;
      else if (quote) quote = jinja[at] == quote ? '\0' : quote;
      else if (jinja[at] == last && jinja[at + 1] == '}') return at;
      else if (last != '#' && (jinja[at] == '\'' || jinja[at] == '"')) quote = jinja[at];
    }
    return jinja.size();
  }
  /// Without the blanks that stand alone before a block in its line.
  static std::string_view without_indent(std::string_view plain) {
    const std::size_t last = plain.find_last_not_of(" \t");
    if (last == plain.npos) return {};
    return plain[last] == '\n' ? plain.substr(0, last + 1) : plain;
  }

  void tag(char kind, std::string_view inside) {
    if (kind == '#') return;
    if (kind == '{') return expression(inside);
    end();
    const std::size_t word = inside.find_first_not_of(blanks);
    if (word == inside.npos || !inside.substr(word).starts_with("set ")) return;
    if (const std::size_t equals = inside.find('='); equals != inside.npos)
      expression(inside.substr(equals + 1)), end();
  }
  /// Adds the strings that are written; any other value between them ends a text.
  void expression(std::string_view e) {
    if (e.find("raise_exception") != e.npos) return;
    bool is_joined = true;  // only + and blanks stand before the next string
    for (std::size_t at = 0; at < e.size(); ++at) {
      const char c = e[at];
      if (c != '\'' && c != '"') {
        is_joined &= c == '+' || c == '~' || c == '-' || blanks.find(c) != blanks.npos;
        continue;
      }
      const std::size_t first = at + 1;
      std::string text;
      for (++at; at < e.size() && e[at] != c; ++at)
        if (e[at] == '\\' && at + 1 < e.size()) text += e[++at] == 'n' ? '\n' : e[at] == 't' ? '\t' : e[at];
        else text += e[at];
      if (!is_written(e.substr(0, first - 1), e.substr(std::min(at + 1, e.size())))) continue;
      if (!is_joined) end();
      add(text), is_joined = true;
    }
    if (!is_joined) end();
  }
  /// Whether a string between these two is no name of a field and part of no comparison.
  static bool is_written(std::string_view before, std::string_view after) {
    before = before.substr(0, before.find_last_not_of(blanks) + 1);
    after.remove_prefix(std::min(after.size(), after.find_first_not_of(blanks)));
    for (const std::string_view mark : {"==", "!=", "[", " in"})
      if (before.ends_with(mark)) return false;
    for (const std::string_view mark : {"==", "!=", "]", "in ", "not in "})
      if (after.starts_with(mark)) return false;
    return true;
  }
  void add(std::string_view text) { now_ += text; }
  void end() {
    if (!now_.empty()) texts_.push_back(std::move(now_));
    now_.clear();
  }

  std::string now_;
  std::vector<std::string> texts_;
};

}  // namespace wsl::ml::detail
