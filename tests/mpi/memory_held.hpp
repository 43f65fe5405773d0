// SPDX-License-Identifier: MIT
// How much memory a process holds, and may hold, for tests that say so of a rank.
#pragma once
#include <wsl/core/scalar.hpp>

#include <malloc.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

#if defined(__has_feature)
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define HAS_SANITIZER 0
#endif
inline constexpr bool has_sanitizer = HAS_SANITIZER;

/// Bytes that this process has allocated and not freed; sanitizers do not count them. What of them is resident
/// would also depend on the operating system, which takes pages of files back, and joins small pages to large
/// ones, when it likes.
inline wsl::u64 memory_held() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

/// While it lives, this process may have so many bytes of data more than it has now.
class data_limit {
 public:
  explicit data_limit(wsl::u64 more) {
    std::ifstream status("/proc/self/status");
    wsl::u64 kilobytes = 0;
    for (std::string word; status >> word;)
      if (word == "VmData:") status >> kilobytes;
    getrlimit(RLIMIT_DATA, &before_);
    rlimit now = before_;
    now.rlim_cur = 1024 * kilobytes + more;
    setrlimit(RLIMIT_DATA, &now);
  }
  data_limit(const data_limit&) = delete;
  ~data_limit() { setrlimit(RLIMIT_DATA, &before_); }

 private:
  rlimit before_{};
};
