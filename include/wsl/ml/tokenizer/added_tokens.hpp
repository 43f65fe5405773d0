// SPDX-License-Identifier: MIT
// Added tokens: texts such as <|endoftext|> that are found before a tokenizer looks at the rest. The special
// ones among them control a model and are no part of a text.
#pragma once

#include "added_token.hpp"
#include "byte_trie.hpp"
#include "normalizer.hpp"
#include "token_model.hpp"

namespace wsl::ml {

namespace detail {

class added_tokens {
 public:
  added_tokens() = default;
  added_tokens(const json_field& f, const vocabulary& of_model, const normalizer& normalizes) {
    for (const json_field& entry : f.items()) {
      const json_field content = entry.at("content");
      added_token t{.id = entry.at("id").id(),
                    .text = content.text(),
                    .is_special = entry.flag("special", false),
                    .is_normalized = entry.flag("normalized", true),
                    .takes_space_before = entry.flag("lstrip", false),
                    .takes_space_after = entry.flag("rstrip", false),
                    .is_single_word = entry.flag("single_word", false)};
      if (t.text.empty()) throw content.error("an added token has a text");
      if (const auto known = of_model.id(t.text); known && *known != t.id)
        throw entry.error(
            fmt::format("'{}' has the number {} here and {} in the vocabulary of the model: make "
                        "them equal",
                        t.text, t.id, *known));
      if (of_model.has(t.id) && of_model.token(t.id) != t.text)
        throw entry.error(fmt::format("'{}' has the number {}, which '{}' has in the vocabulary of the model",
                                      t.text, t.id, of_model.token(t.id)));
      add(std::move(t), normalizes);
    }
  }

  const std::vector<added_token>& all() const { return all_; }
  const added_token* find(i32 id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &all_[found->second];
  }
  std::optional<i32> id(std::string_view text) const {
    for (const added_token& t : all_)
      if (t.text == text) return t.id;
    return {};
  }

  // Calls on_text(begin, end) and on_token(id) for the parts of a text in order: of the tokens that are
  // looked for in texts that are normalized, or in texts that are not. Of several that match at the leftmost
  // place, the longest counts.
  template <class OnText, class OnToken>
  void divide(std::string_view text, bool normalized, bool with_special, OnText on_text,
              OnToken on_token) const {
    const byte_trie& trie = tries_[normalized];
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size() && !trie.is_empty();) {
      if (!trie.may_begin(text[at])) {
        ++at;
        continue;
      }
      std::size_t bytes = 0, index = 0;
      trie.each_beginning(text.substr(at),
                          [&](std::size_t n, i32 i) { bytes = n, index = static_cast<std::size_t>(i); });
      if (!bytes) {
        ++at;
        continue;
      }
      const added_token& t = all_[index];
      std::size_t begin = at, end = at + bytes;
      at = end;
      if ((t.is_special && !with_special) || (t.is_single_word && is_inside_word(text, begin, end))) continue;
      if (t.takes_space_before)
        for (std::size_t before = begin; before > done; begin = before) {
          unicode::step_back(text, before);
          std::size_t next = before;
          if (!unicode::is_space(unicode::next(text, next))) break;
        }
      if (t.takes_space_after)
        for (std::size_t next = end; next < text.size(); end = next)
          if (!unicode::is_space(unicode::next(text, next))) break;
      if (begin > done) on_text(done, begin);
      on_token(t.id);
      done = end, at = std::max(at, end);
    }
    if (done < text.size()) on_text(done, text.size());
  }

 private:
  void add(added_token t, const normalizer& normalizes) {
    const std::size_t index = all_.size();
    if (!by_id_.emplace(t.id, index).second) return;
    const std::string key = t.is_normalized && normalizes ? normalizes(t.text) : t.text;
    if (!key.empty()) tries_[t.is_normalized].add(key, static_cast<i32>(index));
    all_.push_back(std::move(t));
  }
  static bool is_inside_word(std::string_view text, std::size_t begin, std::size_t end) {
    std::size_t before = begin, after = end;
    if (begin > 0) {
      unicode::step_back(text, before);
      if (unicode::is_word(unicode::next(text, before))) return true;
    }
    return end < text.size() && unicode::is_word(unicode::next(text, after));
  }

  std::vector<added_token> all_;
  std::unordered_map<i32, std::size_t> by_id_;
  byte_trie tries_[2];  // in texts that are not normalized; that are
};

}  // namespace detail

}  // namespace wsl::ml
