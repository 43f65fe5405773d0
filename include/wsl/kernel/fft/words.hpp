// SPDX-License-Identifier: MIT
// Numbers in the memory of a PE: as many as are known while compiling, as on a wafer, whose checker can then
// count the bytes; or as many as it takes, in large pages, for grids that only ever run on this computer.
#pragma once
#include <span>
#include <string>

#include "../../core/fault.hpp"
#include "../../support/huge_array.hpp"

namespace wsl::fft {

/// `room` f32; 0 is no limit.
template <int room>
class words {
 public:
  f32* data() { return numbers_; }
  std::span<f32> all() { return {numbers_, size_}; }
  void resize(std::size_t n) {
    if (n > static_cast<std::size_t>(room))
      throw fault("wsl: a PE has room for " + std::to_string(room) + " numbers of a transform that needs " +
                  std::to_string(n) + ": use more PEs, or another program");
    size_ = n;
  }

 private:
  f32 numbers_[static_cast<std::size_t>(room)]{};
  std::size_t size_ = 0;
};

template <>
class words<0> {
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
