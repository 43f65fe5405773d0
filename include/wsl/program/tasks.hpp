// SPDX-License-Identifier: MIT
// The task list of a PE program (CSL's comptime block): the tasks and the events that start them, the colors
// that its descriptors read, the colors that it sends, and the functions that the host may call. The list is
// a type, so that it can stand inside the class that it describes; the checker reads it as data
// (layout/program.hpp).
//   using tasks = task_list<launch<&part::start>, on<in, &part::pass>, sends<out>>;
#pragma once
#include <cstddef>
#include <new>

#include "convert.hpp"
#include "exports.hpp"
#include "pe.hpp"
#include "storage.hpp"

namespace wsl {

/// The state of a task when the fabric starts, as the last argument of its entry:
/// `local<&part::step, blocked>`.
inline constexpr detail::initially blocked = detail::initially::blocked;
inline constexpr detail::initially active = detail::initially::active;

/// The entries of a program or module, in their order. An entry may be a list itself.
template <class... Entries>
struct task_list {
  static constexpr int size = (0 + ... + Entries::size);

  template <class Program>
  static consteval void write([[maybe_unused]] detail::binding* to) {
    (Entries::template write<Program>(std::exchange(to, to + Entries::size)), ...);
  }

  /// The index of the entry that binds this local task; -1 if there is none.
  template <auto Task>
  static consteval int find_local() {
    int found = -1, before = 0;
    [[maybe_unused]] const auto look = [&](int at, int entries) {
      if (found < 0 && at >= 0) found = before + at;
      before += entries;
    };
    (look(Entries::template find_local<Task>(), Entries::size), ...);
    return found;
  }
};

/// Entries that the program has only under a condition: `when<width == 2, local<&part::second>>`.
template <bool condition, class... Entries>
using when = std::conditional_t<condition, task_list<Entries...>, task_list<>>;

namespace detail {

template <template <int> class Entry, class Numbers>
struct numbered_list;
template <template <int> class Entry, int... k>
struct numbered_list<Entry, std::integer_sequence<int, k...>> : task_list<Entry<k>...> {};

}  // namespace detail

/// Entries that differ in a number: after `template <int k> using sent = local<&part::sent<k>>;` the list
/// `numbered<4, sent>` has the entries sent<0> to sent<3>.
template <int n, template <int> class Entry>
struct numbered : detail::numbered_list<Entry, std::make_integer_sequence<int, n>> {};

namespace detail {

/// An entry of a single binding that is not a local task.
struct single_entry {
  static constexpr int size = 1;
  template <auto>
  static consteval int find_local() {
    return -1;
  }
};

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

template <auto Task, class... Inputs>
[[gnu::always_inline]] inline void begin(owner_of<Task>& program, pe& me, const Inputs&... inputs) {
  if constexpr (signature_of<Task>::waits) {
    task::begins = true;
    static_cast<void>((program.*Task)(me, inputs...));
  } else {
    (program.*Task)(me, inputs...);
  }
}

template <auto Task, class Payload, port from>
inline void call(owner_of<Task>& program, pe& me, u32 word) {
  const auto value = from_bits<Payload>(word);
  if constexpr (takes_halves<Task, Payload>) begin<Task>(program, me, value.data, value.index);
  else if constexpr (takes_side<Task, Payload>) begin<Task>(program, me, value, from);
  else begin<Task>(program, me, value);
}

// The loop lives here, around the task, so that the task inlines: an engine makes one indirect call a batch.
// There is always a first word, and the do-while form tells the compiler so: only then does it keep the
// program's members in registers.
template <class Program, auto Task, class Payload, port from>
u32 run_data(void* state, pe& me, const void* input, u32 count) {
  owner_of<Task>& program = *static_cast<Program*>(state);
  const u32* __restrict words = static_cast<const u32*>(input);
  u32 taken = 0;
  do call<Task, Payload, from>(program, me, words[taken++]);
  while (taken < count && !engines::state_of(me).interrupted);
  return taken;
}

// A task that sends or receives one array after another activates itself again and again; as long as nothing
// else may come before it, it is run again without the engine.
template <class Program, auto Task>
u32 run_local(void* state, pe& me, const void* bit, u32 most) {
  owner_of<Task>& program = *static_cast<Program*>(state);
  const u32 own_bit = *static_cast<const u32*>(bit);
  u32 ran = 0;
  do begin<Task>(program, me);
  while (++ran < most && engines::state_of(me).try_rerun(own_bit));
  return ran;
}

// Each arrival is one run, as on the machine, where each of them has a local task that counts. The n-th
// arrival starts the task.
template <class Program, auto Task, int n>
u32 run_joined(void* state, pe& me, const void* bit, u32) {
  if (engines::state_of(me).count_arrival(*static_cast<const u32*>(bit), n))
    begin<Task>(*static_cast<Program*>(state), me);
  return 1;
}

template <class Program, auto Task>
u32 run_control(void* state, pe& me, const void* input, u32) {
  owner_of<Task>& program = *static_cast<Program*>(state);
  if constexpr (signature_of<Task>::inputs == 0) begin<Task>(program, me);
  else begin<Task>(program, me, control_word{*static_cast<const u32*>(input)}.data());
  return 1;
}

template <class Program, auto Task>
u32 run_launch(void* state, pe& me, [[maybe_unused]] const void* input, u32) {
  owner_of<Task>& program = *static_cast<Program*>(state);
  if constexpr (signature_of<Task>::inputs == 0) begin<Task>(program, me);
  else
    std::apply([&](const auto&... argument) { begin<Task>(program, me, argument...); },
               *static_cast<const launch_arguments<Task>*>(input));
  return 1;
}

template <auto Task>
consteval binding bind(role what, int id, const payload_type* type, task_function run, initially start) {
  const int arguments = what == role::launch ? signature_of<Task>::inputs : 0;
  return {what, id, type, &task_key<Task>, support::function_name<Task>(), run, start, 0, arguments};
}

template <auto Task>
consteval bool is_task() {
  static_assert(task_like<Task>,
                "wsl: a task is a member function of the program that takes the PE first and returns void or "
                "task: void f(pe& me)");
  if constexpr (task_like<Task>) {
    static_assert(!outlives_its_arguments<Task>,
                  "wsl: a task that waits takes its arguments by value, not by reference");
    constexpr bool changes = changes_its_input<typename signature_of<Task>::input>;
    static_assert(
        !changes || outlives_its_arguments<Task>,
        "wsl: a task takes its arguments by value, void f(pe& me, f32 x): they are copies of a word or "
        "of the host's numbers, and nobody would see what it writes to them");
    return !outlives_its_arguments<Task> && !changes;
  }
  return false;
}

// Every entry asks this first and writes no binding if the function is not a task of the program: this
// message is then the only error.
template <class Program, auto Task>
consteval bool binds() {
  if constexpr (!is_task<Task>()) return false;
  else {
    constexpr bool own = std::is_convertible_v<Program*, owner_of<Task>*>;
    static_assert(own,
                  "wsl: a task list binds the functions of its own program, or of a public base class of it");
    return own;
  }
}

template <class From, class To>
concept becomes_argument = (number<From> || number<To> ? becomes<From, To> : std::is_convertible_v<From, To>);

template <auto Task, class... Arguments>
inline constexpr bool accepts = false;
template <auto Task, class... Arguments>
  requires(signature_of<Task>::inputs == sizeof...(Arguments))
inline constexpr bool accepts<Task, Arguments...> = []<std::size_t... I>(std::index_sequence<I...>) {
  return (becomes_argument<Arguments, std::remove_cvref_t<input_of<Task, I>>> && ...);
}(std::index_sequence_for<Arguments...>{});

/// A pointer or a view, such as std::span: what it leads to is somebody else's.
template <class X>
concept borrower =
    (std::is_pointer_v<X> && !std::is_function_v<std::remove_pointer_t<X>>) ||
    (std::is_trivially_copyable_v<X> && requires(X x) { x.data(), x.size(); } &&
     !requires { std::tuple_size<X>::value; });
/// Whether a task would get a view of an argument that is gone before it runs.
template <class Parameter, class Argument>
inline constexpr bool views_a_temporary =
    !std::is_lvalue_reference_v<Argument> && borrower<Parameter> &&
    !borrower<std::remove_cvref_t<Argument>> && !std::is_null_pointer_v<std::remove_cvref_t<Argument>>;
template <auto Task, class... Arguments>
inline constexpr bool outlive_the_call = []<std::size_t... I>(std::index_sequence<I...>) {
  return !(views_a_temporary<std::remove_cvref_t<input_of<Task, I>>, Arguments> || ...);
}(std::index_sequence_for<Arguments...>{});

// A launch asks this first and starts nothing if the arguments do not fit: this message is then the only
// error.
template <auto Task, class... Arguments>
consteval bool fits_launch() {
  if constexpr (!is_task<Task>()) return false;
  else {
    static_assert(accepts<Task, Arguments...>,
                  "wsl: the arguments of a launch are those of the task after the PE, in number and type; a "
                  "floating-point number becomes a whole one, and any number a bool, only by a cast");
    return accepts<Task, Arguments...>;
  }
}
// A call that is only queued asks this: `Arguments` are references where they have names.
template <auto Task, class... Arguments>
consteval bool fits_queued_launch() {
  if constexpr (!fits_launch<Task, std::remove_cvref_t<Arguments>...>()) return false;
  else {
    static_assert(outlive_the_call<Task, Arguments...>,
                  "wsl: the task runs after this call and would look at an argument that is gone: give the "
                  "container or the number a name, and let it live until f.run() returns");
    return outlive_the_call<Task, Arguments...>;
  }
}

template <class To, class From>
To as_argument(const From& given) {
  if constexpr (number<To>) return as_exact<To>(given);
  else return given;
}

/// The arguments of a launch, converted to the types of the task's parameters. Throws fault if a number does
/// not fit.
template <auto Task, class... Arguments>
launch_arguments<Task>* new_arguments(const Arguments&... given) {
  using tuple = launch_arguments<Task>;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return new tuple(as_argument<std::tuple_element_t<I, tuple>>(given)...);
  }(std::index_sequence_for<Arguments...>{});
}

}  // namespace detail

/// A function that the host calls, with arguments of its own: `launch<&part::start>`.
template <auto Task>
struct launch : detail::single_entry {
  template <class Program>
  static consteval void write(detail::binding* to) {
    if constexpr (detail::binds<Program, Task>())
      *to = detail::bind<Task>(detail::role::launch, -1, nullptr, &detail::run_launch<Program, Task>,
                               detail::initially::ready);
  }
};

namespace detail {

template <class Program, auto Task, auto Color, port from>
consteval void write_data_task(binding& to, initially start) {
  using payload = typename decltype(Color)::payload;
  if constexpr (binds<Program, Task>()) {
    constexpr bool takes = takes_whole<Task, payload> || takes_halves<Task, payload> ||
                           (from != ramp && takes_side<Task, payload>);
    static_assert(
        takes,
        "wsl: the task's parameter must be the payload of its color: void f(pe& me, f32 x) for a color<f32>");
    if constexpr (takes)
      to = bind<Task>(role::data, Color.id, &payload_type_of<payload>,
                      &run_data<Program, Task, payload, from>, start);
  }
}

/// A color, or a library module with a set of colors.
template <auto What>
consteval int colors_in() {
  if constexpr (color_like<decltype(What)>) return 1;
  else if constexpr (requires { What.colors(); }) return static_cast<int>(What.colors().size());
  else return 0;
}
template <auto What, int i>
consteval auto color_in() {
  if constexpr (color_like<decltype(What)>) return What;
  else return What.colors()[i];
}

}  // namespace detail

/// A task that each data wavelet of a color triggers: `on<in, &part::pass>`. Its parameter is the color's
/// payload, or the two halves of it. `on<in, &part::pass, blocked>` waits for the first unblock. If `What` is
/// a library module, the task is bound to all colors of its set, `on<halo, &cell::hear>`, and may also take
/// the side from which the payload came: `void hear(pe& me, f32 x, port from)`.
template <auto What, auto Task, detail::initially start = detail::initially::ready>
struct on : detail::single_entry {
  static constexpr int size = detail::colors_in<What>();

  template <class Program>
  static consteval void write(detail::binding* to) {
    static_assert(
        size > 0,
        "wsl: on<...> names a color or a module with colors: on<in, &part::hear> or on<halo, &part::hear>");
    write_each<Program>(to, std::make_integer_sequence<int, size>{});
  }

 private:
  template <class Program, int... i>
  static consteval void write_each(detail::binding* to, std::integer_sequence<int, i...>) {
    (detail::write_data_task<Program, Task, detail::color_in<What, i>(), side_of<i>()>(to[i], start), ...);
  }
  template <int i>
  static consteval port side_of() {
    if constexpr (requires { What.arrives_from(i); }) return What.arrives_from(i);
    else return ramp;
  }
};

/// A task that `me.activate` or the completion of an operation runs: `local<&part::step>`,
/// `local<&part::step, blocked>`, or `local<&part::step, active>` to run when the fabric starts.
template <auto Task, detail::initially start = detail::initially::ready>
struct local : detail::single_entry {
  template <class Program>
  static consteval void write(detail::binding* to) {
    if constexpr (detail::binds<Program, Task>()) {
      constexpr bool takes = detail::signature_of<Task>::inputs == 0;
      static_assert(takes, "wsl: a local task takes only the PE: void f(pe& me)");
      if constexpr (takes)
        *to = detail::bind<Task>(detail::role::local, -1, nullptr, &detail::run_local<Program, Task>, start);
    }
  }
  template <auto Other>
  static consteval int find_local() {
    return std::is_same_v<local, local<Other, start>> ? 0 : -1;
  }
};

/// A local task that starts when n activations have come, and again when n more have: `joins<2,
/// &part::both>`. Completions `then<&part::both>()` and `me.activate<&part::both>()` count, in any order. On
/// the machine an activation is a bit, so n local tasks count together, one for each arrival, and the last
/// goes on as this task: it takes n of the PE's local task ids and a counter in its memory, and each arrival
/// costs the start of a task.
template <int n, auto Task>
struct joins : detail::single_entry {
  template <class Program>
  static consteval void write(detail::binding* to) {
    static_assert(n >= 1, "wsl: a task joins at least one activation: joins<2, &part::both>");
    if constexpr (n >= 1 && detail::binds<Program, Task>()) {
      constexpr bool takes = detail::signature_of<Task>::inputs == 0;
      static_assert(takes, "wsl: a local task takes only the PE: void f(pe& me)");
      if constexpr (takes) {
        *to = detail::bind<Task>(detail::role::local, -1, nullptr, &detail::run_joined<Program, Task, n>,
                                 detail::initially::ready);
        to->arrivals = n;
      }
    }
  }
  template <auto Other>
  static consteval int find_local() {
    return std::is_same_v<joins, joins<n, Other>> ? 0 : -1;
  }
};

/// A task that control wavelets with this id run, whatever their color: `control<7, &part::stop>`. It may
/// take 16 bits of data.
template <int id, auto Task>
struct control : detail::single_entry {
  template <class Program>
  static consteval void write(detail::binding* to) {
    if constexpr (detail::binds<Program, Task>()) {
      constexpr bool takes = detail::takes_nothing_or_data<Task>;
      static_assert(
          takes,
          "wsl: a control task takes the PE, and the wavelet's 16 bits if it wants them: void f(pe& "
          "me, u16 data)");
      if constexpr (takes)
        *to = detail::bind<Task>(detail::role::control, id, nullptr, &detail::run_control<Program, Task>,
                                 detail::initially::ready);
    }
  }
};

/// A task that runs when a command has torn down a color at the router of its PE: `on_teardown<sum,
/// &part::next>`. Wavelets of the color wait until it, or a later task, calls `me.reopen(sum)`.
template <auto Color, auto Task>
  requires detail::color_like<decltype(Color)>
struct on_teardown : detail::single_entry {
  template <class Program>
  static consteval void write(detail::binding* to) {
    if constexpr (detail::binds<Program, Task>()) {
      constexpr bool takes = detail::signature_of<Task>::inputs == 0;
      static_assert(takes, "wsl: a task of a teardown takes only the PE: void f(pe& me)");
      if constexpr (takes)
        *to = detail::bind<Task>(detail::role::torn_down, Color.id, nullptr,
                                 &detail::run_control<Program, Task>, detail::initially::ready);
    }
  }
};

namespace detail {

// not constexpr on purpose: the compiler's error message then shows their names
inline void only_data_tasks_and_local_tasks_are_urgent() {}
inline void only_local_tasks_are_long_running() {}
inline void only_tasks_cost_cycles() {}

}  // namespace detail

/// Tasks that run before the other ready tasks of their PE (CSL's task_priority):
/// `urgent<on<alarm, &part::stop>>`. It is meant for a task that must not be kept waiting; a program whose
/// result depends on it has a race.
template <class... Entries>
struct urgent : task_list<Entries...> {
  template <class Program>
  static consteval void write(detail::binding* to) {
    task_list<Entries...>::template write<Program>(to);
    for (detail::binding* b = to; b != to + urgent::size; ++b) {
      if (b->what != detail::role::data && b->what != detail::role::local)
        detail::only_data_tasks_and_local_tasks_are_urgent();
      b->urgent = true;
    }
  }
};

/// Local tasks that compute for long: `long_running<local<&part::inside>>`. They run after the other ready
/// tasks of their PE. To the threaded engine a task is one indivisible step; it starts these when nothing
/// else is left to do anywhere, all of them at once, so that the words that other PEs wait for are already on
/// their way and no thread waits for one that computes. This pays off from some 10 microseconds on.
template <class... Entries>
struct long_running : task_list<Entries...> {
  template <class Program>
  static consteval void write(detail::binding* to) {
    task_list<Entries...>::template write<Program>(to);
    for (detail::binding* b = to; b != to + long_running::size; ++b) {
      if (b->what != detail::role::local) detail::only_local_tasks_are_long_running();
      b->long_running = true;
    }
  }
};

/// Tasks with what their scalar code takes, in cycles for each run: `costs<12, on<red, &part::hear>>`. The
/// timed engine charges it when the task begins; see program/counted.hpp for numbers that are charged as they
/// are used.
template <u32 cycles, class... Entries>
struct costs : task_list<Entries...> {
  template <class Program>
  static consteval void write(detail::binding* to) {
    task_list<Entries...>::template write<Program>(to);
    for (detail::binding* b = to; b != to + costs::size; ++b) {
      if (!b->runs()) detail::only_tasks_cost_cycles();
      b->cycles = cycles;
    }
  }
};

namespace detail {

template <class M>
struct member;
template <class P, class M>
struct member<M P::*> {
  using owner = P;
  using type = M;
};

// Calls a module's task on the module inside its program. The task is a constant here, so the call inlines.
template <class Program, auto Member, std::size_t I>
u32 run_in_member(void* state, pe& me, const void* input, u32 count) {
  using traits = member<decltype(Member)>;
  typename traits::owner& owner = *static_cast<Program*>(state);
  constexpr task_function inner = table_of<typename traits::type>.entries[I].run;
  return inner(&(owner.*Member), me, input, count);
}

}  // namespace detail

/// A library module that is a member of the program brings its own tasks: `use<&worker::reduce>`.
template <auto Member>
struct use : detail::single_entry {
  using module = typename detail::member<decltype(Member)>::type;
  static constexpr int size = [] {
    if constexpr (detail::has_tasks<module>) return module::tasks::size;
    else return 0;
  }();

  template <class Program>
  static consteval void write(detail::binding* to) {
    static_assert(detail::has_tasks<module>,
                  "wsl: use<&part::member> names a library module, a member with tasks of its own");
    constexpr bool own = std::is_convertible_v<Program*, typename detail::member<decltype(Member)>::owner*>;
    static_assert(own,
                  "wsl: a task list uses the modules of its own program, or of a public base class of it");
    if constexpr (own) write_each<Program>(to, std::make_index_sequence<static_cast<std::size_t>(size)>{});
  }

 private:
  template <class Program, std::size_t... I>
  static consteval void write_each(detail::binding* to, std::index_sequence<I...>) {
    ((to[I] = detail::table_of<module>.entries[I],
      to[I].run = to[I].runs() ? &detail::run_in_member<Program, Member, I> : nullptr),
     ...);
  }
};

namespace detail {

template <class T>
inline constexpr bool is_task_list = false;
template <class... Entries>
inline constexpr bool is_task_list<task_list<Entries...>> = true;

}  // namespace detail

/// A PE program: a struct with default values for its members and a task list.
template <class P>
concept pe_program =
    std::is_default_constructible_v<P> && requires { requires detail::is_task_list<typename P::tasks>; };

namespace detail {

/// The counters of the local tasks that count their activations, behind the members of the program.
template <class P>
struct join_counters {
  static constexpr int count = [] {
    int n = 0;
    for (const binding& b : table_of<P>.entries) n += b.arrivals > 0;
    return n;
  }();
  static constexpr int own = alignof(engines::join_state), least = alignof(P), end = sizeof(P);
  static constexpr int at = (end + own - 1) / own * own, alignment = count && own > least ? own : least;
  static constexpr int used = count ? at + count * int{sizeof(engines::join_state)} : end;
  static constexpr int bytes = (used + alignment - 1) / alignment * alignment;

  static void construct(void* where) {
    for (int i = 0; i < count; ++i)
      ::new (static_cast<unsigned char*>(where) + at + i * int{sizeof(engines::join_state)})
          engines::join_state{};
  }
};

// GCC with -fsanitize=undefined takes two addresses for unknown that differ, so there no two tasks are one.
consteval bool is_one_task(const binding& a, const binding& b) {
  return __builtin_constant_p(a.key == b.key) && a.key == b.key;
}

/// Whether no local task and no host function is bound a second time. A data task may serve several colors.
template <class P>
consteval bool binds_each_task_once() {
  constexpr const auto& list = table_of<P>.entries;
  for (const binding& b : list)
    for (const binding* other = list; other != &b; ++other)
      if ((b.what == role::local || b.what == role::launch) && other->what == b.what &&
          is_one_task(*other, b))
        return false;
  return true;
}

template <class P>
consteval program describe() {
  static_assert(std::is_default_constructible_v<P>,
                "wsl: the members of a PE program have default values: f32 x = 0;");
  static_assert(!std::is_default_constructible_v<P> || pe_program<P>,
                "wsl: a PE program has a public task list: using tasks = task_list<launch<&part::start>>;");
  if constexpr (!pe_program<P>) return {};
  else {
    using counters = join_counters<P>;
    static_assert(P::tasks::size > 0,
                  "wsl: a task list has at least one entry: launch, on, local, control, reads, sends or use");
    static_assert(binds_each_task_once<P>(),
                  "wsl: a task list binds a local task once, as local<&part::f> or joins<n, &part::f>, and a "
                  "host function once, as launch<&part::f>");
    return {
        .name = support::type_name<P>(),
        .bytes = counters::bytes,
        .alignment = counters::alignment,
        .table = table_of<P>.entries,
        .entries = P::tasks::size,
        .construct =
            [](void* where) {
              ::new (where) P{};
              counters::construct(where);
            },
        .destroy = [](void* what) { static_cast<P*>(what)->~P(); },
        .throw_pointer = [](void* what) { throw static_cast<P*>(what); },
        .storage = storage_of<P>(),
        .joins_at = counters::at,
        .exports = exports_of<P>(),
        .exported = exported_by<P>,
    };
  }
}

/// The program as data, for `.place<part>(all)`.
template <class P>
struct program_of {
  static constexpr program value = detail::describe<P>();
};

}  // namespace detail
template <class P>
inline constexpr const program& program_v = detail::program_of<P>::value;

}  // namespace wsl

/// A task with a co_await returns `task`. This specialization reports one that returns void.
template <class Program, class... Input>
struct std::coroutine_traits<void, Program&, wsl::pe&, Input...> {
  struct promise_type : wsl::task::promise_type {
    static_assert(std::is_void_v<Program>,
                  "wsl: a task that waits returns task: task f(pe& me) { co_await ...; }");
    using wsl::task::promise_type::promise_type;
    void get_return_object() {}
  };
};
