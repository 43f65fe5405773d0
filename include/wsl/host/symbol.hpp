// SPDX-License-Identifier: MIT
// A symbol is the host's name for a member of a PE program: some elements of one type in the memory of each
// PE that runs the program. A scalar is one element; a nested array is its elements in row-major order. If
// programs of several types have the same member, one symbol names them all:
// `symbol{&even_part::x, &odd_part::x}`.
#pragma once
#include <array>

#include "../fabric/fabric.hpp"

namespace wsl {

namespace detail {

template <class T>
struct flat {
  using element = T;
  static constexpr std::size_t length = 1;
};
template <class T, std::size_t N>
struct flat<T[N]> {
  using element = typename flat<T>::element;
  static constexpr std::size_t length = N * flat<T>::length;
};
template <class T, std::size_t N>
struct flat<std::array<T, N>> : flat<T[N]> {};
template <class T>
struct flat<std::array<T, 0>> {
  using element = T;
  static constexpr std::size_t length = 0;
};

template <class M>
using flat_member = flat<typename member<M>::type>;

}  // namespace detail

/// The same member of one or more program types: the elements must agree in type and number.
template <class First, class... More>
  requires(std::is_member_object_pointer_v<First> && ... && std::is_member_object_pointer_v<More>)
class symbol {
  using first = detail::flat_member<First>;

 public:
  using element = typename first::element;
  static constexpr std::size_t length = first::length;  ///< elements on one PE

  static_assert(length > 0, "wsl: the host can copy a member that has at least one element");
  static_assert(std::is_trivially_copyable_v<element> && !std::is_const_v<element>,
                "wsl: the host can copy a member whose elements are plain, changeable values");
  static_assert((std::is_same_v<element, typename detail::flat_member<More>::element> && ...),
                "wsl: the members of one symbol must have elements of one type");
  static_assert(((length == detail::flat_member<More>::length) && ...),
                "wsl: the members of one symbol must have the same number of elements");

  constexpr symbol(First member, More... same) : members_(member, same...) {}

  /// The first of the elements on the PE at c. Throws fault if none of the symbol's programs runs there.
  element* at(fabric& f, coord c) const {
    return find(f, c, [&](pe& p) { return f.engine_in_use().host_memory(p); });
  }
  /// Where they are in the process that runs the PE: another one may have no program there.
  element* place(fabric& f, coord c) const {
    return find(f, c, [](pe& p) { return engines::state_of(p).memory(); });
  }

  /// "part", or "even_part or odd_part".
  static std::string programs() {
    std::string names = support::type_name<typename detail::member<First>::owner>();
    ((names += std::string(" or ") + support::type_name<typename detail::member<More>::owner>()), ...);
    return names;
  }

 private:
  static element* first_of(std::initializer_list<element*> candidates) {
    for (element* e : candidates)
      if (e) return e;
    return nullptr;
  }

  template <class MemoryOf>
  element* find(fabric& f, coord c, MemoryOf memory_of) const {
    pe* p = f.engine_in_use().find(c);
    element* found = nullptr;
    if (p) {
      void* const memory = memory_of(*p);
      found = std::apply([&](auto... m) { return first_of({elements(*p, memory, m)...}); }, members_);
    }
    if (!found) not_here(p, c);
    return found;
  }

  template <class P, class T>
  static element* elements(pe& p, void* memory, T P::* member) {
    P* const found = detail::memory_as<P>(*engines::state_of(p).image->source, memory);
    return found ? reinterpret_cast<element*>(&(found->*member)) : nullptr;
  }

  [[noreturn]] static void not_here(pe* p, coord c) {
    const std::string at = "wsl: " + text_of(c) + " ";
    if (!p) throw fault(at + "has no program; the host names a member of " + programs());
    throw fault(at + "runs " + engines::state_of(*p).image->source->name + ", not " + programs());
  }

  std::tuple<First, More...> members_;
};

namespace detail {

/// A pointer to a member of a program, or a symbol.
template <class S>
concept symbol_like = requires(const S& s) { symbol{s}; };

}  // namespace detail

}  // namespace wsl
