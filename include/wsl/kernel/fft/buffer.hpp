// SPDX-License-Identifier: MIT
// The memory of a PE for elements of a transform: either a fixed number, known at compile time, as on a
// wafer, whose checker then counts the bytes; or as many as it takes, in large pages, for grids that only run
// on this computer.
#pragma once
#include <span>
#include <string>

#include "../../core/fault.hpp"
#include "../../core/scalar.hpp"
#include "../../support/huge_array.hpp"
#include "../../support/text.hpp"

namespace wsl::fft {

/// `room` numbers, real or imaginary parts; 0 is no limit.
template <int capacity, class T = f32>
class buffer {
  static_assert(sizeof(T) == sizeof(f32), "wsl: the PEs of a wafer have no numbers of 64 bits");

 public:
  T* data() { return numbers_; }
  const T* data() const { return numbers_; }
  /// All of it, as the words that travel.
  std::span<f32> words() { return {numbers_, size_}; }
  void resize(std::size_t n) {
    if (n > static_cast<std::size_t>(capacity))
      throw fault(support::joined({"wsl: a PE has room for ", capacity, " numbers of a transform that needs ",
                                   n, ": use more PEs, or another program"}));
    size_ = n;
  }

 private:
  T numbers_[static_cast<std::size_t>(capacity)]{};
  std::size_t size_ = 0;
};

template <class T>
class buffer<0, T> {
  static constexpr std::size_t words_each = sizeof(T) / sizeof(f32);

 public:
  T* data() { return reinterpret_cast<T*>(numbers_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(numbers_.data()); }
  std::span<f32> words() { return {numbers_.data(), numbers_.size()}; }
  void resize(std::size_t n) {
    if (n * words_each != numbers_.size()) numbers_ = support::huge_array(n * words_each);
  }

 private:
  support::huge_array numbers_;
};

}  // namespace wsl::fft
