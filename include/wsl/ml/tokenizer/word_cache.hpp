// SPDX-License-Identifier: MIT
// The tokens of the words that a text has had so far. Texts repeat their words, so that looking for tokens
// costs little.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml::detail {

class word_cache {
 public:
  /// Appends the numbers of a word, which find(word, ids) appends for one that is new.
  template <class Find>
  void append(std::string_view word, std::vector<i32>& ids, Find find) {
    if (word.size() > longest) return find(word, ids);
    if (2 * used_ >= slots_.size()) grow();
    for (std::size_t at = hash(word) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      slot& s = slots_[at];
      if (!s.is_used) {
        const std::size_t first = ids.size();
        find(word, ids);
        if (used_ == most) return;
        s = {static_cast<u32>(text_.size()), static_cast<u32>(ids_.size()),
             static_cast<u32>(ids.size() - first), static_cast<u8>(word.size()), true};
        text_ += word;
        ids_.insert(ids_.end(), ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end());
        ++used_;
        return;
      }
      if (s.bytes == word.size() && std::memcmp(text_.data() + s.text, word.data(), word.size()) == 0) {
        ids.insert(ids.end(), ids_.begin() + s.ids, ids_.begin() + s.ids + s.count);
        return;
      }
    }
  }

 private:
  struct slot {
    u32 text, ids, count;
    u8 bytes;
    bool is_used;
  };
  static constexpr std::size_t longest = 48, most = 1 << 18;

  static u64 hash(std::string_view word) {
    u64 h = word.size() * 0x9e3779b97f4a7c15u;
    while (!word.empty()) {
      u64 eight = 0;
      const std::size_t n = std::min<std::size_t>(word.size(), 8);
      std::memcpy(&eight, word.data(), n);
      word.remove_prefix(n);
      h = (h ^ eight) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return h;
  }
  void grow() {
    std::vector<slot> old =
        std::exchange(slots_, std::vector<slot>(std::max<std::size_t>(256, 4 * slots_.size())));
    for (const slot& s : old) {
      if (!s.is_used) continue;
      std::size_t at = hash(std::string_view(text_).substr(s.text, s.bytes)) & (slots_.size() - 1);
      while (slots_[at].is_used) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = s;
    }
  }

  std::vector<slot> slots_;
  std::size_t used_ = 0;
  std::string text_;      // the words in a row
  std::vector<i32> ids_;  // their tokens in a row
};

}  // namespace wsl::ml::detail
