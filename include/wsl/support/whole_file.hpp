// SPDX-License-Identifier: MIT
// A file that exists completely or not at all, whatever interrupts its writing: it is written under another
// name, flushed to the disk, and then renamed. Without `finish` the new file is removed and an older one of
// that name stays. A symbolic link stays one: the file that it names is written. Anything else than a regular
// file, such as a device, is refused, since renaming would put a file in its place.
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

class whole_file {
 public:
  /// All functions throw file_error with the file's name and the system's reason, such as a full
  /// disk.
  explicit whole_file(std::string name) : name_(target_of(std::move(name))) {
    struct stat there;
    if (::stat(name_.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
      throw file_error("wsl: cannot write " + name_ +
                       ": it is no regular file: give a name that is free, or that of a file");
    unfinished_ = name_ + ".unfinished";
    file_ = std::fopen(unfinished_.c_str(), "wb");
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
    sync_folder_of(name_);
  }

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
  std::FILE* file_ = nullptr;
};

/// Writes the text; throws file_error with the file's name if it cannot.
inline void write_whole_file(const std::string& name, const std::string& text) {
  whole_file file(name);
  file.write(text);
  file.finish();
}

}  // namespace wsl::support
