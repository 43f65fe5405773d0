// SPDX-License-Identifier: MIT
// The storage that a PE program owns outside its members, such as the elements of a std::vector or the
// characters of a std::string. It belongs to the PE's memory like the members, but the program's bytes hold
// only its addresses. Tools that inspect a PE's memory find it through this header; see fabric/race.hpp.
#pragma once
#include <concepts>
#include <cstddef>
#include <tuple>

#include "../support/members.hpp"
#include "../support/type_name.hpp"

namespace wsl {

namespace detail {

template <class T>
concept contiguous_storage = requires(const T& x) {
  { *x.data() } -> std::convertible_to<const std::remove_cvref_t<decltype(*x.data())>&>;
  { x.size() } -> std::convertible_to<std::size_t>;
};
// The order of a hash table's elements depends on the history of its insertions.
template <class T>
concept ordered_storage = requires(const T& x) {
  *x.begin();
  x.begin() != x.end();
} && !requires { typename T::hasher; };
template <class T>
concept sole_owner = requires(const T& x) {
  typename T::deleter_type;
  *x;
  x.get();
};

}  // namespace detail

/// The elements that a value of type T owns outside itself: each_block(x, use) calls use(first, n) for n
/// elements that lie one after the other. (The characters of a short std::string lie inside it.) The library
/// knows types with data() and size(), such as std::vector and std::string; types with begin() and end(),
/// such as std::deque and std::map, but no hash tables; and std::unique_ptr. Specialize it for a type of your
/// own.
template <class T>
struct pe_storage {};

template <detail::contiguous_storage T>
struct pe_storage<T> {
  template <class Use>
  static void each_block(const T& x, Use use) {
    if (x.size() > 0) use(x.data(), static_cast<std::size_t>(x.size()));
  }
};
template <class T>
  requires(detail::ordered_storage<T> && !detail::contiguous_storage<T>)
struct pe_storage<T> {
  template <class Use>
  static void each_block(const T& x, Use use) {
    for (auto&& element : x) use(&element, std::size_t{1});
  }
};
template <detail::sole_owner T>
struct pe_storage<T> {
  template <class Use>
  static void each_block(const T& x, Use use) {
    if (x) use(x.get(), std::size_t{1});
  }
};

/// Visits the storage of a program.
class storage_visitor {
 public:
  /// The value at `where`, of so many bytes, holds only what it needs to find its elements.
  virtual void owner(const void* where, std::size_t bytes) = 0;
  /// Elements outside the program, or members of such elements, without padding. The bytes are there until it
  /// returns.
  virtual void values(const void* first, std::size_t bytes) = 0;
  /// Reports a type whose storage the library does not know.
  virtual void unknown(const char* type) = 0;

 protected:
  ~storage_visitor() = default;
};

namespace detail {

template <class T>
concept owns_storage = requires(const T& x) { pe_storage<T>::each_block(x, [](auto*, std::size_t) {}); };
/// Whether a T is compared byte by byte: because all of its bytes are its value, or for another reason.
template <class T>
inline constexpr bool is_plain = std::is_scalar_v<T> || std::has_unique_object_representations_v<T>;
template <class T>
concept pair_like = requires(const T& x) { x.first, x.second; };
template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; };
template <class T>
concept optional_like = requires(const T& x) {
  x.has_value();
  *x;
};

template <class T>
void visit_elements(const T* first, std::size_t n, storage_visitor& to);

/// `outside`: x is an element outside the program, so its own bytes are reported, too.
template <class T>
void visit_value(const T& x, bool outside, storage_visitor& to) {
  const auto visit = [&](const auto& part) { visit_value(part, outside, to); };
  if constexpr (std::is_array_v<T>) {
    for (const auto& element : x) visit(element);
  } else if constexpr (is_plain<T>) {
    if (outside) to.values(&x, sizeof x);
  } else if constexpr (owns_storage<T> && !std::is_trivially_destructible_v<T>) {
    to.owner(&x, sizeof x);
    pe_storage<T>::each_block(x, [&](const auto* first, std::size_t n) { visit_elements(first, n, to); });
  } else if constexpr (pair_like<T>) {
    visit(x.first), visit(x.second);
  } else if constexpr (tuple_like<T>) {
    std::apply([&](const auto&... part) { (visit(part), ...); }, x);
  } else if constexpr (requires { x.members(); }) {
    std::apply([&](const auto&... part) { (visit(part), ...); }, x.members());
  } else if constexpr (optional_like<T>) {
    if (x.has_value()) visit(*x);
  } else if (!support::each_member(x, visit)) {
    if constexpr (!std::is_trivially_destructible_v<T>) to.unknown(support::type_name<T>());
    else if (outside) to.values(&x, sizeof x);
  }
}
template <class T>
void visit_elements(const T* first, std::size_t n, storage_visitor& to) {
  if constexpr (is_plain<T>) to.values(first, n * sizeof(T));
  else
    for (std::size_t i = 0; i < n; ++i) visit_value(first[i], true, to);
}

/// The function of a program that visits its storage; null if a P owns nothing, because its destructor is
/// trivial. A program whose members cannot be listed lists those that own something:
/// `auto members() const { return std::tie(list); }`.
template <class P>
constexpr auto storage_of() -> void (*)(const void*, storage_visitor&) {
  if constexpr (std::is_trivially_destructible_v<P>) return nullptr;
  else return [](const void* p, storage_visitor& to) { visit_value(*static_cast<const P*>(p), false, to); };
}

}  // namespace detail
}  // namespace wsl
