// SPDX-License-Identifier: MIT
// A file of a known size that is written in pieces, wherever they lie in it, and that exists completely or
// not at all, as a whole_file. mpi/joint_file.hpp is the same for several processes.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "file_replacement.hpp"
#include "text.hpp"

namespace wsl::support {

/// Bytes of a file that follow each other.
struct file_run {
  std::uint64_t at = 0, size = 0;
};

/// Why runs cannot be written to a file of this size; empty if they can.
inline std::string fault_of(std::span<const file_run> runs, std::uint64_t size) {
  std::uint64_t end = 0;
  for (const file_run& r : runs) {
    if (r.at > size || r.size > size - r.at)
      return joined({"a run of ", r.size, " bytes from byte ", r.at, " on lies beyond the size of the file, ",
                     size, " bytes"});
    if (r.at < end)
      return joined({"a run begins at byte ", r.at, ", before the end of the one before it, byte ", end});
    end = r.at + r.size;
  }
  return {};
}

class scattered_file {
 public:
  /// Bytes that are not written are zeros. All functions throw file_error with the file's name and the
  /// system's reason.
  scattered_file(std::string name, std::uint64_t size)
      : to_(std::move(name)), size_(size), file_(created(to_, size)) {}
  scattered_file(const scattered_file&) = delete;
  scattered_file& operator=(const scattered_file&) = delete;
  ~scattered_file() {
    if (file_ >= 0) ::close(file_), to_.discard();
  }

  std::uint64_t size() const { return size_; }

  /// Does a part of the work before a write. Where several processes write, one that fails alone ends all.
  template <class F>
  void together(F part) {
    part();
  }

  /// Makes the unfinished file, with its size; returns its descriptor. Where the file system can, the room on
  /// the disk is taken at once: Open MPI hangs if it is missing while several ranks write.
  static int created(const file_replacement& of, std::uint64_t size) {
    const int file = ::open(of.unfinished().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0) fail(of, file);
    int failure = 0;
    do failure = size > 0 ? ::fallocate(file, 0, 0, static_cast<off_t>(size)) : 0;
    while (failure != 0 && errno == EINTR);
    if (failure != 0 && errno != EOPNOTSUPP && errno != ENOSYS) fail(of, file);
    return file;
  }

  /// Writes bytes, one run after the other. Throws if runs are not ascending, overlap, or lie beyond the size
  /// of the file.
  void write(std::span<const file_run> runs, const void* bytes) {
    if (const std::string why = fault_of(runs, size_); !why.empty()) fail(to_, std::exchange(file_, -1), why);
    const char* next = static_cast<const char*>(bytes);
    for (const file_run& r : runs) {
      for (std::uint64_t done = 0; done < r.size;) {
        constexpr std::uint64_t most_at_once = std::uint64_t{1} << 30;  // Linux writes at most 2^31 - 4096
        const ssize_t n = ::pwrite(file_, next + done, std::min(r.size - done, most_at_once),
                                   static_cast<off_t>(r.at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(to_, std::exchange(file_, -1));
        done += static_cast<std::uint64_t>(n);
      }
      next += r.size;
    }
  }

  void finish() {
    if (::fsync(file_) != 0 || ::close(std::exchange(file_, -1)) != 0 || !to_.take_place())
      fail(to_, std::exchange(file_, -1));
  }

 private:
  [[noreturn]] static void fail(const file_replacement& of, int file) {
    fail(of, file, std::strerror(errno));
  }
  [[noreturn]] static void fail(const file_replacement& of, int file, const std::string& why) {
    if (file >= 0) ::close(file);
    of.discard();
    throw file_error("wsl: cannot write " + of.name() + ": " + why);
  }

  file_replacement to_;
  std::uint64_t size_;
  int file_;
};

}  // namespace wsl::support
