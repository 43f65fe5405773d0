// SPDX-License-Identifier: MIT
// A growing array for the engines. It does less than std::vector and costs a tenth of it to compile: a
// program that includes the library instantiates two dozen element types, and at -O0 every std::vector of
// them brings some forty functions. Elements are default-constructible; clear() keeps them until they are
// overwritten. Access is inlined in every build, so that it costs neither a function to compile nor, without
// optimisation, a call. Without optimisation std::move, std::swap and std::exchange are functions as well, of
// each type, with templates that say when there are such; here they are written out.
#pragma once
#include <cstddef>

#include "large_pages.hpp"

namespace wsl::support {

template <class T>
class flat_vector {
 public:
  flat_vector() = default;
  explicit flat_vector(std::size_t n) : items_(n ? made(n) : nullptr), size_(n), capacity_(n) {}
  flat_vector(flat_vector&& other) noexcept { swap(other); }
  flat_vector(const flat_vector& other) : flat_vector(other.size_) {
    for (std::size_t i = 0; i < size_; ++i) items_[i] = other.items_[i];
  }
  flat_vector& operator=(flat_vector other) noexcept {
    swap(other);
    return *this;
  }
  ~flat_vector() { destroy(); }

  void swap(flat_vector& other) noexcept {
    T* const items = items_;
    const std::size_t size = size_, capacity = capacity_;
    items_ = other.items_, size_ = other.size_, capacity_ = other.capacity_;
    other.items_ = items, other.size_ = size, other.capacity_ = capacity;
  }

  [[gnu::always_inline]] std::size_t size() const { return size_; }
  [[gnu::always_inline]] std::size_t capacity() const { return capacity_; }
  [[gnu::always_inline]] bool empty() const { return size_ == 0; }
  [[gnu::always_inline]] T* data() { return items_; }
  [[gnu::always_inline]] const T* data() const { return items_; }
  [[gnu::always_inline]] T* begin() { return items_; }
  [[gnu::always_inline]] T* end() { return items_ + size_; }
  [[gnu::always_inline]] const T* begin() const { return items_; }
  [[gnu::always_inline]] const T* end() const { return items_ + size_; }
  [[gnu::always_inline]] T& operator[](std::size_t i) { return items_[i]; }
  [[gnu::always_inline]] const T& operator[](std::size_t i) const { return items_[i]; }
  [[gnu::always_inline]] T& back() { return items_[size_ - 1]; }
  [[gnu::always_inline]] const T& back() const { return items_[size_ - 1]; }

  T& push_back(T item) { return extend() = static_cast<T&&>(item); }
  /// Adds an element that is to be overwritten: a large one is then copied once.
  [[gnu::always_inline]] T& extend() {
    if (size_ == capacity_) grow(capacity_ ? 2 * capacity_ : 4);
    return items_[size_++];
  }
  /// Requires capacity.
  [[gnu::always_inline]] void push_within(T item) { items_[size_++] = static_cast<T&&>(item); }
  [[gnu::always_inline]] void pop_back() { --size_; }
  [[gnu::always_inline]] void clear() { size_ = 0; }
  /// Keeps the first n elements.
  void shrink(std::size_t n) { size_ = n; }
  void reserve(std::size_t n) {
    if (n > capacity_) grow(n);
  }
  /// The elements after element i move up.
  void erase(std::size_t i) {
    for (--size_; i < size_; ++i) items_[i] = static_cast<T&&>(items_[i + 1]);
  }

 private:
  void grow(std::size_t capacity) {
    T* const larger = made(capacity);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = static_cast<T&&>(items_[i]);
    destroy();
    items_ = larger, capacity_ = capacity;
  }

  static T* made(std::size_t n) {
    T* const items = static_cast<T*>(new_array(n * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i < n; ++i) ::new (static_cast<void*>(items + i)) T{};
    return items;
  }
  [[gnu::always_inline]] void destroy() {
    for (std::size_t i = 0; i < capacity_; ++i) items_[i].~T();
    delete_array(items_, capacity_ * sizeof(T), alignof(T));
  }

  T* items_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace wsl::support
