// SPDX-License-Identifier: MIT
// A binary file that is read from its beginning to its end and not trusted: before room is made for numbers,
// the file must have them. What is wrong is said with the file's name, the place and the remedy. Numbers are
// little-endian, as on every machine that wsl runs on.
//   input_file in("train.bin");
//   const std::vector<i32> header = in.take<i32>(256, "the header");
#pragma once
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
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

static_assert(std::endian::native == std::endian::little);

/// What all readers throw for a file that cannot be read, or is not what it should be.
class file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Numbers of a file that stay on the disk until they are looked at. They are there as long as there is an
/// owner.
template <class T>
struct mapped {
  std::shared_ptr<const void> owner;
  std::span<const T> numbers;
};

class input_file {
 public:
  explicit input_file(std::string name)
      : name_(std::move(name)), file_(std::fopen(name_.c_str(), "rb"), &std::fclose) {
    if (!file_) throw file_error("wsl: cannot read " + name_ + ": " + std::strerror(errno));
    struct stat about;
    if (::fstat(::fileno(file_.get()), &about) != 0 || !S_ISREG(about.st_mode))
      throw file_error("wsl: cannot read " + name_ + ": it is no regular file");
    size_ = static_cast<u64>(about.st_size);
  }

  const std::string& name() const { return name_; }
  u64 size() const { return size_; }
  u64 at() const { return at_; }
  u64 left() const { return size_ - at_; }

  /// The next n numbers. Throws file_error if the file has not so many.
  template <class T>
  std::vector<T> take(u64 n, const char* what) {
    must_have(n, sizeof(T), what);
    std::vector<T> numbers(static_cast<std::size_t>(n));
    read(numbers.data(), n * sizeof(T));
    return numbers;
  }
  /// The same as a view, for files that are larger than the memory; the place in the file must be a multiple
  /// of the size of T.
  template <class T>
  mapped<T> map(u64 n, const char* what) {
    must_have(n, sizeof(T), what);
    if (n == 0) return {};
    const auto size = static_cast<std::size_t>(size_);
    void* all = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, ::fileno(file_.get()), 0);
    if (all == MAP_FAILED) refuse(std::string("cannot be mapped: ") + std::strerror(errno));
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
  /// Reads as many bytes as the caller has room for and knows to be there.
  void read(void* to, u64 bytes) {
    if (bytes && std::fread(to, 1, static_cast<std::size_t>(bytes), file_.get()) != bytes)
      refuse("cannot be read further");
    at_ += bytes;
  }
  void go_to(u64 at) {
    if (::fseeko(file_.get(), static_cast<off_t>(at), SEEK_SET) != 0)
      refuse("cannot go to byte " + std::to_string(at));
    at_ = at;
  }
  /// Throws file_error if anything is left.
  void ends_here() const {
    if (left())
      refuse("the file should end here, but " + std::to_string(left()) +
             " bytes follow: it is of another format, or damaged");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw file_error("wsl: " + name_ + ", byte " + std::to_string(at_) + ": " + why);
  }

 private:
  void must_have(u64 n, u64 size, const char* what) const {
    if (n > left() / size)
      refuse(std::string(what) + " should follow, " + std::to_string(n) + " x " + std::to_string(size) +
             " bytes, but only " + std::to_string(left()) +
             " are left: the file is cut short, make or fetch it again");
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
