// SPDX-License-Identifier: MIT
// The file that a new one takes the place of when it is whole, and the name under which it is written until
// then. A symbolic link stays one: the file that it names is replaced. Anything else than a regular file,
// such as a device, is refused, since renaming would put a file in its place.
#pragma once
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "file_error.hpp"

namespace wsl::support {

class file_replacement {
 public:
  /// Throws file_error if no file can be there.
  explicit file_replacement(std::string name) : name_(target_of(std::move(name))) {
    struct stat there;
    if (::stat(name_.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
      throw file_error("wsl: cannot write " + name_ +
                       ": it is no regular file: give a name that is free, or that of a file");
    unfinished_ = name_ + ".unfinished";
  }

  const std::string& name() const { return name_; }
  /// The name of the new file while it is written.
  const std::string& unfinished() const { return unfinished_; }

  /// Puts the new file in its place; returns whether it could, and errno says why not.
  bool take_place() const {
    if (std::rename(unfinished_.c_str(), name_.c_str()) != 0) return false;
    sync_folder_of(name_);
    return true;
  }
  void discard() const { std::remove(unfinished_.c_str()); }

  /// Lets a new name reach the disk with its folder; a file system that cannot promise that is no reason to
  /// fail.
  static void sync_folder_of(const std::string& name) {
    const int folder = ::open(folder_of(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
  }

 private:
  /// The folder of a name, with a slash at its end.
  static std::string folder_of(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    return slash == std::string::npos ? "./" : name.substr(0, slash + 1);
  }
  /// The file that a chain of symbolic links ends at, whether it is there or not.
  static std::string target_of(std::string name) {
    constexpr int longest_chain = 40;  // that of Linux
    char target[PATH_MAX];
    for (int links = 0; links < longest_chain; ++links) {
      const ssize_t size = ::readlink(name.c_str(), target, sizeof target);
      if (size < 0) return name;
      const std::string next(target, static_cast<std::size_t>(size));
      name = next.starts_with('/') ? next : folder_of(name) + next;
    }
    throw file_error("wsl: cannot write " + name + ": " + std::strerror(ELOOP));
  }

  std::string name_, unfinished_;
};

}  // namespace wsl::support
