// SPDX-License-Identifier: MIT
// A file that may be compressed by gzip, read by zlib. Its size is not known before it has been read, so
// memory is allocated as data arrive, and a small file cannot make a reader allocate much memory by a false
// header.
#pragma once
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "input_file.hpp"

namespace wsl::ml {

class gzip_file {
 public:
  /// Opens a file; one that is not compressed is read as it is. Throws file_error.
  explicit gzip_file(std::string name) : name_(std::move(name)), file_(nullptr, &::gzclose) {
    input_file there(name_);  // throws if the file cannot be opened
    file_.reset(::gzopen(name_.c_str(), "rb"));
    if (!file_) throw error("cannot be opened");
  }

  const std::string& name() const { return name_; }

  /// The next n numbers, with their bytes in the order of the file; `what` names them in errors. Throws
  /// file_error if there are fewer.
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
  /// Throws file_error if anything is left of the content.
  void ends_here() {
    char more;
    const int got = ::gzread(file_.get(), &more, 1);
    if (got < 0) throw error("{}", problem());
    if (got > 0) throw error("the data should end here, but more follow: the file is damaged");
  }
  /// An error at the current place, to be thrown. The message is formatted as by fmt::format.
  template <class... T>
  file_error error(fmt::format_string<T...> text, T&&... x) const {
    return file_error(fmt::format("wsl: {}, byte {} of its content: {}", name_, at_,
                                  fmt::format(text, std::forward<T>(x)...)));
  }

 private:
  void fill(void* to, std::size_t bytes, const char* what) {
    for (std::size_t done = 0; done < bytes;) {
      const auto part = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 30));
      const int got = ::gzread(file_.get(), static_cast<char*>(to) + done, part);
      if (got < 0) throw error("{}", problem());
      if (got == 0) throw error("{} should follow, but the file ends: it is cut short, fetch it again", what);
      done += static_cast<std::size_t>(got), at_ += static_cast<u64>(got);
    }
  }
  std::string problem() {
    int code = 0;
    const char* text = ::gzerror(file_.get(), &code);
    return fmt::format("cannot be decompressed ({}): the file is damaged or cut short, fetch it again",
                       code == Z_ERRNO ? std::strerror(errno) : text);
  }

  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  u64 at_ = 0;
};

}  // namespace wsl::ml
