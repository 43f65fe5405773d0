// SPDX-License-Identifier: MIT
// Documents: tokens of any number with a target for each, such as chats, pairs of a prompt and its
// completion, or the texts of a corpus. A sequence of a model has one of them and padding
// (padded_documents), or several (packed_documents.hpp).
//   const documents texts = documents_in(read_tokens("train.bin"), 50256, 1024);
//   batches train(padded_documents(texts, 1024, 50256), {.size = 8});
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../model/decoder.hpp"
#include "dataset.hpp"

namespace wsl::ml {

/// Numbered documents. Both functions may be called by several threads at a time.
struct documents {
  i64 count = 0;
  std::function<int(i64 which)> length = {};  ///< tokens of a document, at least one
  /// Writes the tokens of a document and their targets, of which those that do not count are
  /// decoder::no_label. Both have room for `length` of them.
  std::function<void(i64 which, std::span<i32> ids, std::span<i32> targets)> get = {};

  /// The tokens of all.
  i64 tokens() const {
    i64 n = 0;
    for (i64 k = 0; k < count; ++k) n += length(k);
    return n;
  }
};

namespace detail {

/// Throws std::invalid_argument for a document that has no tokens, or more than a sequence.
inline void require_room(const documents& all, int length) {
  if (length < 1)
    throw std::invalid_argument(fmt::format("wsl: a sequence has at least one token, not {}", length));
  for (i64 k = 0; k < all.count; ++k)
    if (const int n = all.length(k); n < 1 || n > length)
      throw std::invalid_argument(
          fmt::format("wsl: document {} has {} tokens, and a sequence from 1 to {}: leave the document out, "
                      "cut it, or take longer sequences",
                      k, n, length));
}

}  // namespace detail

/// A document in each sequence, and behind it padding without targets. Throws std::invalid_argument for a
/// document that has no room.
inline dataset padded_documents(const documents& from, int length, i32 padding) {
  detail::require_room(from, length);
  return {.count = from.count, .length = length, .get = [from, padding](i64 which, const example& to) {
            const auto n = static_cast<std::size_t>(from.length(which));
            from.get(which, to.ids.first(n), to.targets.first(n));
            std::fill(to.ids.begin() + static_cast<std::ptrdiff_t>(n), to.ids.end(), padding);
            std::fill(to.targets.begin() + static_cast<std::ptrdiff_t>(n), to.targets.end(),
                      decoder::no_label);
          }};
}

/// The documents of a text whose tokens have `between` before, between or behind them. A document begins
/// with the token between, where one is before it, and the target of its last token is the one that
/// follows; so each token is learnt from those of its own document, and so is the end. One of more than
/// `length` tokens is cut into several. Throws std::invalid_argument if no document is there.
inline documents documents_in(tokens text, i32 between, int length) {
  if (length < 1)
    throw std::invalid_argument(fmt::format("wsl: a document has at least one token, not {}", length));
  struct part {
    i64 begin;
    int count;
  };
  auto parts = std::make_shared<std::vector<part>>();
  const auto add = [&](i64 begin, i64 end) {  // the inputs
    for (; begin < end; begin += length)
      parts->push_back({begin, static_cast<int>(std::min<i64>(length, end - begin))});
  };
  i64 begin = 0;
  const i64 last = text.size() - 1;  // it is a target only
  for (i64 t = 1; t <= last; ++t) {
    if (text[t] != between) continue;
    // Between two such tokens there is no document.
    if (t - begin > 1 || text[begin] != between) add(begin, t);
    begin = t;
  }
  add(begin, last);
  if (parts->empty())
    throw std::invalid_argument(
        fmt::format("wsl: {} tokens have no document with a token to learn", text.size()));
  const auto all = std::make_shared<const tokens>(std::move(text));
  return {.count = std::ssize(*parts),
          .length = [parts](i64 which) { return (*parts)[static_cast<std::size_t>(which)].count; },
          .get =
              [parts, all](i64 which, std::span<i32> ids, std::span<i32> targets) {
                const i64 from = (*parts)[static_cast<std::size_t>(which)].begin;
                all->copy(from, ids);
                all->copy(from + 1, targets);
              }};
}

}  // namespace wsl::ml
