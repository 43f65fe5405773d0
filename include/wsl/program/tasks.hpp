// SPDX-License-Identifier: MIT
// The table of a PE program (CSL's comptime block): what it listens to, what its descriptors read, what it
// sends, and what the host may call. The checker sees all of it.
//   static consteval auto tasks() { return table(launch<&part::start>(), on<in, &part::pass>(), sends<out>()); }
#pragma once
#include <cstddef>
#include <new>

#include "pe.hpp"
#include "storage.hpp"

namespace wsl {

inline constexpr initially blocked = initially::blocked;
inline constexpr initially active = initially::active;

template <std::size_t N>
struct task_table {
  binding entries[N]{};

  /// Local tasks, the urgent ones first and the lengthy ones last, and launches get their numbers in the
  /// order of the table.
  consteval task_table numbered() const {
    task_table t = *this;
    int locals = 0, launches = 0;
    for (int turn : {-1, 0, 1})
      for (binding& b : t.entries)
        if (b.what == role::local && b.long_running - b.urgent == turn) b.id = locals++;
    for (binding& b : t.entries)
      if (b.what == role::launch) b.id = launches++;
    return t;
  }
};

template <std::size_t... N>
consteval auto table(const task_table<N>&... parts) {
  static_assert(sizeof...(N) > 0,
                "wsl: a table has at least one entry: launch, on, local, control, reads, sends or use");
  task_table<(N + ... + 0)> joined;
  std::size_t i = 0;
  const auto append = [&](const auto& part) {
    for (const binding& b : part.entries) joined.entries[i++] = b;
  };
  (append(parts), ...);
  return joined;
}

namespace detail {

template <auto Task>
using owner_of = typename signature_of<Task>::owner;
template <auto Task, std::size_t I>
using input_of = std::tuple_element_t<I, typename signature_of<Task>::input>;

// How one word becomes the arguments of a task: whole, or as the two halves of a `halves` payload.
template <auto Task, class Payload>
inline constexpr bool takes_whole = [] {
  if constexpr (signature_of<Task>::inputs == 1)
    return std::is_same_v<std::remove_cvref_t<input_of<Task, 0>>, Payload>;
  else return false;
}();
template <auto Task, class Payload>
inline constexpr bool takes_halves = [] {
  if constexpr (signature_of<Task>::inputs == 2 && requires(Payload p) { p.data, p.index; })
    return std::is_same_v<std::remove_cvref_t<input_of<Task, 0>>, decltype(Payload::data)> &&
           std::is_same_v<std::remove_cvref_t<input_of<Task, 1>>, decltype(Payload::index)>;
  else return false;
}();

// A task of a library module's set of colors may ask which side its wavelets come from.
template <auto Task, class Payload>
inline constexpr bool takes_side = [] {
  if constexpr (signature_of<Task>::inputs == 2)
    return std::is_same_v<std::remove_cvref_t<input_of<Task, 0>>, Payload> &&
           std::is_same_v<input_of<Task, 1>, port>;
  else return false;
}();

template <auto Task>
inline constexpr bool takes_nothing_or_data = [] {
  if constexpr (signature_of<Task>::inputs == 1)
    return std::is_same_v<std::remove_cvref_t<input_of<Task, 0>>, u16>;
  else return signature_of<Task>::inputs == 0;
}();

template <auto Task, class Payload, port from>
inline void call(owner_of<Task>& program, pe& me, u32 word) {
  const auto value = from_bits<Payload>(word);
  if constexpr (takes_halves<Task, Payload>) (program.*Task)(me, value.data, value.index);
  else if constexpr (takes_side<Task, Payload>) (program.*Task)(me, value, from);
  else (program.*Task)(me, value);
}

// The loop lives here, around the task, so that the task inlines: an engine makes one indirect call a batch.
// There is always a first word, and saying so in the form of the loop is what lets compilers keep the
// program's members in registers.
template <auto Task, class Payload, port from>
u32 run_data(void* state, pe& me, const void* input, u32 count) {
  auto& program = *static_cast<owner_of<Task>*>(state);
  const u32* __restrict words = static_cast<const u32*>(input);
  u32 taken = 0;
  do call<Task, Payload, from>(program, me, words[taken++]);
  while (taken < count && !state_of(me).interrupted);
  return taken;
}

// A task that sends or takes one array after another activates itself again and again; as long as nothing
// else may come before it, it runs on without its engine.
template <auto Task>
u32 run_local(void* state, pe& me, const void* bit, u32 most) {
  const u32 own_bit = *static_cast<const u32*>(bit);
  u32 ran = 0;
  do (static_cast<owner_of<Task>*>(state)->*Task)(me);
  while (++ran < most && state_of(me).try_rerun(own_bit));
  return ran;
}

template <auto Task>
u32 run_control(void* state, pe& me, const void* input, u32) {
  auto& program = *static_cast<owner_of<Task>*>(state);
  if constexpr (signature_of<Task>::inputs == 0) (program.*Task)(me);
  else (program.*Task)(me, control_word{*static_cast<const u32*>(input)}.data());
  return 1;
}

template <auto Task>
u32 run_launch(void* state, pe& me, const void* input, u32) {
  auto& program = *static_cast<owner_of<Task>*>(state);
  std::apply([&](const auto&... argument) { (program.*Task)(me, argument...); },
             *static_cast<const launch_arguments<Task>*>(input));
  return 1;
}

template <auto Task>
consteval binding bind(role what, int id, const payload_type* type, task_function run, initially start) {
  const int arguments = what == role::launch ? signature_of<Task>::inputs : 0;
  return {what, id, type, &task_key<Task>, nullptr, support::function_name<Task>(), run, start, 0, arguments};
}

// Every entry asks this first, and builds nothing for what is not a task: the sentence is then the only
// error.
template <auto Task>
consteval bool is_task() {
  static_assert(task_like<Task>,
                "wsl: a task is a member function of the program that takes the PE first and returns void or "
                "task: void f(pe& me)");
  if constexpr (task_like<Task>) {
    static_assert(!outlives_its_arguments<Task>,
                  "wsl: a task that waits takes its arguments by value, not by reference");
    return !outlives_its_arguments<Task>;
  }
  return false;
}

template <auto Task, class... Arguments>
inline constexpr bool accepts = false;
template <auto Task, class... Arguments>
  requires(signature_of<Task>::inputs == sizeof...(Arguments))
inline constexpr bool accepts<Task, Arguments...> = []<std::size_t... I>(std::index_sequence<I...>) {
  return (std::is_convertible_v<Arguments, std::remove_cvref_t<input_of<Task, I>>> && ...);
}(std::index_sequence_for<Arguments...>{});

// A launch asks this first, and starts nothing that would not fit: the sentence is then the only error.
template <auto Task, class... Arguments>
consteval bool fits_launch() {
  if constexpr (!is_task<Task>()) return false;
  else {
    static_assert(accepts<Task, Arguments...>,
                  "wsl: the arguments of a launch are those of the task after the PE, in number and type");
    return accepts<Task, Arguments...>;
  }
}

}  // namespace detail

/// A function that the host calls, with arguments of its own: `launch<&part::start>()`.
template <auto Task>
consteval auto launch() {
  if constexpr (!detail::is_task<Task>()) return task_table<1>{};
  else
    return task_table<1>{
        {detail::bind<Task>(role::launch, -1, nullptr, &detail::run_launch<Task>, initially::ready)}};
}

/// A task that each data wavelet of a color triggers: `on<in, &part::pass>()`. Its parameter is the color's
/// payload, or the two halves of it. `on<in, &part::pass>(blocked)` waits for the first unblock.
template <auto Color, auto Task>
  requires color_like<decltype(Color)>
consteval auto on(initially start = initially::ready) {
  using payload = typename decltype(Color)::payload;
  if constexpr (!detail::is_task<Task>()) return task_table<1>{};
  else {
    constexpr bool takes = detail::takes_whole<Task, payload> || detail::takes_halves<Task, payload>;
    static_assert(
        takes,
        "wsl: the task's parameter must be the payload of its color: void f(pe& me, f32 x) for a color<f32>");
    if constexpr (!takes) return task_table<1>{};
    else
      return task_table<1>{{detail::bind<Task>(role::data, Color.id, &payload_type_of<payload>,
                                               &detail::run_data<Task, payload, ramp>, start)}};
  }
}

namespace detail {

template <auto Module, std::size_t I, auto Task>
consteval auto on_nth() {
  constexpr auto c = Module.colors()[I];
  using payload = typename decltype(c)::payload;
  if constexpr (takes_side<Task, payload>) {
    constexpr port from = Module.arrives_from(static_cast<int>(I));
    return task_table<1>{{bind<Task>(role::data, c.id, &payload_type_of<payload>,
                                     &run_data<Task, payload, from>, initially::ready)}};
  } else {
    return on<c, Task>();
  }
}

}  // namespace detail

/// One task for all colors of a library module's set: `on<halo, &cell::hear>()`. It takes the payload, or the
/// payload and the side from which it came: void hear(pe& me, f32 x, port from).
template <auto Module, auto Task>
  requires(!color_like<decltype(Module)>)
consteval auto on(initially start = initially::ready) {
  static_assert(
      requires { Module.colors(); },
      "wsl: on<...> names a color or a module with colors: on<in, &part::hear>() or on<halo, &part::hear>()");
  if constexpr (!detail::is_task<Task>() || !requires { Module.colors(); }) return task_table<1>{};
  else {
    auto t = []<std::size_t... I>(std::index_sequence<I...>) {
      return table(detail::on_nth<Module, I, Task>()...);
    }(std::make_index_sequence<Module.colors().size()>{});
    for (binding& b : t.entries) b.start = start;
    return t;
  }
}

/// A task that `me.activate` or the completion of an operation runs: `local<&part::step>()`,
/// `local<&part::step>(blocked)`, or `local<&part::step>(active)` to run when the fabric starts.
template <auto Task>
consteval auto local(initially start = initially::ready) {
  if constexpr (!detail::is_task<Task>()) return task_table<1>{};
  else {
    constexpr bool takes = detail::signature_of<Task>::inputs == 0;
    static_assert(takes, "wsl: a local task takes only the PE: void f(pe& me)");
    if constexpr (!takes) return task_table<1>{};
    else
      return task_table<1>{{detail::bind<Task>(role::local, -1, nullptr, &detail::run_local<Task>, start)}};
  }
}

/// A task that control wavelets with this id run, whatever their color: `control<7, &part::stop>()`. It may
/// take 16 bits of data.
template <int id, auto Task>
consteval auto control() {
  if constexpr (!detail::is_task<Task>()) return task_table<1>{};
  else {
    constexpr bool takes = detail::takes_nothing_or_data<Task>;
    static_assert(takes,
                  "wsl: a control task takes the PE, and the wavelet's 16 bits if it wants them: void f(pe& "
                  "me, u16 data)");
    if constexpr (!takes) return task_table<1>{};
    else
      return task_table<1>{
          {detail::bind<Task>(role::control, id, nullptr, &detail::run_control<Task>, initially::ready)}};
  }
}

/// A task that runs when a command has torn down a color at the router of its PE: `on_teardown<sum,
/// &part::next>()`. Wavelets of the color wait until it, or a later task, calls `me.reopen(sum)`.
template <auto Color, auto Task>
  requires color_like<decltype(Color)>
consteval auto on_teardown() {
  if constexpr (!detail::is_task<Task>()) return task_table<1>{};
  else {
    constexpr bool takes = detail::signature_of<Task>::inputs == 0;
    static_assert(takes, "wsl: a task of a teardown takes only the PE: void f(pe& me)");
    if constexpr (!takes) return task_table<1>{};
    else
      return task_table<1>{{detail::bind<Task>(role::torn_down, Color.id, nullptr, &detail::run_control<Task>,
                                               initially::ready)}};
  }
}

namespace detail {
// not constexpr: its name is what the compiler says
inline void only_data_tasks_and_local_tasks_are_urgent() {}
}  // namespace detail

/// Tasks that go before the other ready tasks of their PE (CSL's task_priority): `urgent(on<alarm,
/// &part::stop>())`. A program whose result depends on it has a race; it is for who must not be kept waiting.
template <std::size_t N>
consteval auto urgent(task_table<N> tasks) {
  for (binding& b : tasks.entries) {
    if (b.what != role::data && b.what != role::local) detail::only_data_tasks_and_local_tasks_are_urgent();
    b.urgent = true;
  }
  return tasks;
}

namespace detail {
inline void only_local_tasks_are_long_running() {}
}  // namespace detail

/// Local tasks that compute long: `lengthy(local<&part::inside>())`. They go after the other ready tasks of
/// their PE; and the threaded engine, to whom a task is one step, starts them when nothing else is left to do
/// anywhere, all at once: what others wait for is then on its way, and no thread waits for one that computes.
/// Worth it from some 10 microseconds on.
template <std::size_t N>
consteval auto long_running(task_table<N> tasks) {
  for (binding& b : tasks.entries) {
    if (b.what != role::local) detail::only_local_tasks_are_long_running();
    b.long_running = true;
  }
  return tasks;
}

namespace detail {

template <class M>
struct member;
template <class P, class M>
struct member<M P::*> {
  using owner = P;
  using type = M;
};

// A module's task, called on the module inside its owner. Everything is known here, so the call inlines.
template <auto Member, std::size_t I>
u32 run_in_member(void* state, pe& me, const void* input, u32 count) {
  using traits = member<decltype(Member)>;
  auto& owner = *static_cast<typename traits::owner*>(state);
  constexpr task_function inner = table_of<typename traits::type>.entries[I].run;
  return inner(&(owner.*Member), me, input, count);
}

}  // namespace detail

/// A library module that is a member of the program brings its own table: `use<&worker::reduce>()`.
template <auto Member>
consteval auto use() {
  using module = typename detail::member<decltype(Member)>::type;
  auto t = table_of<module>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((t.entries[I].run = t.entries[I].runs() ? &detail::run_in_member<Member, I> : nullptr), ...);
  }(std::make_index_sequence<std::size(table_of<module>.entries)>{});
  for (binding& b : t.entries) b.module = b.module ? b.module : &module_key<module>;
  return t;
}

/// A PE program: a struct with default values for its members and a table of tasks.
template <class P>
concept pe_program = std::is_default_constructible_v<P> && requires { P::tasks().numbered(); };

namespace detail {

template <class P>
consteval program describe() {
  static_assert(std::is_default_constructible_v<P>,
                "wsl: the members of a PE program have default values: f32 x = 0;");
  static_assert(!std::is_default_constructible_v<P> || pe_program<P>,
                "wsl: a PE program has a public table: static consteval auto tasks() { return "
                "table(launch<&part::start>()); }");
  if constexpr (!pe_program<P>) return {};
  else
    return {
        .name = support::type_name<P>(),
        .bytes = sizeof(P),
        .alignment = alignof(P),
        .table = table_of<P>.entries,
        .entries = static_cast<int>(std::size(table_of<P>.entries)),
        .construct = [](void* where) { ::new (where) P{}; },
        .destroy = [](void* what) { static_cast<P*>(what)->~P(); },
        .storage = storage_of<P>(),
    };
}

}  // namespace detail

/// The program as a layout takes it: `.place(all, program_v<part>)`.
template <class P>
inline constexpr program program_v = detail::describe<P>();

}  // namespace wsl
