// SPDX-License-Identifier: MIT
// A file that may be compressed by gzip, read by zlib. How much is in it is not known before it is read, so
// room grows with what really comes, and a small file cannot make a reader take much memory by what it says
// about itself.
#pragma once
#include <zlib.h>

#include <algorithm>

#include "input_file.hpp"

namespace wsl::ml {

class gzip_file {
 public:
  /// A file that is not compressed is read as it is.
  explicit gzip_file(std::string name) : name_(std::move(name)), file_(nullptr, &::gzclose) {
    input_file there(name_);  // says what is wrong with a file that cannot be opened
    file_.reset(::gzopen(name_.c_str(), "rb"));
    if (!file_) refuse("cannot be opened");
  }

  const std::string& name() const { return name_; }

  /// The next n numbers, with their bytes as they are in the file. Throws file_error if there are not so
  /// many.
  template <class T>
  std::vector<T> take(u64 n, const char* what) {
    constexpr u64 step = (1 << 20) / sizeof(T);
    std::vector<T> numbers;
    while (numbers.size() < n) {
      const std::size_t had = numbers.size();
      numbers.resize(static_cast<std::size_t>(std::min(n, std::max(u64{had} * 2, had + step))));
      fill(numbers.data() + had, (numbers.size() - had) * sizeof(T), what);
    }
    return numbers;
  }
  /// Throws file_error if anything is left.
  void ends_here() {
    char more;
    const int got = ::gzread(file_.get(), &more, 1);
    if (got < 0) refuse(problem());
    if (got > 0) refuse("the data should end here, but more follow: the file is damaged");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw file_error("wsl: " + name_ + ", byte " + std::to_string(at_) + " of its content: " + why);
  }

 private:
  void fill(void* to, std::size_t bytes, const char* what) {
    for (std::size_t done = 0; done < bytes;) {
      const auto part = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 30));
      const int got = ::gzread(file_.get(), static_cast<char*>(to) + done, part);
      if (got < 0) refuse(problem());
      if (got == 0)
        refuse(std::string(what) + " should follow, but the file ends: it is cut short, fetch it again");
      done += static_cast<std::size_t>(got), at_ += static_cast<u64>(got);
    }
  }
  std::string problem() {
    int code = 0;
    const char* text = ::gzerror(file_.get(), &code);
    return std::string("cannot be decompressed (") + (code == Z_ERRNO ? std::strerror(errno) : text) +
           "): the file is damaged or cut short, fetch it again";
  }

  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  u64 at_ = 0;
};

}  // namespace wsl::ml
