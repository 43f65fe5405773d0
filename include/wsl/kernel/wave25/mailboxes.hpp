// SPDX-License-Identifier: MIT
// The words that cross a side of a PE, in one piece, as a descriptor needs them. One line lies in one piece
// already; the lines of a block are gathered before they are sent and spread out when they have come.
#pragma once
#include <cstring>

#include "tile.hpp"

namespace wsl::wave25 {

template <class Storage>
class mailboxes;

template <int nz>
class mailboxes<one_line<nz>> {
  using here = tile<one_line<nz>>;

 public:
  std::span<f32> sending(here& t, int stage, port side) {
    std::span<f32> words;
    t.outgoing(stage, side, [&](f32* line) { words = {line, nz}; });
    return words;
  }
  std::span<f32> receiving(here& t, int stage, port side) {
    std::span<f32> words;
    t.incoming(stage, side, [&](f32* line) { words = {line, nz}; });
    return words;
  }
  void take_in(here&, int, port) {}
};

template <>
class mailboxes<block> {
  using here = tile<block>;

 public:
  std::span<f32> sending(here& t, int stage, port side) {
    std::vector<f32>& box = out_[index_of(side)];
    box.clear();
    t.outgoing(stage, side, [&](f32* line) { box.insert(box.end(), line, line + t.cut().size.z); });
    return box;
  }
  std::span<f32> receiving(here& t, int stage, port side) {
    std::size_t n = 0;
    t.incoming(stage, side, [&](f32*) { n += static_cast<std::size_t>(t.cut().size.z); });
    std::vector<f32>& box = in_[index_of(side)];
    box.resize(n);
    return box;
  }
  void take_in(here& t, int stage, port side) {
    const f32* from = in_[index_of(side)].data();
    const std::size_t n = static_cast<std::size_t>(t.cut().size.z);
    t.incoming(stage, side, [&](f32* line) { std::memcpy(line, from, n * sizeof(f32)), from += n; });
  }

 private:
  std::vector<f32> out_[5], in_[5];
};

}  // namespace wsl::wave25
