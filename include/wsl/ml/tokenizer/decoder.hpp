// SPDX-License-Identifier: MIT
// Decoders: from the written forms of tokens back to text. `decoder_of` makes one of the entry "decoder" of a
// tokenizer.json; it turns a list of texts into another list, whose texts in a row are the decoded text.
#pragma once
#include "pre_tokenizer.hpp"

namespace wsl::ml::detail {

using token_texts = std::vector<std::string>;
using token_decoder = std::function<token_texts(token_texts)>;

template <class F>
token_decoder for_each_token(F f) {
  return [f](token_texts all) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = f(std::move(all[i]), i, all.size());
    return all;
  };
}

inline void replace_all(std::string& text, std::string_view from, std::string_view by) {
  if (from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += by.size())
    text.replace(at, from.size(), by);
}

/// Joins signs and English endings to the word before them.
inline std::string with_endings_joined(std::string text) {
  for (const auto& [from, by] : {std::pair(" .", "."),
                                 {" ?", "?"},
                                 {" !", "!"},
                                 {" ,", ","},
                                 {" ' ", "'"},
                                 {" n't", "n't"},
                                 {" 'm", "'m"},
                                 {" do not", " don't"},
                                 {" 's", "'s"},
                                 {" 've", "'ve"},
                                 {" 're", "'re"}})
    replace_all(text, from, by);
  return text;
}

/// The byte that a token such as <0x0A> stands for; -1 for any other token.
inline int byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return -1;
  int byte = 0;
  for (char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    byte = 16 * byte + digit;
  }
  return byte;
}

// Bytes in a row are text; if they are not UTF-8, each of them is U+FFFD.
inline token_texts joined_bytes(const token_texts& all) {
  token_texts out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    bool is_text = true;
    for (std::size_t at = 0; at < bytes.size() && is_text;) {
      const std::size_t n = first_code_point(std::string_view(bytes).substr(at)).bytes;
      is_text = n > 0, at += n;
    }
    if (is_text) out.push_back(bytes);
    else out.insert(out.end(), bytes.size(), "\xef\xbf\xbd");
    bytes.clear();
  };
  for (const std::string& token : all) {
    if (const int byte = byte_of_token(token); byte >= 0) {
      bytes += static_cast<char>(byte);
    } else {
      flush();
      out.push_back(token);
    }
  }
  flush();
  return out;
}

inline token_texts decoded_bytes(const token_texts& all) {
  std::string bytes;
  for (const std::string& token : all) bytes += bytes_of_letters(token).value_or(token);
  return {unicode::repaired(std::move(bytes))};
}

/// Without up to `start` of a character at the beginning, and `stop` at the end.
inline std::string without_ends(const std::string& text, const std::string& of, std::size_t start,
                                std::size_t stop) {
  std::string_view rest = text;
  for (; start && rest.starts_with(of); --start) rest.remove_prefix(of.size());
  for (; stop && rest.ends_with(of); --stop) rest.remove_suffix(of.size());
  return std::string(rest);
}

inline token_decoder decoder_of(const json_field& f, int depth = 0) {
  const std::string& type = f.at("type").text();
  if (type == "Sequence") {
    check_depth(f, depth);
    std::vector<token_decoder> all;
    for (const json_field& one : f.at("decoders").items()) all.push_back(decoder_of(one, depth + 1));
    return [all](token_texts texts) {
      for (const token_decoder& one : all) texts = one(std::move(texts));
      return texts;
    };
  }
  if (type == "ByteLevel") return decoded_bytes;
  if (type == "ByteFallback") return joined_bytes;
  if (type == "Fuse")
    return [](const token_texts& all) {
      std::string text;
      for (const std::string& token : all) text += token;
      return token_texts{text};
    };
  if (type == "WordPiece")
    return for_each_token([prefix = f.at("prefix").text(), joins = f.flag("cleanup", true)](
                              std::string token, std::size_t i, std::size_t) {
      if (i > 0) token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
      return joins ? with_endings_joined(std::move(token)) : token;
    });
  if (type == "Metaspace")
    return for_each_token([sign = replacement_of(f), drops = prepending_of(f) != prepending::never](
                              std::string token, std::size_t i, std::size_t) {
      replace_all(token, sign, i == 0 && drops ? "" : " ");
      return token;
    });
  if (type == "BPEDecoder")
    return for_each_token(
        [suffix = f.text("suffix", "</w>")](std::string token, std::size_t i, std::size_t count) {
          replace_all(token, suffix, i + 1 == count ? "" : " ");
          return token;
        });
  if (type == "Replace")
    return for_each_token(
        [from = pattern_of(f.at("pattern")), by = f.at("content").text()](
            const std::string& token, std::size_t, std::size_t) { return from.replaced(token, by); });
  if (type == "Strip")
    return for_each_token([of = f.at("content").text(), start = static_cast<std::size_t>(f.at("start").id()),
                           stop = static_cast<std::size_t>(f.at("stop").id())](const std::string& token,
                                                                               std::size_t, std::size_t) {
      return of.empty() ? token : without_ends(token, of, start, stop);
    });
  throw f.error(
      fmt::format("there is no decoder '{}' here; known are BPEDecoder, ByteFallback, ByteLevel, Fuse, "
                  "Metaspace, Replace, Sequence, Strip and WordPiece",
                  type));
}

}  // namespace wsl::ml::detail
