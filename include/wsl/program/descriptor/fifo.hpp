// SPDX-License-Identifier: MIT
// A FIFO is a buffer in a PE's memory (CSL's @allocate_fifo) between two operations of the PE, or between an
// operation and its tasks: `me.async(mov(into(waiting), fabin(in, n)))` fills it beside the tasks,
// `me.async(neg(fabout(out, n), out_of(waiting)))` empties it, and each of them waits while there is no room
// or nothing to take. See examples/40_pipeline_fifo.cpp.
#pragma once
#include <cstddef>

#include "operands.hpp"
#include "transfer.hpp"

namespace wsl {

template <class T, int most>
class fifo {
  static_assert(most > 0, "wsl: a FIFO has room for at least one element: fifo<f32, 16>");

 public:
  using element = T;

  static constexpr int capacity() { return most; }
  int size() const { return static_cast<int>(state_.size); }
  bool empty() const { return state_.size == 0; }
  bool full() const { return state_.size == state_.capacity; }

  /// From a task: false, with nothing done, if there is no room. How much room a task finds depends on the
  /// progress of operations; a task that must not depend on it uses `co_await mov(into(q, 1), x)`.
  bool try_push(const T& x) {
    if (full()) return false;
    elements_[(state_.first + state_.size++) % state_.capacity] = x;
    return true;
  }
  /// From a task: takes the oldest element; false, with nothing done, if there is none.
  bool try_pop(T& x) {
    if (empty()) return false;
    x = elements_[state_.first];
    state_.first = (state_.first + 1) % state_.capacity;
    --state_.size;
    return true;
  }

 private:
  template <class U, int n>
  friend constexpr auto into(fifo<U, n>&, int);
  template <class U, int n>
  friend constexpr auto out_of(fifo<U, n>&, int);

  engines::fifo_state state_{.capacity = most};
  T elements_[static_cast<std::size_t>(most)]{};
};

namespace detail {

template <class T>
class fifo_push {
 public:
  using element = T;
  constexpr fifo_push(engines::fifo_state& of, T* elements, int count)
      : state_(&of), elements_(elements), count_(count) {}

  static constexpr bool pushes() { return true; }
  constexpr int length() const { return count_; }
  static constexpr int stride() { return 1; }
  constexpr T* place(u64) const { return elements_ + end(); }
  constexpr u32 run(u64) const { return state_->capacity - end(); }
  constexpr const engines::fifo_state& state() const { return *state_; }
  constexpr void moved(u32 n) const { state_->size += n; }

 private:
  constexpr u32 end() const {
    const u32 place = state_->first + state_->size;
    return place < state_->capacity ? place : place - state_->capacity;
  }

  engines::fifo_state* state_;
  T* elements_;
  int count_;
};

template <class T>
class fifo_pop {
 public:
  using element = T;
  constexpr fifo_pop(engines::fifo_state& of, const T* elements, int count)
      : state_(&of), elements_(elements), count_(count) {}

  static constexpr bool pushes() { return false; }
  constexpr int length() const { return count_; }
  static constexpr int stride() { return 1; }
  constexpr const T* place(u64) const { return elements_ + state_->first; }
  constexpr u32 run(u64) const { return state_->capacity - state_->first; }
  constexpr const engines::fifo_state& state() const { return *state_; }
  constexpr void moved(u32 n) const {
    state_->first += n;
    if (state_->first >= state_->capacity) state_->first -= state_->capacity;
    state_->size -= n;
  }

 private:
  engines::fifo_state* state_;
  const T* elements_;
  int count_;
};

}  // namespace detail

/// The end of a FIFO into which an operation puts `count` elements; without a count as many as the other
/// operands have.
template <class T, int n>
constexpr auto into(fifo<T, n>& q, int count = as_many_as_others) {
  return detail::fifo_push<T>{q.state_, q.elements_, count};
}

/// The end of a FIFO from which an operation takes `count` elements, likewise.
template <class T, int n>
constexpr auto out_of(fifo<T, n>& q, int count = as_many_as_others) {
  return detail::fifo_pop<T>{q.state_, q.elements_, count};
}

}  // namespace wsl
