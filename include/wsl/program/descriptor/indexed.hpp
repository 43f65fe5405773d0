// SPDX-License-Identifier: MIT
// Elements with their numbers, as pairs that fill a wavelet (CSL's wavelet_index_offset): the receiver learns
// which element it has got.
//   me.async(mov(fabout(out), indexed(mem(x).from(4), 4)));     // out is a color<halves<f16>>
#pragma once
#include "operands.hpp"

namespace wsl {
namespace detail {

template <class T>
struct indexed_walk {
  const T* first;
  i64 stride;
  u32 index;
  constexpr halves<T> operator[](u32 i) const {
    return {first[static_cast<i64>(i) * stride], static_cast<u16>(index + i)};
  }
};

template <class T>
class indexed_memory {
 public:
  using element = halves<T>;
  constexpr indexed_memory(const memory<const T>& values, u16 index) : values_(values), index_(index) {}

  constexpr int length() const { return values_.length(); }
  constexpr indexed_walk<T> walk(u64 at) const {
    return {values_.first() + static_cast<i64>(at) * values_.stride(), values_.stride(),
            static_cast<u32>(index_ + at)};
  }

 private:
  memory<const T> values_;
  u16 index_;
};

}  // namespace detail

/// A source: element i of a view of 16-bit elements, and the number `first_index` + i modulo 2^16.
template <class T>
  requires(sizeof(T) == 2)
constexpr auto indexed(const memory<T>& values, u16 first_index = 0) {
  return detail::indexed_memory<std::remove_const_t<T>>{values, first_index};
}

}  // namespace wsl
