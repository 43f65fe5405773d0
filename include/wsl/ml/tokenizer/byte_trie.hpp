// SPDX-License-Identifier: MIT
// Keys of bytes with numbers, of which those are found with which a text begins: the tokens of a unigram
// model, and the special tokens in a text.
#pragma once
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml::detail {

class byte_trie {
 public:
  byte_trie() : nodes_(1) {}
  void add(std::string_view key, i32 number) {
    u32 node = 0;
    for (char c : key) {
      u32 next = child(node, static_cast<u8>(c));
      if (!next) {
        next = static_cast<u32>(nodes_.size());
        // A child is found among its siblings, which form a list, or, at the root, in a table.
        nodes_.push_back({-1, 0, nodes_[node].child, static_cast<u8>(c)});
        nodes_[node].child = next;
        if (node == 0) first_[static_cast<u8>(c)] = next;
      }
      node = next;
    }
    nodes_[node].number = number;
  }
  bool is_empty() const { return nodes_.size() == 1; }
  bool may_begin(char c) const { return first_[static_cast<u8>(c)] != 0; }

  /// Calls f(length, number) for each key with which the text begins, the shortest first.
  template <class F>
  void each_beginning(std::string_view text, F f) const {
    u32 node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<u8>(text[i]));
      if (!node) return;
      if (nodes_[node].number >= 0) f(i + 1, nodes_[node].number);
    }
  }

 private:
  struct entry {
    i32 number = -1;
    u32 child = 0, sibling = 0;
    u8 byte = 0;
  };
  u32 child(u32 node, u8 byte) const {
    if (node == 0) return first_[byte];
    u32 c = nodes_[node].child;
    while (c && nodes_[c].byte != byte) c = nodes_[c].sibling;
    return c;
  }
  std::vector<entry> nodes_;
  u32 first_[256] = {};
};

}  // namespace wsl::ml::detail
