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

/// `room` f32; 0 is no limit.
template <int capacity>
class buffer {
 public:
  f32* data() { return numbers_; }
  std::span<f32> all() { return {numbers_, size_}; }
  void resize(std::size_t n) {
    if (n > static_cast<std::size_t>(capacity))
      throw fault(support::joined({"wsl: a PE has room for ", capacity, " numbers of a transform that needs ",
                                   n, ": use more PEs, or another program"}));
    size_ = n;
  }

 private:
  f32 numbers_[static_cast<std::size_t>(capacity)]{};
  std::size_t size_ = 0;
};

template <>
class buffer<0> {
 public:
  f32* data() { return numbers_.data(); }
  std::span<f32> all() { return {numbers_.data(), numbers_.size()}; }
  void resize(std::size_t n) {
    if (n != numbers_.size()) numbers_ = support::huge_array(n);
  }

 private:
  support::huge_array numbers_;
};

}  // namespace wsl::fft
