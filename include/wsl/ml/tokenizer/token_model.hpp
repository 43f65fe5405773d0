// SPDX-License-Identifier: MIT
// A model finds the tokens of one word; a vocabulary numbers them. The kinds are in byte_pair.hpp,
// unigram.hpp and word_piece.hpp.
#pragma once
#include <memory>
#include <optional>

#include "byte_letters.hpp"
#include "json_field.hpp"

namespace wsl::ml::detail {

/// Tokens by number and numbers by token. Not every number has a token.
class vocabulary {
 public:
  /// From an object of tokens and numbers.
  static vocabulary of_object(const json_field& f) {
    if (!f.value().is_object()) throw f.wrong("an object of tokens and their numbers");
    vocabulary v;
    // A wrong id must not claim memory that the file does not account for.
    const u64 most = 2 * f.value().size() + 65536;
    for (const auto& [token, number] : f.value().items()) {
      const json_field place = f.child(number, token);
      const i32 id = place.id();
      if (static_cast<u64>(id) > most)
        throw place.error(
            fmt::format("the number {} is too large for a vocabulary of {} tokens", id, f.value().size()));
      if (v.has(id))
        throw place.error(fmt::format("'{}' has the number {} already", v.tokens_[std::size_t(id)], id));
      v.add(token, id);
    }
    return v;
  }
  void add(const std::string& token, i32 id) {
    const auto at = static_cast<std::size_t>(id);
    if (at >= tokens_.size()) tokens_.resize(at + 1), used_.resize(at + 1);
    tokens_[at] = token, used_[at] = true;
    ids_[token] = id;
  }

  /// One more than the largest number.
  int size() const { return static_cast<int>(tokens_.size()); }
  bool has(i32 id) const { return id >= 0 && id < size() && used_[static_cast<std::size_t>(id)]; }
  const std::string& token(i32 id) const { return tokens_[static_cast<std::size_t>(id)]; }
  std::optional<i32> id(std::string_view token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) return {};
    return found->second;
  }

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  std::vector<std::string> tokens_;
  std::vector<bool> used_;
  std::unordered_map<std::string, i32, hash, std::equal_to<>> ids_;
};

class token_model {
 public:
  virtual ~token_model() = default;
  virtual const char* name() const = 0;
  virtual const vocabulary& tokens() const = 0;
  /// Appends the numbers of a word's tokens. Of bytes, the letters of byte_letters.hpp are meant.
  virtual void encode(std::string_view word, bool are_bytes, std::vector<i32>& ids) const = 0;
};

inline std::string byte_token(u8 byte) { return fmt::format("<0x{:02X}>", byte); }

/// The tokens <0x00> to <0xFF>, into which characters fall apart that have none; empty if one is missing.
inline std::vector<i32> byte_tokens(const vocabulary& v) {
  std::vector<i32> all;
  for (int b = 0; b < 256; ++b)
    if (const auto id = v.id(byte_token(static_cast<u8>(b)))) all.push_back(*id);
  if (all.size() < 256) all.clear();
  return all;
}

}  // namespace wsl::ml::detail
