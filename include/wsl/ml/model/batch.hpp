// SPDX-License-Identifier: MIT
// A batch: the examples that the host gives for a step, and the check that they fit the model.
#pragma once
#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <string>

#include "network.hpp"

namespace wsl::ml {

/// `sequences` sequences of `length` tokens each. A token is a number in the vocabulary (`ids`), or some
/// features.
struct batch {
  std::span<const i32> ids = {};       ///< (sequences, length)
  std::span<const f32> features = {};  ///< (sequences, length, width)
  std::span<const i32> targets = {};   ///< (sequences, length)
  std::span<const f32> mask = {};      ///< weight of each token in the loss; empty: all count 1
  int sequences = 0, length = 1;
  f32 weight = 0;  ///< 1 / (sum of the mask), set by `check`

  std::size_t tokens() const {
    return static_cast<std::size_t>(sequences) * static_cast<std::size_t>(length);
  }
};

/// The part of every batch that a process needs: the sequences of wafers `first` to `end` - 1 of `of` wafers.
struct batch_part {
  int first = 0, end = 1, of = 1;
  i64 begin_in(i64 sequences) const { return sequences * first / of; }
  i64 end_in(i64 sequences) const { return sequences * end / of; }
};

namespace detail {

inline void fits(const batch& b, const char* what, std::size_t has, std::size_t wants) {
  if (has != wants)
    throw std::invalid_argument(fmt::format("wsl: a batch of {} sequences of {} has {} {}, not {}",
                                            b.sequences, b.length, has, what, wants));
}
inline void all_below(const char* what, std::span<const i32> numbers, int end) {
  if (end < 1 && !numbers.empty())
    throw std::invalid_argument(std::string("wsl: the batch has an ") + what +
                                " for each token, but the model has no embedding: give it features");
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] < 0 || numbers[i] >= end)
      throw std::invalid_argument(
          fmt::format("wsl: {} {} of the batch is {}, not one of 0 to {}", what, i, numbers[i], end - 1));
}

}  // namespace detail

/// Checks the input of a model. Throws std::invalid_argument.
inline void check_input(const network& n, const batch& b) {
  if (b.sequences < 0 || b.length < 1)
    throw std::invalid_argument(fmt::format(
        "wsl: a batch has 0 or more sequences of at least one token, not {} of {}", b.sequences, b.length));
  if (b.features.empty()) detail::fits(b, "ids", b.ids.size(), b.tokens());
  else detail::fits(b, "features", b.features.size(), b.tokens() * static_cast<std::size_t>(n.width(0)));
  detail::all_below("id", b.ids, n.vocabulary());
  if (n.positions() && b.length > n.positions())
    throw std::invalid_argument(
        fmt::format("wsl: a sequence of {} tokens is longer than the {} positions of the model", b.length,
                    n.positions()));
}
/// Checks a batch with targets, sets its weight, and returns the sum of the mask. Throws
/// std::invalid_argument.
inline f64 check(const network& n, batch& b) {
  detail::fits(b, "targets", b.targets.size(), b.tokens());
  check_input(n, b);
  if (!b.mask.empty()) detail::fits(b, "numbers of the mask", b.mask.size(), b.tokens());
  detail::all_below("target", b.targets, n.width(n.logits()));
  f64 counts = static_cast<f64>(b.tokens());
  if (!b.mask.empty()) {
    counts = 0;
    for (f32 m : b.mask) counts += static_cast<f64>(m);
  }
  if (!(counts > 0))
    throw std::invalid_argument(
        "wsl: no token of the batch counts: it is empty, or its mask is 0 everywhere");
  b.weight = static_cast<f32>(1 / counts);
  return counts;
}

}  // namespace wsl::ml
