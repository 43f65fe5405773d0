// SPDX-License-Identifier: MIT
// The memory of a PE as the host sees it: an object of the program's class, which the host may also access as
// a public base class, as in `f.read(0, 0, &base::x)`.
#pragma once
#include <cstddef>

#include "../program/tasks.hpp"
#include "../support/flat_vector.hpp"

namespace wsl::detail {

/// The memory of a program as a P: its class, or a public base of that. Null if the program is neither. C++
/// finds a base class at run time only by catching a pointer, so each pair of classes is looked up once.
template <class P>
P* memory_as(const program& placed, void* memory) {
  if constexpr (pe_program<P>)
    if (&placed == &program_v<P>) return static_cast<P*>(memory);
  struct known {
    void (*of)(void*);
    std::ptrdiff_t offset;
    bool is_base;
  };
  static thread_local support::flat_vector<known> looked_up;
  for (const known& k : looked_up)
    if (k.of == placed.throw_pointer)
      return k.is_base ? reinterpret_cast<P*>(static_cast<char*>(memory) + k.offset) : nullptr;
  P* found = nullptr;
  try {
    if (placed.throw_pointer) placed.throw_pointer(memory);
  } catch (P* base) { found = base; } catch (...) {  // a class without such a base
  }
  looked_up.push_back({placed.throw_pointer,
                       found ? reinterpret_cast<char*>(found) - static_cast<char*>(memory) : 0,
                       found != nullptr});
  return found;
}

}  // namespace wsl::detail
