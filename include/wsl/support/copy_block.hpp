// SPDX-License-Identifier: MIT
// A copy of a block of words with vector instructions, where these are faster than the C library. From 2 KB
// on several libraries use `rep movsb`, which on an AMD EPYC of the fifth generation moves 4 KB within the
// first cache at 19 G words/s; vectors of 32 bytes move them at 30. Blocks of 128 to 256 bytes take eight
// vectors of 32 bytes, or four of 64, without a loop and without a branch on the length. This is the only
// code of the engines that depends on the processor; `scripts/bench copies` compares it with std::memcpy.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>

namespace wsl::support {

namespace detail {

using copier = void(char* to, const char* from, std::size_t bytes);

inline void copy_as_c_does(char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

#ifdef __x86_64__
typedef char vector_of_32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef char vector_of_64 __attribute__((vector_size(64), aligned(1), may_alias));

/// 128 to 256 bytes.
[[gnu::target("avx2")]] inline void copy_eight_vectors(char* to, const char* from, std::size_t bytes) {
  const auto copy = [&](std::size_t at) __attribute__((always_inline)) {
    *reinterpret_cast<vector_of_32*>(to + at) = *reinterpret_cast<const vector_of_32*>(from + at);
  };
  copy(0), copy(32), copy(64), copy(96), copy(bytes - 128), copy(bytes - 96), copy(bytes - 64),
      copy(bytes - 32);
}

/// The same in half as many stores.
[[gnu::target("avx512f")]] inline void copy_four_vectors(char* to, const char* from, std::size_t bytes) {
  const auto copy = [&](std::size_t at) __attribute__((always_inline)) {
    *reinterpret_cast<vector_of_64*>(to + at) = *reinterpret_cast<const vector_of_64*>(from + at);
  };
  copy(0), copy(64), copy(bytes - 128), copy(bytes - 64);
}

/// 128 to 256 bytes whose ends were just written, word by word. A load that spans such a store waits until
/// the store has left the processor's store buffer, whereas a load of the same word is forwarded from it. So
/// the first and the last word are copied by themselves.
[[gnu::target("avx2")]] inline void copy_just_stored_ends(char* to, const char* from, std::size_t bytes) {
  const auto copy = [&](std::size_t at) __attribute__((always_inline)) {
    *reinterpret_cast<vector_of_32*>(to + at) = *reinterpret_cast<const vector_of_32*>(from + at);
  };
  copy(32), copy(64), copy(96), copy(bytes - 128), copy(bytes - 96), copy(bytes - 64), copy(4),
      copy(bytes - 36);
  std::memcpy(to, from, 4), std::memcpy(to + bytes - 4, from + bytes - 4, 4);
}

/// 128 bytes or more.
[[gnu::target("avx2")]] inline void copy_in_vectors(char* to, const char* from, std::size_t bytes) {
  const auto copy = [&](std::size_t at) __attribute__((always_inline)) {
    // `auto` would forget how it is aligned
    const vector_of_32* source = reinterpret_cast<const vector_of_32*>(from + at);
    vector_of_32* target = reinterpret_cast<vector_of_32*>(to + at);
    const vector_of_32 a = source[0], b = source[1], c = source[2], d = source[3];
    target[0] = a, target[1] = b, target[2] = c, target[3] = d;
  };
  for (std::size_t i = 0; i + 128 < bytes; i += 128) copy(i);
  copy(bytes - 128);
}

// On Intel's processors two vectors of 32 bytes are faster than one of 64.
inline bool has_fast_avx512() { return __builtin_cpu_supports("avx512f") && !__builtin_cpu_is("intel"); }
#endif

/// The kinds of blocks: 128 to 256 bytes, perhaps with ends that were just written, or 2 KB and more.
enum class block { with_old_ends, with_fresh_ends, long_one };

inline copier* best_for([[maybe_unused]] block what) {
#ifdef __x86_64__
  if (what == block::with_old_ends && has_fast_avx512()) return copy_four_vectors;
  if (__builtin_cpu_supports("avx2"))
    return what == block::long_one          ? copy_in_vectors
           : what == block::with_fresh_ends ? copy_just_stored_ends
                                            : copy_eight_vectors;
#endif
  return copy_as_c_does;
}

/// A copy function, chosen for this processor when the first block is copied. It is called, not inlined,
/// because the caller's own stores would compete with the copy: processors store one vector a cycle.
template <block what>
class chosen_copier {
 public:
  [[gnu::always_inline]] static void copy(void* to, const void* from, std::size_t bytes) {
    way_.load(std::memory_order_relaxed)(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  }

 private:
  static void first(char* to, const char* from, std::size_t bytes) {
    way_.store(best_for(what), std::memory_order_relaxed);
    copy(to, from, bytes);
  }
  static inline constinit std::atomic<copier*> way_{first};
};

}  // namespace detail

/// Whether a program has most likely just written the first or last word of a block.
enum class ends { settled, just_stored };

/// Copies `bytes` bytes. The blocks do not overlap; the pointers may be null if there are no bytes.
template <ends are = ends::settled>
[[gnu::always_inline]] inline void copy_block(void* to, const void* from, std::size_t bytes) {
  using detail::block, detail::chosen_copier;
  if (bytes >= 128 && bytes <= 256)
    return chosen_copier < are == ends::just_stored ? block::with_fresh_ends
                                                    : block::with_old_ends > ::copy(to, from, bytes);
  // beyond 8 KB the block leaves the first cache, and `rep movsb` wins
  if (bytes >= 2048 && bytes <= 8192) return chosen_copier<block::long_one>::copy(to, from, bytes);
  if (bytes == 0) return;
  // For a length known at compile time GCC emits `rep movs`, which takes longer to start than a call of
  // memcpy.
  asm("" : "+r"(bytes));
  std::memcpy(to, from, bytes);
}

}  // namespace wsl::support
