// SPDX-License-Identifier: MIT
// Lists in the memory of a PE: either with a capacity known at compile time, as on a wafer, whose checker
// then counts the bytes; or without a limit, for grids that only run on this computer. See wafer_pe.hpp.
#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "../../core/fault.hpp"
#include "../../support/text.hpp"

namespace wsl::monte_carlo {

/// The capacity of a PE; 0 is no limit.
struct wafer_capacity {
  int nuclides = 0;
  int points = 0;     ///< of all its nuclides together, for each of them two more than its band has
  int particles = 0;  ///< at any moment: more than the mean, because bands and rows are not equally full
};

/// A vector of up to `capacity` elements inside the object.
template <class T, int capacity>
class bounded_list {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return items_; }
  const T* data() const { return items_; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }

  void clear() { size_ = 0; }
  void push_back(const T& item) {
    resize(size_ + 1);
    items_[size_ - 1] = item;
  }
  void resize(std::size_t n) {
    if (n > static_cast<std::size_t>(capacity))
      throw fault(support::joined({"wsl: a PE has room for ", capacity, " elements of a list that needs ", n,
                                   ": give it more, or use more PEs"}));
    for (std::size_t i = size_; i < n; ++i) items_[i] = T{};
    size_ = n;
  }

 private:
  T items_[static_cast<std::size_t>(capacity)]{};
  std::size_t size_ = 0;
};

/// Space for `each` elements for each of `n`, and `more`; without a limit if n is 0.
template <class T, int n, int each = 1, int more = 0>
using list = std::conditional_t<n == 0, std::vector<T>, bounded_list<T, n == 0 ? 1 : n * each + more>>;

}  // namespace wsl::monte_carlo
