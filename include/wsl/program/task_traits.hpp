// SPDX-License-Identifier: MIT
// What can be read off the type of a task, a member function of a PE program: `void pass(pe& me, f32 x)`.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/color.hpp"
#include "../layout/program.hpp"
#include "../support/type_name.hpp"

namespace wsl {

class task;

/// The identity of a task is the address of this.
struct task_identity {
  const char* name;
};
template <auto Task>
inline constexpr task_identity task_key{support::function_name<Task>()};
/// The identity of a library module is the address of this.
template <class Module>
inline constexpr char module_key = 0;

namespace detail {

template <class F>
struct signature {
  static constexpr bool is_task = false;
};
template <class P, class R, class... In>
struct signature<R (P::*)(pe&, In...)> {
  static constexpr bool is_task = std::is_void_v<R> || std::is_same_v<R, task>;
  static constexpr bool waits = std::is_same_v<R, task>;
  static constexpr int inputs = sizeof...(In);
  using owner = P;
  using input = std::tuple<In...>;
};

template <class Tuple>
struct decayed;
template <class... T>
struct decayed<std::tuple<T...>> {
  using type = std::tuple<std::remove_cvref_t<T>...>;
};

template <class Tuple>
inline constexpr bool by_value = false;
template <class... T>
inline constexpr bool by_value<std::tuple<T...>> = !(std::is_reference_v<T> || ...);

template <auto Task>
using signature_of = signature<decltype(Task)>;

/// What a task refers to is gone when it continues after a wait.
template <auto Task>
inline constexpr bool outlives_its_arguments =
    signature_of<Task>::waits && !by_value<typename signature_of<Task>::input>;

/// The arguments of a host call, as the host keeps them until every PE has run it.
template <auto Task>
using launch_arguments = typename decayed<typename signature_of<Task>::input>::type;

}  // namespace detail

/// A pointer to a member function that takes a `pe&` and returns void or, if it waits inside, `task`.
template <auto Task>
concept task_like = detail::signature_of<Task>::is_task;

/// The table of a program or module, with local tasks and launches numbered in order.
template <class Program>
inline constexpr auto table_of = Program::tasks().numbered();

/// Where a local task stands among the local tasks of its own program or module.
template <auto Task>
  requires task_like<Task>
consteval int local_position() {
  using owner = typename detail::signature_of<Task>::owner;
  for (const binding& b : table_of<owner>.entries)
    if (b.what == role::local && b.key == &task_key<Task>) return b.id;
  return max_colors;  // not bound here: found, or refused, when it is used
}

}  // namespace wsl
