// SPDX-License-Identifier: MIT
// Memory whose use is decided while the program runs (CSL's <malloc>): arrays are taken from an arena one
// after the other, and are all given back at once. It is a member of the program, so its bytes count in the
// PE's memory.
//   arena<4096> room;
//   const memory<f32> x = room.take<f32>(n);
#pragma once
#include <new>
#include <type_traits>

#include "descriptor/memory.hpp"

namespace wsl {

template <int bytes>
class arena {
  static_assert(bytes > 0, "wsl: an arena has at least one byte: arena<4096>");

 public:
  arena() = default;
  arena(const arena&) = delete;  // what has been taken lies in it
  arena& operator=(const arena&) = delete;

  /// n elements with the value of T{}; a fault if there is no room for them.
  template <class T>
  memory<T> take(int n) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 16,
                  "wsl: an arena holds plain elements: numbers, structs of numbers");
    if (!has_room<T>(n))
      throw fault("wsl: an arena of " + std::to_string(bytes) + " bytes has " +
                  std::to_string(bytes - used_) + " left, not room for " + std::to_string(n) +
                  " elements of " + std::to_string(sizeof(T)) + " bytes");
    unsigned char* first = store_ + start_for<T>();
    used_ = start_for<T>() + n * static_cast<int>(sizeof(T));
    for (int i = 0; i < n; ++i) ::new (static_cast<void*>(first + i * static_cast<int>(sizeof(T)))) T{};
    return {std::launder(reinterpret_cast<T*>(first)), n};
  }
  template <class T>
  bool has_room(int n) const {
    return n >= 0 && start_for<T>() <= bytes && n <= (bytes - start_for<T>()) / static_cast<int>(sizeof(T));
  }

  /// Gives everything back: what was taken may not be used any more.
  void clear() { used_ = 0; }
  int used() const { return used_; }

 private:
  template <class T>
  int start_for() const {
    return (used_ + static_cast<int>(alignof(T)) - 1) / static_cast<int>(alignof(T)) *
           static_cast<int>(alignof(T));
  }

  alignas(16) unsigned char store_[static_cast<std::size_t>(bytes)];
  int used_ = 0;
};

}  // namespace wsl
