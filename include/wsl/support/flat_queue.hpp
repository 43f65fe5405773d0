// SPDX-License-Identifier: MIT
// A first-in, first-out queue in one array, for backlogs that rarely hold more than a few elements.
#pragma once
#include <cstddef>
#include <utility>

#include "flat_vector.hpp"

namespace wsl::support {

template <class T>
class flat_queue {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  void push(T item) { items_.push_back(std::move(item)); }
  void pop() {
    if (++head_ == items_.size()) items_.clear(), head_ = 0;
  }
  /// That its memory takes.
  std::size_t bytes() const { return items_.capacity() * sizeof(T); }
  const T* begin() const { return items_.begin() + head_; }
  const T* end() const { return items_.end(); }

 private:
  flat_vector<T> items_;
  std::size_t head_ = 0;
};

}  // namespace wsl::support
