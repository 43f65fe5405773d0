// SPDX-License-Identifier: MIT
// How much memory a process holds, for tests that say what a rank may hold.
#pragma once
#include <wsl/core/scalar.hpp>

#include <malloc.h>

#if defined(__has_feature)
inline constexpr bool has_sanitizer = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool has_sanitizer = false;
#endif

/// Bytes that this process has allocated and not freed; sanitizers do not count them. What of them is resident
/// would also depend on the operating system, which takes pages of files back, and joins small pages to large
/// ones, when it likes.
inline wsl::u64 memory_held() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}
