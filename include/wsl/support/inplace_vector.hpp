// SPDX-License-Identifier: MIT
// A vector of fixed capacity that can live in a constant. The rules of the checker loop over the raw array
// `data()`, because a call per element would double the cost of checking a layout at compile time.
#pragma once

namespace wsl::support {

template <class T, int Capacity>
class inplace_vector {
 public:
  static constexpr int capacity() { return Capacity; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr bool full() const { return size_ == Capacity; }
  /// Requires room; callers report a lack of room in their own words.
  constexpr T& push_back(const T& value) { return items_[size_++] = value; }
  constexpr T& operator[](int i) { return items_[i]; }
  constexpr const T& operator[](int i) const { return items_[i]; }
  constexpr const T* data() const { return items_; }
  constexpr const T* begin() const { return items_; }
  constexpr const T* end() const { return items_ + size_; }

 private:
  T items_[static_cast<unsigned>(Capacity)]{};
  int size_ = 0;
};

}  // namespace wsl::support
