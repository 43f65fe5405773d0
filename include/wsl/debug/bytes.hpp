// SPDX-License-Identifier: MIT
// The bytes of a dump: whole numbers of any size in groups of seven bits (LEB128), texts and blocks with
// their lengths before them. What is read is not trusted: nothing is taken that is not there.
#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "../core/scalar.hpp"
#include "../support/file_error.hpp"

namespace wsl::debug {

class byte_writer {
 public:
  void number(u64 n) {
    for (; n > 127; n >>= 7) bytes_ += static_cast<char>(n | 128);
    bytes_ += static_cast<char>(n);
  }
  /// A number that may be negative: small ones take few bytes.
  void signed_number(i64 n) { number(static_cast<u64>(n) << 1 ^ (n < 0 ? ~u64{0} : 0)); }
  void text(std::string_view t) { number(t.size()), bytes_ += t; }
  void raw(const void* first, std::size_t n) { bytes_.append(static_cast<const char*>(first), n); }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Throws support::file_error where the bytes end too early, or a number is not what it must be.
class byte_reader {
 public:
  explicit byte_reader(std::string_view bytes) : bytes_(bytes) {}

  u64 number(const char* what) {
    u64 n = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<u8>(*raw(1, what));
      n |= u64{byte & 127u} << shift;
      if (byte < 128) return n;
    }
    fail(what, "is no number");
  }
  i64 signed_number(const char* what) {
    const u64 n = number(what);
    return static_cast<i64>(n >> 1 ^ (n & 1 ? ~u64{0} : 0));
  }
  /// A number from 0 to `most`.
  u64 at_most(u64 most, const char* what) {
    const u64 n = number(what);
    if (n > most)
      fail(what, "is " + std::to_string(n) + ", and at most " + std::to_string(most) + " is possible");
    return n;
  }
  /// A number of things of which each takes at least a byte of those that are left.
  std::size_t count(const char* what) { return static_cast<std::size_t>(at_most(left(), what)); }
  std::string_view text(const char* what) {
    const std::size_t n = count(what);
    return {raw(n, what), n};
  }
  const char* raw(u64 n, const char* what) {
    if (n > left()) fail(what, "ends behind the last byte");
    return bytes_.data() + std::exchange(at_, at_ + static_cast<std::size_t>(n));
  }

  u64 left() const { return bytes_.size() - at_; }
  void must_be_at_end(const char* what) const {
    if (left()) fail(what, "is followed by " + std::to_string(left()) + " bytes too many");
  }
  [[noreturn]] void fail(const char* what, const std::string& why) const {
    throw support::file_error("the contents are damaged at byte " + std::to_string(at_) + ": " + what + " " +
                              why);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace wsl::debug
