// SPDX-License-Identifier: MIT
// A vector that can live in a constant, with room for a fixed number of elements there, and that grows beyond
// them at run time. See inplace_vector.hpp for loops over data().
#pragma once
#include <type_traits>

namespace wsl::support {

template <class T, int Capacity>
class growing_vector {
 public:
  constexpr growing_vector() = default;
  constexpr growing_vector(const growing_vector& other) { append(other); }
  constexpr growing_vector(growing_vector&& other) noexcept
      : more_(other.more_), size_(other.size_), room_(other.room_) {
    if (!more_)
      for (int i = 0; i < size_; ++i) items_[i] = other.items_[i];
    other.more_ = nullptr, other.size_ = 0, other.room_ = Capacity;
  }
  constexpr growing_vector& operator=(growing_vector other) noexcept {
    delete[] more_;
    more_ = other.more_, size_ = other.size_, room_ = other.room_;
    other.more_ = nullptr;
    if (!more_)
      for (int i = 0; i < size_; ++i) items_[i] = other.items_[i];
    return *this;
  }
  [[gnu::always_inline]] constexpr ~growing_vector() { delete[] more_; }

  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  /// At run time there is room for so many: their positions have 16 bits.
  static constexpr int most = 32'000;
  constexpr bool full() const { return size_ >= (std::is_constant_evaluated() ? Capacity : most); }
  /// Requires room; callers report a lack of room in their own words.
  constexpr T& push_back(const T& value) {
    if (size_ == room_) grow();
    return data()[size_++] = value;
  }
  constexpr T& operator[](int i) { return data()[i]; }
  constexpr const T& operator[](int i) const { return data()[i]; }
  [[gnu::always_inline]] constexpr T* data() { return more_ ? more_ : items_; }
  [[gnu::always_inline]] constexpr const T* data() const { return more_ ? more_ : items_; }
  constexpr const T* begin() const { return data(); }
  constexpr const T* end() const { return data() + size_; }

 private:
  constexpr void append(const growing_vector& other) {
    while (room_ < other.size_) grow();
    T* to = data();
    const T* from = other.data();
    for (int i = 0; i < other.size_; ++i) to[i] = from[i];
    size_ = other.size_;
  }
  constexpr void grow() {
    T* const larger = new T[static_cast<unsigned>(2 * room_)]{};
    for (int i = 0; i < size_; ++i) larger[i] = data()[i];
    delete[] more_;
    more_ = larger, room_ *= 2;
  }

  T items_[static_cast<unsigned>(Capacity)]{};
  T* more_ = nullptr;
  int size_ = 0, room_ = Capacity;
};

}  // namespace wsl::support
