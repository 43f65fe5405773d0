// SPDX-License-Identifier: MIT
// The number format of training. In mixed precision (Micikevicius et al., arXiv 1710.03740) weights travel,
// and products take their operands, in 16 bits, and what a stage reads of other stages is rounded to them;
// sums, norms, softmax, losses, gradients of parameters and the memory's master weights are f32.
//   ml::trainer t(net.build(), ml::optimizer::adamw(), {.precision = ml::precision::bfloat16});
// See docs/guide/ml.md, "Precision".
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../core/half.hpp"
#include "../../linalg/convert.hpp"

namespace wsl::ml {

/// f32, or one of the 16-bit formats of core/half.hpp: bf16, f16 and cb16, under the names of the Cerebras
/// Model Zoo's `fp16_type`.
enum class precision : u8 { f32, bfloat16, float16, cbfloat16 };

constexpr std::string_view name_of(precision p) {
  return p == precision::f32        ? "f32"
         : p == precision::bfloat16 ? "bf16"
         : p == precision::float16  ? "f16"
                                    : "cb16";
}
constexpr std::size_t bytes_of(precision p) { return p == precision::f32 ? 4 : 2; }
/// The 32-bit words that carry n numbers: an f32, or two 16-bit numbers, of which the last may be missing.
constexpr std::size_t words_of(precision p, std::size_t n) { return p == precision::f32 ? n : n / 2 + n % 2; }

/// Calls f(std::type_identity<T>) with the type of the format's numbers.
template <class F>
decltype(auto) with_number(precision p, F f) {
  switch (p) {
    case precision::bfloat16: return f(std::type_identity<bf16>{});
    case precision::float16: return f(std::type_identity<f16>{});
    case precision::cbfloat16: return f(std::type_identity<cb16>{});
    default: return f(std::type_identity<f32>{});
  }
}
/// The same for a 16-bit format; with f32 it does nothing.
template <class F>
void with_half(precision p, F f) {
  with_number(p, [&]<class T>(std::type_identity<T> type) {
    if constexpr (!std::is_same_v<T, f32>) f(type);
  });
}

/// Rounds n numbers to a format in place: to nearest, ties to even. A number that is too large becomes
/// infinite.
inline void round_to(precision p, f32* x, i64 n) {
  with_half(p, [&]<class T>(std::type_identity<T>) {
    constexpr i64 some = 1024;
    T rounded[some];
    for (i64 i = 0; i < n; i += some) {
      const i64 count = std::min(some, n - i);
      convert(rounded, x + i, count), convert(x + i, static_cast<const T*>(rounded), count);
    }
  });
}

/// The words that carry some numbers, rounded to the nearest of the format, ties to even. For f32 they are
/// the numbers themselves; otherwise they are written to `room`, the last one padded with a zero.
inline std::span<f32> pack(precision as, std::span<f32> numbers, std::vector<f32>& room) {
  if (as == precision::f32) return numbers;
  room.resize(words_of(as, numbers.size()));
  if (!room.empty()) room.back() = 0;
  with_half(as, [&]<class T>(std::type_identity<T>) {
    convert(reinterpret_cast<T*>(room.data()), static_cast<const f32*>(numbers.data()),
            static_cast<i64>(numbers.size()));
  });
  return room;
}
/// The n numbers that some words carry, as f32: the words themselves, or in `room`.
inline f32* unpack(precision as, f32* words, std::size_t n, std::vector<f32>& room) {
  if (as == precision::f32) return words;
  room.resize(n);
  with_half(as, [&]<class T>(std::type_identity<T>) {
    convert(room.data(), reinterpret_cast<const T*>(words), static_cast<i64>(n));
  });
  return room.data();
}

}  // namespace wsl::ml
