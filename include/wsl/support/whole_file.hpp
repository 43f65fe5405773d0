// SPDX-License-Identifier: MIT
// A file that exists completely or not at all, whatever interrupts its writing: it is written under another
// name, flushed to the disk, and then renamed. Without `finish` the new file is removed and an older one of
// that name stays.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "file_replacement.hpp"

namespace wsl::support {

class whole_file {
 public:
  /// All functions throw file_error with the file's name and the system's reason, such as a full
  /// disk.
  explicit whole_file(std::string name)
      : to_(std::move(name)), file_(std::fopen(to_.unfinished().c_str(), "wb")) {
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
    if (std::fclose(std::exchange(file_, nullptr)) != 0 || !to_.take_place()) fail();
  }

 private:
  void discard() {
    if (file_) std::fclose(std::exchange(file_, nullptr));
    to_.discard();
  }
  [[noreturn]] void fail() {
    const std::string why = std::strerror(errno);
    discard();
    throw file_error("wsl: cannot write " + to_.name() + ": " + why);
  }

  file_replacement to_;
  std::FILE* file_ = nullptr;
};

/// Writes the text; throws file_error with the file's name if it cannot.
inline void write_whole_file(const std::string& name, const std::string& text) {
  whole_file file(name);
  file.write(text);
  file.finish();
}

}  // namespace wsl::support
