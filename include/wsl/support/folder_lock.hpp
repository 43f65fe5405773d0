// SPDX-License-Identifier: MIT
// One process at a time works in a folder: two would write over each other's files.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "file_error.hpp"

namespace wsl::support {

/// Held until it is destroyed, or the process ends, however it ends.
class folder_lock {
 public:
  /// Throws file_error with the sentence if another process holds it. Where files cannot be locked nothing is
  /// held.
  folder_lock(const std::string& folder, const std::string& sentence)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(file_);
    throw file_error(sentence);
  }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

}  // namespace wsl::support
