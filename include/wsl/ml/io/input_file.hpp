// SPDX-License-Identifier: MIT
// A binary file that is read from its beginning to its end and not trusted: before room is made for numbers,
// the file must be seen to have them. Errors name the file, the place and the remedy. Numbers are
// little-endian, as on every machine that wsl runs on.
//   input_file in("train.bin");
//   const std::vector<i32> header = in.take<i32>(256, "the header");
#pragma once
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/file_error.hpp"

namespace wsl::ml {

static_assert(std::endian::native == std::endian::little);

using support::file_error;  // thrown by all readers

/// Numbers of a file that stay on the disk until they are read. They are valid as long as `owner` lives.
template <class T>
struct mapped {
  std::shared_ptr<const void> owner;
  std::span<const T> numbers;
};

/// Whether the text of a file is what Git keeps in the place of a large one.
inline bool is_git_lfs_pointer(std::string_view text) {
  return text.starts_with("version https://git-lfs.github.com/spec/");
}
inline constexpr const char* git_lfs_remedy =
    "this is a pointer of Git LFS in the place of the file: fetch the file with `git lfs pull`";

/// Whether a path is there. Throws file_error if that cannot be told, as in a folder that may not be entered.
inline bool file_exists(const std::string& path) {
  struct stat about;
  if (::stat(path.c_str(), &about) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw file_error(fmt::format("wsl: cannot read {}: {}", path, std::strerror(errno)));
}

class input_file {
 public:
  /// Opens a regular file. Throws file_error.
  explicit input_file(std::string name)
      : name_(std::move(name)), file_(std::fopen(name_.c_str(), "rb"), &std::fclose) {
    if (!file_) throw file_error(fmt::format("wsl: cannot read {}: {}", name_, std::strerror(errno)));
    struct stat about;
    if (::fstat(::fileno(file_.get()), &about) != 0 || !S_ISREG(about.st_mode))
      throw file_error(fmt::format("wsl: cannot read {}: it is no regular file", name_));
    size_ = static_cast<u64>(about.st_size);
  }

  const std::string& name() const { return name_; }
  u64 size() const { return size_; }
  u64 at() const { return at_; }
  u64 left() const { return size_ - at_; }

  /// The next n numbers; `what` names them in errors. Throws file_error if the file has fewer.
  template <class T>
  std::vector<T> take(u64 n, const char* what) {
    must_have(n, sizeof(T), what);
    std::vector<T> numbers(static_cast<std::size_t>(n));
    read(numbers.data(), n * sizeof(T));
    return numbers;
  }
  /// The next n numbers as a view, for files that are larger than the memory. The place in the file must be a
  /// multiple of the size of T.
  template <class T>
  mapped<T> map(u64 n, const char* what) {
    must_have(n, sizeof(T), what);
    if (n == 0) return {};
    const auto size = static_cast<std::size_t>(size_);
    void* all = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, ::fileno(file_.get()), 0);
    if (all == MAP_FAILED) throw error("cannot be mapped: {}", std::strerror(errno));
    mapped<T> m{
        {all, [size](void* x) { ::munmap(x, size); }},
        {reinterpret_cast<const T*>(static_cast<const char*>(all) + at_), static_cast<std::size_t>(n)}};
    go_to(at_ + n * sizeof(T));
    return m;
  }
  /// The next n bytes as text.
  std::string take_text(u64 n, const char* what) {
    const std::vector<char> bytes = take<char>(n, what);
    return {bytes.begin(), bytes.end()};
  }
  /// Reads `bytes` bytes, which the caller knows to be there and has room for.
  void read(void* to, u64 bytes) {
    if (bytes && std::fread(to, 1, static_cast<std::size_t>(bytes), file_.get()) != bytes)
      throw error("cannot be read further");
    at_ += bytes;
  }
  void go_to(u64 at) {
    if (::fseeko(file_.get(), static_cast<off_t>(at), SEEK_SET) != 0) throw error("cannot go to byte {}", at);
    at_ = at;
  }
  /// Throws file_error if anything is left of the file.
  void ends_here() const {
    if (left())
      throw error("the file should end here, but {} bytes follow: it is of another format, or damaged",
                  left());
  }
  /// An error at the current place, to be thrown. The message is formatted as by fmt::format.
  template <class... T>
  file_error error(fmt::format_string<T...> text, T&&... x) const {
    return file_error(
        fmt::format("wsl: {}, byte {}: {}", name_, at_, fmt::format(text, std::forward<T>(x)...)));
  }

 private:
  void must_have(u64 n, u64 size, const char* what) const {
    if (n > left() / size)
      throw error(
          "{} should follow, {} x {} bytes, but only {} are left: the file is cut short, make or fetch it "
          "again",
          what, n, size, left());
  }

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  u64 size_ = 0, at_ = 0;
};

/// All of a file. Throws file_error.
inline std::string read_whole(const std::string& name) {
  input_file in(name);
  return in.take_text(in.size(), "the text");
}

}  // namespace wsl::ml
