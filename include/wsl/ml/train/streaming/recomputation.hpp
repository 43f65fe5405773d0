// SPDX-License-Identifier: MIT
// Recomputation of activations (Chen et al., arXiv 1604.06174). The stages of a model are cut into blocks.
// The forward pass keeps only the values that cross a border between blocks, and frees the others at the end
// of their block, so all blocks share their memory. The backward pass computes the forward pass of each block
// again, just before it goes back through it; the last block, with the losses, still has its values. A stage
// gives the same numbers each time, dropout included, so no bit changes.
#pragma once
#include <algorithm>
#include <set>
#include <vector>

#include "../../model/network.hpp"

namespace wsl::ml {

/// Consecutive stages, and the values that nothing outside of them reads.
struct recomputed_block {
  int begin = 0, end = 0;  ///< the stages from `begin` to before `end`
  std::vector<int> inner;  ///< values made in the block, and read only there
};

class recomputation {
 public:
  /// The blocks that need the least memory for activations, of those with about as many stages each; or, if
  /// it is not `on`, one block of all stages, which keeps everything.
  recomputation(const network& n, bool on) : uses_(uses_of(n)), blocks_(cut(n, {})) {
    if (!on) return;
    i64 least = size(n, blocks_);
    // The narrowest borders may lie anywhere, so borders of each width are tried, and each number of pieces
    // between them that make a block.
    for (const i64 width : widths_of_borders(n)) {
      std::vector<int> narrow;
      for (int k = 1; k < last_border(n); ++k)
        if (crossing(n, k) <= width) narrow.push_back(k);
      for (std::size_t of_block = 1; of_block <= narrow.size(); ++of_block) {
        std::vector<int> borders;
        for (std::size_t k = narrow.size(); k >= of_block; k -= of_block)
          borders.push_back(narrow[k - of_block]);
        std::reverse(borders.begin(), borders.end());
        std::vector<recomputed_block> all = cut(n, borders);
        if (const i64 takes = size(n, all); takes < least) least = takes, blocks_ = std::move(all);
      }
    }
  }

  const std::vector<recomputed_block>& blocks() const { return blocks_; }
  bool is_last(const recomputed_block& b) const { return &b == &blocks_.back(); }
  /// Whether a value outlives its block.
  bool keeps(int value) const {
    return std::none_of(blocks_.begin(), blocks_.end(), [&](const recomputed_block& b) {
      return std::find(b.inner.begin(), b.inner.end(), value) != b.inner.end();
    });
  }
  /// The most that activations need at a time, if value v needs of(v): all that is kept, the largest block
  /// that is freed, and the last one.
  template <class T, class F>
  T most(const network& n, F of) const {
    return most<T>(n, blocks_, of);
  }

 private:
  /// The stages that make a value and read it last, by their numbers; -1 for what the host gives.
  struct use {
    int made = -1, read = -1;
  };
  static std::vector<use> uses_of(const network& n) {
    std::vector<use> all(n.values().size());
    for (const auto& s : n.stages()) {
      for (int v : s->inputs) all[static_cast<std::size_t>(v)].read = s->number;
      if (!dynamic_cast<const loss_stage*>(s.get()))
        all[static_cast<std::size_t>(s->output)].made = s->number;
    }
    // The host reads the logits when all is done.
    if (n.logits() >= 0) all[static_cast<std::size_t>(n.logits())].read = static_cast<int>(n.stages().size());
    return all;
  }
  /// Losses run once, so they are in the last block: its border lies before this stage.
  static int last_border(const network& n) {
    return static_cast<int>(n.stages().size() - n.losses().size()) + 1;
  }
  /// The numbers of value v for a token, or for an image of which its tokens are the pixels.
  static i64 numbers_of(const network& n, std::size_t v) {
    const token_axis& a = n.axes()[static_cast<std::size_t>(n.values()[v].axis)];
    return i64{n.widths()[v]} * std::max(1, a.image.pixels());
  }
  /// The numbers that stage k and those after it read of what the stages before it make.
  i64 crossing(const network& n, int k) const {
    i64 numbers = 0;
    for (std::size_t v = 0; v < uses_.size(); ++v)
      if (uses_[v].made >= 0 && uses_[v].made < k && uses_[v].read >= k) numbers += numbers_of(n, v);
    return numbers;
  }
  std::set<i64> widths_of_borders(const network& n) const {
    std::set<i64> all;
    for (int k = 1; k < last_border(n); ++k) all.insert(crossing(n, k));
    return all;
  }
  std::vector<recomputed_block> cut(const network& n, const std::vector<int>& borders) const {
    std::vector<recomputed_block> all(1);
    for (int k : borders) all.back().end = k, all.push_back({.begin = k, .end = 0, .inner = {}});
    const int stages = static_cast<int>(n.stages().size());
    all.back().end = stages;
    for (std::size_t v = 0; v < uses_.size(); ++v)
      for (recomputed_block& b : all)
        if (const use& u = uses_[v];
            u.made >= b.begin && u.made < b.end && (u.read < b.end || b.end == stages))
          b.inner.push_back(static_cast<int>(v));
    return all;
  }
  i64 size(const network& n, const std::vector<recomputed_block>& blocks) const {
    return most<i64>(n, blocks, [&](int v) { return numbers_of(n, static_cast<std::size_t>(v)); });
  }
  template <class T, class F>
  static T most(const network& n, const std::vector<recomputed_block>& blocks, F of) {
    T kept = 0, largest = 0, last = 0;
    for (int v = 0; v < static_cast<int>(n.values().size()); ++v) kept += of(v);
    for (const recomputed_block& b : blocks) {
      last = 0;
      for (int v : b.inner) last += of(v);
      kept -= last;
      if (&b != &blocks.back()) largest = std::max(largest, last);
    }
    return kept + largest + last;
  }

  std::vector<use> uses_;
  std::vector<recomputed_block> blocks_;
};

}  // namespace wsl::ml
