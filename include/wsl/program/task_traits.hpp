// SPDX-License-Identifier: MIT
// Traits of a task: the properties that follow from the type of a PE program's member function, such as
// `void pass(pe& me, f32 x)`.
#pragma once
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/color.hpp"
#include "../layout/program.hpp"
#include "../support/type_name.hpp"

namespace wsl {

class task;

namespace detail {

/// The identity of a task is the address of this.
struct task_identity {
  const char* name;
  const char* owner = "";       ///< the class whose member it is
  const char* entry = nullptr;  ///< in a list of tasks, of what is not bound by local<&owner::name>
};

template <class F>
struct signature {
  static constexpr bool is_task = false;
};
template <class P, class R, class... In>
struct signature<R (P::*)(pe&, In...) noexcept> : signature<R (P::*)(pe&, In...)> {};
template <class P, class R, class... In>
struct signature<R (P::*)(pe&, In...)> {
  static constexpr bool is_task = std::is_void_v<R> || std::is_same_v<R, task>;
  static constexpr bool waits = std::is_same_v<R, task>;
  static constexpr int inputs = sizeof...(In);
  using owner = P;
  using input = std::tuple<In...>;
};

template <auto Task>
inline constexpr task_identity task_key = [] {
  if constexpr (signature<decltype(Task)>::is_task)
    return task_identity{support::function_name<Task>(),
                         support::type_name<typename signature<decltype(Task)>::owner>()};
  else return task_identity{support::function_name<Task>()};
}();

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

/// Whether the task waits and takes an argument by reference: the argument is gone when the task continues.
template <auto Task>
inline constexpr bool outlives_its_arguments =
    signature_of<Task>::waits && !by_value<typename signature_of<Task>::input>;

/// Whether a parameter is a reference through which the task could change its argument, of which it has none.
template <class Tuple>
inline constexpr bool changes_its_input = false;
template <class... T>
inline constexpr bool changes_its_input<std::tuple<T...>> =
    ((std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>) || ...);

/// The arguments of a host call, as the host keeps them until every PE has run it.
template <auto Task>
using launch_arguments = typename decayed<typename signature_of<Task>::input>::type;

/// A pointer to a member function that takes a `pe&` and returns void or, if it waits inside, `task`.
template <auto Task>
concept task_like = detail::signature_of<Task>::is_task;

/// A program or a library module: a class with a public task list.
template <class P>
concept has_tasks = requires {
  { P::tasks::size } -> std::convertible_to<int>;
};

/// The entries of a task list as data.
template <int n>
struct task_table {
  binding entries[static_cast<std::size_t>(n > 0 ? n : 1)]{};
};

// Local tasks, the urgent ones first and the long-running ones last, and launches get their numbers in the
// order of the list.
template <class Program, class List = typename Program::tasks>
consteval auto table_for() {
  task_table<List::size> t;
  List::template write<Program>(t.entries);
  int locals = 0, launches = 0;
  for (int turn : {-1, 0, 1})
    for (binding& b : t.entries)
      if (b.what == role::local && b.long_running - b.urgent == turn) b.id = locals++;
  for (binding& b : t.entries)
    if (b.what == role::launch) b.id = launches++;
  return t;
}

/// The task list of a program or module.
template <class Program>
inline constexpr auto table_of = detail::table_for<Program>();

/// The position of a local task among the local tasks of its own program or module.
template <auto Task>
  requires task_like<Task>
consteval int local_position() {
  using owner = typename detail::signature_of<Task>::owner;
  if constexpr (has_tasks<owner>) {
    constexpr int entry = owner::tasks::template find_local<Task>();
    if constexpr (entry >= 0) return table_of<owner>.entries[entry].id;
  }
  return max_colors;  // not bound here: it is found, or is a fault, when it is used
}

/// The number of activations that start this local task, as far as the list of its own class says; else 0.
template <auto Task>
inline constexpr int joins_of = [] {
  using owner = typename detail::signature_of<Task>::owner;
  if constexpr (has_tasks<owner>) {
    constexpr int entry = owner::tasks::template find_local<Task>();
    if constexpr (entry >= 0) return table_of<owner>.entries[entry].arrivals;
  }
  return 0;
}();
/// Whether the activations of this local task are counted, or may be: a list of another class binds it.
template <auto Task>
  requires task_like<Task>
consteval bool may_join() {
  using owner = typename detail::signature_of<Task>::owner;
  if constexpr (has_tasks<owner>)
    if constexpr (owner::tasks::template find_local<Task>() >= 0) return joins_of<Task> > 0;
  return true;
}

}  // namespace detail

}  // namespace wsl
