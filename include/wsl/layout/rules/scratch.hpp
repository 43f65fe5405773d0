// SPDX-License-Identifier: MIT
// Working memory of a rule: an array that grows, in a constant expression and at run time alike. It is not
// std::vector because the floor of layouts pays for no header that it can do without, and because constant
// evaluation pays for every call.
#pragma once

namespace wsl::rules {

template <class T>
class scratch {
 public:
  constexpr scratch() = default;
  constexpr explicit scratch(int n) : items_(new T[static_cast<unsigned>(n)]{}), size_(n), room_(n) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  constexpr ~scratch() { delete[] items_; }

  [[gnu::always_inline]] constexpr int size() const { return size_; }
  [[gnu::always_inline]] constexpr bool empty() const { return size_ == 0; }
  [[gnu::always_inline]] constexpr void clear() { size_ = 0; }
  constexpr void push_back(const T& value) {
    if (size_ == room_) grow(room_ > 0 ? 2 * room_ : 16);
    items_[size_++] = value;
  }
  [[gnu::always_inline]] constexpr T pop_back() { return items_[--size_]; }
  [[gnu::always_inline]] constexpr T& operator[](int i) { return items_[i]; }
  [[gnu::always_inline]] constexpr const T& operator[](int i) const { return items_[i]; }
  /// Hot loops of constant expressions index the raw array: a call per element would double their cost.
  [[gnu::always_inline]] constexpr T* data() { return items_; }
  [[gnu::always_inline]] constexpr const T* data() const { return items_; }

 private:
  constexpr void grow(int room) {
    T* items = new T[static_cast<unsigned>(room)]{};
    for (int i = 0; i < size_; ++i) items[i] = items_[i];
    delete[] items_;
    items_ = items, room_ = room;
  }

  T* items_ = nullptr;
  int size_ = 0, room_ = 0;
};

}  // namespace wsl::rules
