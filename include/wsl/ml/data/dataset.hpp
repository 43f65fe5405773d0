// SPDX-License-Identifier: MIT
// Numbered examples of one shape, whatever they are made of: windows of a text, images (see images.hpp), or
// your own function.
//   const dataset text = windows(read_tokens("train.bin"), 64);
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "../../support/fingerprint.hpp"
#include "token_file.hpp"

namespace wsl::ml {

/// Where an example goes; `ids` or `features` is empty.
struct example {
  std::span<i32> ids;       ///< (length)
  std::span<f32> features;  ///< (length, width)
  std::span<i32> targets;   ///< (length)
};

struct dataset {
  i64 count = 0;
  int length = 1;  ///< tokens of an example
  int width = 0;   ///< features of a token; 0: a token is a number, an id
  std::function<void(i64 which, const example& to)> get;  ///< called by several threads at a time
};

/// Tells data apart: their shape, and some of the examples, spread over all.
inline u64 fingerprint_of(const dataset& d) {
  support::fingerprint f;
  f.add(d.count), f.add(d.length), f.add(d.width);
  const auto tokens = static_cast<std::size_t>(d.length), width = static_cast<std::size_t>(d.width);
  std::vector<i32> ids(width ? 0 : tokens), targets(tokens);
  std::vector<f32> features(tokens * width);
  constexpr i64 most = 64;
  for (i64 k = 0; k < std::min(most, d.count); ++k) {
    d.get(d.count * k / std::min(most, d.count), {ids, features, targets});
    f.add(ids.data(), ids.size() * sizeof(i32)), f.add(features.data(), features.size() * sizeof(f32)),
        f.add(targets.data(), targets.size() * sizeof(i32));
  }
  return f.value();
}

/// Windows of `length` tokens, each with the token after it as target; they begin every `stride` tokens:
/// `length` (0) cuts the text in pieces, 1 gives every window there is. Throws std::invalid_argument if there
/// is not one.
inline dataset windows(tokens x, int length, i64 stride = 0) {
  if (length < 1 || stride < 0)
    throw std::invalid_argument("wsl: a window has a positive length and stride, not " +
                                std::to_string(length) + " and " + std::to_string(stride));
  if (x.size() <= length)
    throw std::invalid_argument("wsl: " + std::to_string(x.size()) + " tokens have no window of " +
                                std::to_string(length) + " with a token after it");
  const i64 by = stride ? stride : length;
  const auto all = std::make_shared<const tokens>(std::move(x));
  return {.count = (all->size() - 1 - length) / by + 1,
          .length = length,
          .get = [all, by](i64 which, const example& to) {
            all->copy(which * by, to.ids);
            all->copy(which * by + 1, to.targets);
          }};
}

}  // namespace wsl::ml
