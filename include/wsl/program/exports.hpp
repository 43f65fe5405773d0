// SPDX-License-Identifier: MIT
// The members of a PE program that tools show by name (CSL's @export_name): dumps, the debugger and wsl-debug
// know no others, since C++ forgets the names of members when it has compiled them. The list stands behind
// the members, next to the task list. docs/guide/debug.md uses it.
//   using exports = export_list<&part::x, &part::sum>;
#pragma once
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "../core/half.hpp"
#include "../layout/exported_member.hpp"
#include "../layout/program.hpp"
#include "../support/type_name.hpp"

namespace wsl {

namespace detail {

/// An element, and the extents of the arrays in which it lies.
template <class T>
struct array_shape {
  using element = T;
  static constexpr int rank = 0;
  static constexpr void write(u32*) {}
};
template <class T, std::size_t n>
struct array_shape<T[n]> {
  using element = typename array_shape<T>::element;
  static constexpr int rank = 1 + array_shape<T>::rank;
  static constexpr void write(u32* to) { *to = static_cast<u32>(n), array_shape<T>::write(to + 1); }
};
template <class T>
  requires requires(const T& x) {
    typename T::value_type;
    std::tuple_size<T>::value;
    x.data();
  }
struct array_shape<T> : array_shape<typename T::value_type[std::tuple_size<T>::value]> {};

/// A container whose elements lie one after the other.
template <class T>
concept grows_in_memory = array_shape<T>::rank == 0 && requires(const T& x) {
  typename T::value_type;
  { x.data() } -> std::same_as<const typename T::value_type*>;
  x.size();
};
/// A number in a class, such as counted<f32>.
template <class T>
concept wrapped_number = !grows_in_memory<T> && std::is_class_v<T> && requires {
  typename T::value_type;
} && std::is_arithmetic_v<typename T::value_type> && sizeof(T) == sizeof(typename T::value_type);

template <class T>
consteval element_kind kind_of_element() {
  if constexpr (std::is_enum_v<T>) return kind_of_element<std::underlying_type_t<T>>();
  else if constexpr (wrapped_number<T>) return kind_of_element<typename T::value_type>();
  else if constexpr (std::is_same_v<T, bool>) return element_kind::boolean;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) <= 8 ? element_kind::real : element_kind::bytes;
  else if constexpr (std::is_same_v<T, f16>) return element_kind::real;
  else if constexpr (std::is_same_v<T, bf16>) return element_kind::bf16;
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? element_kind::signed_number : element_kind::unsigned_number;
  else return element_kind::bytes;
}

/// The library's own short names for scalars, the compiler's for all else.
template <class T>
consteval const char* name_of_element() {
  if constexpr (std::is_same_v<T, f16>) return "f16";
  else if constexpr (std::is_same_v<T, bf16>) return "bf16";
  else if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_same_v<T, f32>) return "f32";
  else if constexpr (std::is_same_v<T, f64>) return "f64";
  else if constexpr (std::is_integral_v<T>) {
    constexpr const char* names[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
    constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return names[(std::is_signed_v<T> ? 0 : 4) + size];
  } else return support::type_name<T>();
}

template <class T>
struct member_of_class;
template <class P, class M>
struct member_of_class<M P::*> {
  using owner = P;
  using type = M;
};

template <class Program, auto Member>
exported_elements elements_of(const void* of_program) {
  using traits = member_of_class<decltype(Member)>;
  using shape = array_shape<std::remove_cv_t<typename traits::type>>;
  const typename traits::owner& owner = *static_cast<const Program*>(of_program);
  const auto& member = owner.*Member;
  if constexpr (grows_in_memory<std::remove_cvref_t<decltype(member)>>) return {member.data(), member.size()};
  else return {&member, sizeof member / sizeof(typename shape::element)};
}

template <class Program, auto Member>
const void* place_of_member(const void* of_program) {
  const typename member_of_class<decltype(Member)>::owner& owner = *static_cast<const Program*>(of_program);
  return &(owner.*Member);
}

/// The entry of a member of this type.
template <class Program, auto Member, class Type>
consteval exported_member exported_value() {
  using shape = array_shape<Type>;
  static_assert(shape::rank <= exported_member::most_extents,
                "wsl: an exported array has at most four extents: export its rows, or a flat array");
  exported_member m{.name = support::function_name<Member>(),
                    .elements = &elements_of<Program, Member>,
                    .bytes = sizeof(Type),
                    .place = &place_of_member<Program, Member>};
  if constexpr (grows_in_memory<Type>) {
    using element = typename Type::value_type;
    static_assert(std::is_trivially_copyable_v<element>,
                  "wsl: the elements of an exported container are plain values");
    m.type = name_of_element<element>();
    m.kind = kind_of_element<element>();
    m.element_bytes = sizeof(element);
    m.rank = 1, m.grows = true;
  } else {
    using element = typename shape::element;
    m.type = name_of_element<element>();
    m.kind = kind_of_element<element>();
    m.element_bytes = sizeof(element);
    m.rank = shape::rank;
    shape::write(m.extents);
  }
  return m;
}

template <class Program, auto Member>
consteval exported_member exported() {
  static_assert(std::is_member_object_pointer_v<decltype(Member)>,
                "wsl: an export list names members of the program: export_list<&part::x>");
  if constexpr (!std::is_member_object_pointer_v<decltype(Member)>) return {};
  else
    return exported_value<Program, Member,
                          std::remove_cv_t<typename member_of_class<decltype(Member)>::type>>();
}

template <class Program, class List>
struct table_of_exports;

}  // namespace detail

/// The members of a program, or of a public base class of it, that tools show.
template <auto... Member>
struct export_list {};

namespace detail {

consteval bool have_one_name(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b)
    if (!*a) return true;
  return false;
}
template <std::size_t n>
consteval bool have_different_names(const exported_member (&all)[n]) {
  for (const exported_member& m : all)
    for (const exported_member* other = all; other != &m; ++other)
      if (have_one_name(m.name, other->name)) return false;
  return true;
}

template <class Program, auto... Member>
struct table_of_exports<Program, export_list<Member...>> {
  static constexpr int size = sizeof...(Member);
  static constexpr exported_member entries[sizeof...(Member)] = {exported<Program, Member>()...};
  static_assert(have_different_names(entries),
                "wsl: an export list names a member once, and members of different names");
};
template <class Program>
struct table_of_exports<Program, export_list<>> {
  static constexpr int size = 0;
  static constexpr const exported_member* entries = nullptr;
};

template <class P>
consteval const exported_member* exports_of() {
  if constexpr (requires { typename P::exports; }) return table_of_exports<P, typename P::exports>::entries;
  else return nullptr;
}
template <class P>
inline constexpr int exported_by = [] {
  if constexpr (requires { typename P::exports; }) return table_of_exports<P, typename P::exports>::size;
  else return 0;
}();

}  // namespace detail

}  // namespace wsl
