// SPDX-License-Identifier: MIT
// A file of which parts are read, by any number of threads and processes at the same time.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "file_error.hpp"

namespace wsl::support {

class file_reader {
 public:
  /// All functions throw file_error with the file's name and the system's reason.
  explicit file_reader(std::string name) : name_(std::move(name)) {
    file_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat of;
    if (file_ < 0 || ::fstat(file_, &of) != 0) fail(std::strerror(errno));
    if (!S_ISREG(of.st_mode)) fail("it is no regular file, of which parts could be read");
    size_ = static_cast<std::uint64_t>(of.st_size);
  }
  file_reader(const file_reader&) = delete;
  file_reader& operator=(const file_reader&) = delete;
  ~file_reader() {
    if (file_ >= 0) ::close(file_);
  }

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }  ///< bytes, when it was opened

  /// Reads `size` bytes from byte `at` on.
  void read(std::uint64_t at, void* to, std::size_t size) const {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;  // Linux reads at most 2^31 - 4096
    for (char* next = static_cast<char*>(to); size > 0;) {
      const ssize_t n = ::pread(file_, next, std::min(size, most_at_once), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed_to_read(std::strerror(errno));
      if (n == 0) failed_to_read("it ends too early: it was cut short while it was read");
      next += n, at += static_cast<std::uint64_t>(n), size -= static_cast<std::size_t>(n);
    }
  }

 private:
  [[noreturn]] void failed_to_read(const char* why) const {
    throw file_error("wsl: cannot read " + name_ + ": " + why);
  }
  [[noreturn]] void fail(const char* why) {
    const std::string sentence = "wsl: cannot read " + name_ + ": " + why;
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    throw file_error(sentence);
  }

  std::string name_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace wsl::support
