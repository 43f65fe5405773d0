// SPDX-License-Identifier: MIT
// Copies a block of words whose length is known when the program runs. From 2 KB on some C libraries begin with `rep movsb`, which
// on an AMD EPYC of the fifth generation moves 4 KB within the first cache at 19 G words/s where vectors of 32 bytes move them at 30.
#pragma once
#include <cstddef>
#include <cstring>

namespace wsl {

namespace detail {

#ifdef __x86_64__
/// 128 bytes or more.
[[gnu::target("avx2"), gnu::noinline]] inline void copy_in_vectors(char* to, const char* from, std::size_t bytes) {
  typedef char vector __attribute__((vector_size(32), aligned(1), may_alias));
  const auto copy = [&](std::size_t at) __attribute__((always_inline)) {
    const vector* source = reinterpret_cast<const vector*>(from + at);  // `auto` would forget how it is aligned
    vector* target = reinterpret_cast<vector*>(to + at);
    const vector a = source[0], b = source[1], c = source[2], d = source[3];
    target[0] = a, target[1] = b, target[2] = c, target[3] = d;
  };
  for (std::size_t i = 0; i + 128 < bytes; i += 128) copy(i);
  copy(bytes - 128);
}
#endif

}  // namespace detail

/// The blocks do not overlap.
inline void copy_block(void* to, const void* from, std::size_t bytes) {
#ifdef __x86_64__
  constexpr std::size_t shortest = 2048, longest = 8192;  // beyond that `rep movsb` wins: the block leaves the first cache
  if (bytes >= shortest && bytes <= longest && __builtin_cpu_supports("avx2"))
    return detail::copy_in_vectors(static_cast<char*>(to), static_cast<const char*>(from), bytes);
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace wsl
