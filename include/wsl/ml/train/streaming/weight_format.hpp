// SPDX-License-Identifier: MIT
// The format of a weight while it travels to the wafer and waits there to be used: f32, or bf16, of which a
// wavelet carries two. The memory keeps f32 and rounds as the weights leave; a PE widens the tile that it
// uses, so all products and sums are those of f32, and gradients come back as f32. After mixed precision
// training (Micikevicius et al., arXiv 1710.03740) with the format of Kalamkar et al. (arXiv 1905.12322),
// which has the range of f32, so that the loss needs no scaling.
//   ml::bfloat16_trainer t(net.build(), ml::optimizer::adamw());
#pragma once
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "../../../core/half.hpp"
#include "../../op/loop.hpp"

namespace wsl::ml {

namespace detail {

struct round_pairs_loop {
  [[gnu::always_inline]] static void run(std::array<bf16, 2>* to, const f32* x, int n) {
    for (int i = 0; i < n / 2; ++i) to[i] = {bf16(x[2 * i]), bf16(x[2 * i + 1])};
    if (n % 2) to[n / 2] = {bf16(x[n - 1]), 0};
  }
};
struct widen_pairs_loop {
  [[gnu::always_inline]] static void run(f32* to, const std::array<bf16, 2>* x, int n) {
    for (int i = 0; i < n / 2; ++i) to[2 * i] = x[i][0], to[2 * i + 1] = x[i][1];
    if (n % 2) to[n - 1] = x[n / 2][0];
  }
};

}  // namespace detail

template <class Weight>
struct weight_format {
  static_assert(std::is_same_v<Weight, f32> || std::is_same_v<Weight, bf16>,
                "wsl: weights travel as f32 or as bf16, whose ranges need no scaled loss");

  static constexpr std::size_t per_word = 4 / sizeof(Weight);
  using word = std::conditional_t<per_word == 1, Weight, std::array<Weight, 2>>;
  static constexpr std::size_t words(std::size_t n) { return (n + per_word - 1) / per_word; }

  /// The words that carry some numbers, rounded to the nearest weight, ties to even. For f32 they are the
  /// numbers themselves; otherwise they are written to `room`.
  static std::span<word> pack(std::span<f32> numbers, std::vector<word>& room) {
    if constexpr (per_word == 1) return numbers;
    else {
      room.resize(words(numbers.size()));
      run_vectorized<detail::round_pairs_loop>(room.data(), static_cast<const f32*>(numbers.data()),
                                               static_cast<int>(numbers.size()));
      return room;
    }
  }
  /// The n numbers that some words carry: the words themselves for f32, otherwise in `room`.
  static f32* unpack(word* words, std::size_t n, std::vector<f32>& room) {
    if constexpr (per_word == 1) return words;
    else {
      room.resize(n);
      run_vectorized<detail::widen_pairs_loop>(room.data(), static_cast<const word*>(words),
                                               static_cast<int>(n));
      return room.data();
    }
  }
};

}  // namespace wsl::ml
