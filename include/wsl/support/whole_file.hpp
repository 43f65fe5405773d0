// SPDX-License-Identifier: MIT
// A file that exists completely or not at all, whatever interrupts its writing: it is written under another
// name, flushed to the disk, and then renamed. Without `finish` the new file is removed and an older one of
// that name stays.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "file_error.hpp"

namespace wsl::support {

class whole_file {
 public:
  /// All functions throw file_error with the file's name and the system's reason, such as a full
  /// disk.
  explicit whole_file(std::string name)
      : name_(std::move(name)),
        unfinished_(name_ + ".unfinished"),
        file_(std::fopen(unfinished_.c_str(), "wb")) {
    if (!file_) fail();
  }
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file() { discard(); }

  void write(const void* bytes, std::size_t size) {
    if (size && std::fwrite(bytes, 1, size, file_) != size) fail();
  }
  void write(const std::string& text) { write(text.data(), text.size()); }

  void finish() {
    if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0) fail();
    if (std::fclose(std::exchange(file_, nullptr)) != 0 ||
        std::rename(unfinished_.c_str(), name_.c_str()) != 0)
      fail();
    // The new name reaches the disk with its folder; a file system that cannot promise that is no reason to
    // fail.
    const std::size_t slash = name_.rfind('/');
    const int folder = ::open(slash == std::string::npos ? "." : name_.substr(0, slash + 1).c_str(),
                              O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
  }

 private:
  void discard() {
    if (file_) std::fclose(std::exchange(file_, nullptr));
    std::remove(unfinished_.c_str());
  }
  [[noreturn]] void fail() {
    const std::string why = std::strerror(errno);
    discard();
    throw file_error("wsl: cannot write " + name_ + ": " + why);
  }

  std::string name_, unfinished_;
  std::FILE* file_;
};

/// Writes the text; throws file_error with the file's name if it cannot.
inline void write_whole_file(const std::string& name, const std::string& text) {
  whole_file file(name);
  file.write(text);
  file.finish();
}

}  // namespace wsl::support
