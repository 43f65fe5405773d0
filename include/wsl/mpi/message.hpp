// SPDX-License-Identifier: MIT
// Bytes on their way to another rank: plain values one after the other, read in the order in which they were put. All ranks run the same
// program on machines of one kind, so values travel as they lie in memory.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/scalar.hpp"

namespace wsl::mpi {

class message {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put(&value, sizeof value); }
  void put(const std::string& text) {
    put(text.size());
    put(text.data(), text.size());
  }
  template <class T>
  void put(std::span<const T> values) { put(values.data(), values.size_bytes()); }

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T take() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  std::string take_text() {
    std::string text(take<std::size_t>(), '\0');
    take(text.data(), text.size());
    return text;
  }
  void take(void* to, std::size_t size) {
    if (size) std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

  /// Words where they lie; whatever is put before them must take whole words.
  std::span<const u32> take_words(std::size_t n) {
    const auto* words = reinterpret_cast<const u32*>(bytes_.data() + at_);
    at_ += n * sizeof(u32);
    return {words, n};
  }

  /// Room for so much in all, behind what is there.
  void resize(std::size_t size) { bytes_.resize(size); }
  bool at_end() const { return at_ == bytes_.size(); }
  std::span<std::byte> bytes() { return bytes_; }
  /// Empty again, or with room for what comes; reading begins anew.
  void reset(std::size_t size = 0) {
    bytes_.resize(size);
    at_ = 0;
  }

 private:
  void put(const void* from, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }

  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace wsl::mpi
