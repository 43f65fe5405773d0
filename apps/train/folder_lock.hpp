// SPDX-License-Identifier: MIT
// One run at a time trains in a folder: two would write over each other's checkpoints.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>

namespace train_app {

/// Held until it is destroyed, or the process ends, however it ends.
class folder_lock {
 public:
  /// Throws std::runtime_error if another process holds it. Where files cannot be locked nothing is held.
  explicit folder_lock(const std::filesystem::path& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(file_);
    throw std::runtime_error("another process trains in " + folder.string() +
                             ": wait until it has ended, or take another --model_dir");
  }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

}  // namespace train_app
