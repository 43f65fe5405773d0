// SPDX-License-Identifier: MIT
// The memory map of a PE program: which of its bytes are which member. C++ tells nobody the names of a class's
// members, so the program's author lists those to be shown, as CSL's @export_symbol does.
//   save_layout(plate, "plate.json", memory_map_of<&cell::u, &cell::next>());
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>

#include "../support/type_name.hpp"
#include "program.hpp"

namespace wsl {

/// A member in the memory of a PE: the bytes from `offset` to `offset + bytes - 1` of its program.
struct member_place {
  const char* name = "";
  const char* type = "";
  int offset = 0, bytes = 0;
};

/// Some members of one program, in the order in which they were listed.
struct memory_map {
  const program* what = nullptr;
  const member_place* members = nullptr;
  int count = 0;

  const member_place* begin() const { return members; }
  const member_place* end() const { return members + count; }
};

namespace detail {

/// Memory for a P in which no P lives: offsets of members need addresses, not values.
template <class P>
class unused_memory {
 public:
  unused_memory() : at_(::operator new(sizeof(P), std::align_val_t{alignof(P)})) {}
  unused_memory(const unused_memory&) = delete;
  unused_memory& operator=(const unused_memory&) = delete;
  ~unused_memory() { ::operator delete(at_, std::align_val_t{alignof(P)}); }

  template <class T>
  member_place place_of(T P::* member, const char* name) const {
    const auto* const first = static_cast<const std::byte*>(at_);
    const auto* const here = reinterpret_cast<const std::byte*>(&(static_cast<const P*>(at_)->*member));
    return {name, support::type_name<T>(), static_cast<int>(here - first), static_cast<int>(sizeof(T))};
  }

 private:
  void* at_;
};

template <class T, class P>
P program_with(T P::*);

}  // namespace detail

/// The memory map of the program that these members belong to: `memory_map_of<&part::x, &part::sum>()`.
template <auto First, auto... More>
  requires(std::is_member_object_pointer_v<decltype(First)> && ... &&
           std::is_member_object_pointer_v<decltype(More)>)
memory_map memory_map_of() {
  using owner = decltype(detail::program_with(First));
  static_assert(
      (std::is_same_v<owner, decltype(detail::program_with(More))> && ...),
      "wsl: the members of a memory map belong to one program: memory_map_of<&part::x, &part::y>()");
  static const detail::unused_memory<owner> memory;
  static const member_place places[] = {memory.place_of(First, support::function_name<First>()),
                                        memory.place_of(More, support::function_name<More>())...};
  return {&detail::program_of<owner>::value, places, 1 + int{sizeof...(More)}};
}

}  // namespace wsl
