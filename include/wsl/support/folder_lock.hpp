// SPDX-License-Identifier: MIT
// One process at a time works in a folder: two would write over each other's files.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "file_error.hpp"

namespace wsl::support {

/// Held until it is destroyed, or the process ends, however it ends.
class folder_lock {
 public:
  /// Throws file_error with the sentence if another process holds it for a second. Where files cannot be
  /// locked nothing is held.
  folder_lock(const std::string& folder, const std::string& sentence)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A process that is killed while it starts another leaves it the lock, until that one runs its program.
    for (int waits = 20; waits >= 0; --waits) {
      if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      if (waits > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
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
