// SPDX-License-Identifier: MIT
// A dataset: numbered examples of one shape, whatever they come from: windows of a text, images (images.hpp),
// sentences with a class (text/), or a function of your own.
//   const dataset text = windows(read_tokens("train.bin"), 64);
// Where a model has several inputs or targets, the numbers of an example have the names that the model gives
// them (dataset::named).
#pragma once
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>

#include "../../support/fingerprint.hpp"
#include "token_file.hpp"

namespace wsl::ml {

/// Whole numbers of an example that a batch has by name, such as "attention_mask".
struct named_field {
  std::string name;
  int count = 1;  ///< numbers of an example: its length, or 1 for what is said of the example as a whole
};

/// Room for an example. Either `ids` or `features` is empty; with names, both and the targets are.
struct example {
  std::span<i32> ids;                          ///< (length)
  std::span<f32> features;                     ///< (length, width)
  std::span<i32> targets;                      ///< (length)
  std::span<const std::span<i32>> named = {};  ///< those of dataset::named, in their order
  /// The key of random choices, such as which words are hidden: another one in each epoch (text/draws.hpp).
  u64 key = 0;
  i64 epoch = 0;  ///< the pass over the data
};

struct dataset {
  i64 count = 0;
  int length = 1;                                         ///< tokens in an example
  int width = 0;                                          ///< features of a token; 0: a token is an id
  std::function<void(i64 which, const example& to)> get;  ///< called by several threads at a time
  std::vector<named_field> named = {};                    ///< empty: ids or features, and targets
};

/// A number that tells datasets apart. It depends on their shape and on 64 examples, spread over all.
inline u64 fingerprint_of(const dataset& d) {
  support::fingerprint f;
  f.add(d.count), f.add(d.length), f.add(d.width);
  const auto tokens = static_cast<std::size_t>(d.named.empty() ? d.length : 0),
             width = static_cast<std::size_t>(d.width);
  std::vector<i32> ids(width ? 0 : tokens), targets(tokens);
  std::vector<f32> features(tokens * width);
  std::vector<std::vector<i32>> named;
  for (const named_field& x : d.named) {
    f.add(x.name.data(), x.name.size());
    named.emplace_back(static_cast<std::size_t>(x.count));
  }
  const std::vector<std::span<i32>> rooms(named.begin(), named.end());
  constexpr i64 most = 64;
  for (i64 k = 0; k < std::min(most, d.count); ++k) {
    d.get(d.count * k / std::min(most, d.count), {ids, features, targets, rooms});
    f.add(ids.data(), ids.size() * sizeof(i32)), f.add(features.data(), features.size() * sizeof(f32)),
        f.add(targets.data(), targets.size() * sizeof(i32));
    for (const std::vector<i32>& x : named) f.add(x.data(), x.size() * sizeof(i32));
  }
  return f.value();
}

/// Windows of `length` tokens, in which the target of each token is the token after it. A window begins every
/// `stride` tokens: 0 stands for `length`, which cuts the text into pieces; 1 gives every window. Throws
/// std::invalid_argument if there is no window.
inline dataset windows(tokens x, int length, i64 stride = 0) {
  if (length < 1 || stride < 0)
    throw std::invalid_argument(
        fmt::format("wsl: a window has a positive length and stride, not {} and {}", length, stride));
  if (x.size() <= length)
    throw std::invalid_argument(
        fmt::format("wsl: {} tokens have no window of {} with a token after it", x.size(), length));
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
