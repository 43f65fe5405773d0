// SPDX-License-Identifier: MIT
// The signatures of a corpus, one after the other: in memory up to a limit, and in a file beyond it, which
// has no name any more and is gone with the process.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <span>

#include "../../io/input_file.hpp"

namespace wsl::ml {

class signature_table {
 public:
  /// Signatures of so many numbers. Beyond `memory` bytes they are written to a file in `folder`.
  signature_table(int numbers, u64 memory, std::string folder)
      : numbers_(static_cast<std::size_t>(numbers)), memory_(memory), folder_(std::move(folder)) {}
  signature_table(const signature_table&) = delete;
  signature_table& operator=(const signature_table&) = delete;
  ~signature_table() {
    if (file_ >= 0) ::close(file_);
  }

  std::size_t count() const { return count_; }
  u64 bytes() const { return u64{4} * numbers_ * count_; }
  /// The bytes that are in the file.
  u64 bytes_on_disk() const { return on_disk_; }
  /// Throws file_error if the file cannot be written.
  void add(std::span<const u32> signature) {
    if (count_ % chunk == 0) chunks_.push_back(another());
    std::copy(signature.begin(), signature.end(), chunks_.back().get() + count_ % chunk * numbers_);
    ++count_;
  }
  std::span<const u32> operator[](std::size_t i) const {
    return {chunks_[i / chunk].get() + i % chunk * numbers_, numbers_};
  }

 private:
  static constexpr std::size_t chunk = 1 << 14;

  std::shared_ptr<u32[]> another() {
    const std::size_t bytes = chunk * numbers_ * 4;
    if ((chunks_.size() + 1) * bytes <= memory_) return std::shared_ptr<u32[]>(new u32[chunk * numbers_]);
    if (file_ < 0) {
      std::string name = folder_ + "/signatures_XXXXXX";
      file_ = ::mkstemp(name.data());
      if (file_ < 0) throw failed();
      ::unlink(name.c_str());
    }
    // The room is made here, for a disk that is full later would end the process.
    if (const int why = ::posix_fallocate(file_, static_cast<off_t>(on_disk_), static_cast<off_t>(bytes))) {
      errno = why;
      throw failed();
    }
    void* at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(on_disk_));
    if (at == MAP_FAILED) throw failed();
    on_disk_ += bytes;
    return {static_cast<u32*>(at), [bytes](u32* x) { ::munmap(x, bytes); }};
  }
  file_error failed() const {
    return file_error(fmt::format("wsl: cannot write signatures to {}: {}: give it room, or more memory",
                                  folder_, std::strerror(errno)));
  }

  std::size_t numbers_;
  u64 memory_, on_disk_ = 0;
  std::string folder_;
  std::vector<std::shared_ptr<u32[]>> chunks_;
  std::size_t count_ = 0;
  int file_ = -1;
};

}  // namespace wsl::ml
