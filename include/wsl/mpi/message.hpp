// SPDX-License-Identifier: MIT
// A message to another rank: a sequence of plain values that are read in the order in which they were put.
// All ranks run the same program on machines of one kind, so values travel in their memory representation.
#pragma once
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "../core/scalar.hpp"
#include "../support/min_max.hpp"

namespace wsl::mpi {

class message {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    put(&value, sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    put(text.data(), text.size());
  }
  template <class T>
  void put(std::span<const T> values) {
    put(values.data(), values.size_bytes());
  }

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
    if (size) std::memcpy(to, bytes_.get() + at_, size);
    at_ += size;
  }

  /// Words in place, without a copy; everything that is put before them must take whole words.
  std::span<const u32> take_words(std::size_t n) {
    const std::span<const u32> words = words_at(at_, n);
    at_ += n * sizeof(u32);
    return words;
  }
  std::span<const u32> words_at(std::size_t byte, std::size_t n) const {
    return {reinterpret_cast<const u32*>(bytes_.get() + byte), n};
  }

  std::size_t size() const { return size_; }
  bool at_end() const { return at_ == size_; }
  std::span<std::byte> bytes() { return {bytes_.get(), size_}; }
  /// Resizes to `size` bytes in all and keeps the contents.
  void resize(std::size_t size) {
    if (size > room_) grow(size);
    size_ = size;
  }
  /// Empties the message, or makes room for `size` bytes to receive; reading begins anew.
  void reset(std::size_t size = 0) {
    size_ = at_ = 0;
    resize(size);
  }

 private:
  void put(const void* from, std::size_t size) {
    const std::size_t before = size_;
    resize(before + size);
    if (size) std::memcpy(bytes_.get() + before, from, size);
  }
  void grow(std::size_t size) {
    room_ = support::max(size, 2 * room_);
    // not set to zero: that would be one more pass over long messages
    std::unique_ptr<std::byte[]> larger(new std::byte[room_]);
    if (size_) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0, room_ = 0, at_ = 0;
};

}  // namespace wsl::mpi
