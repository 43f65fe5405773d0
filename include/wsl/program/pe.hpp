// SPDX-License-Identifier: MIT
// A processing element as its own tasks see it: its position, its sends, and the scheduling of its tasks.
// Tasks run to completion, one at a time; an activation is a single bit, not a count. See
// examples/05_local_tasks.cpp.
#pragma once
#include "../core/control.hpp"
#include "../support/min_max.hpp"
#include "coroutine.hpp"
#include "task_traits.hpp"

namespace wsl {

namespace detail {

/// "&part::step".
inline std::string reference_to(const task_identity& task) {
  return std::string("&") + task.owner + "::" + task.name;
}
[[noreturn]] inline void the_program_does_not_bind_this_task(const program& what, const task_identity& task) {
  const std::string entry = task.entry ? task.entry : "local<" + reference_to(task) + ">";
  std::string otherwise;
  for (const binding& b : what)
    if (b.key == &task)
      otherwise = std::string(", where it is ") +
                  (b.what == role::launch ? "a host function, launch<...>" : "bound to something else") +
                  "; what is activated or blocked needs that entry as well";
  throw fault(std::string("wsl: program ") + what.name + " does not bind " + entry + " in its tasks" +
              otherwise);
}
[[noreturn]] inline void the_table_does_not_say_steers(const engines::program_image& image, int color,
                                                       int missing) {
  const command what = missing & command_bit(switch_adv)   ? switch_adv
                       : missing & command_bit(switch_rst) ? switch_rst
                                                           : teardown;
  throw fault(std::string("wsl: program ") + image.source->name + " sends a command on color " +
              std::to_string(color) + ", but its task list does not say steers<color, " + name_of(what) +
              ">");
}
[[noreturn]] inline void the_program_has_no_task_of_the_color(const engines::program_image& image, int color,
                                                              const char* call) {
  throw fault(std::string("wsl: program ") + image.source->name + " calls me." + call + " for " +
              name_of_color(color, image.engine->target().colors) +
              ", but its tasks have no on<color, ...> for it: bind a data task to it, or " + call +
              " the local task that the completion of its operation activates");
}
[[noreturn]] inline void the_machine_has_no_such_microthread(const machine& m, int number) {
  throw fault(std::string("wsl: ") + m.name + " has the microthreads 0 to " +
              std::to_string(m.microthreads - 1) + "; there is no microthread " + std::to_string(number));
}

}  // namespace detail

/// The effect of an asynchronous operation's completion: it activates or unblocks a local task, or unblocks
/// the data task of a color.
struct completion {
  /// `count` activates as well, but activations of the task are counted, or may be. It has four bytes:
  /// modules keep completions in the memory of PEs, where bytes between members would differ from run to run.
  enum class effect : int { activate, count, unblock, unblock_color, each_time, nothing };
  effect what;
  int id;  ///< of the color, or the position of the task in its own module's task list
  const detail::task_identity* task = nullptr;
};

// Not constexpr on purpose: a program's task list is known only after its class, and the bodies of plain
// function templates are compiled after that.

/// On completion this local task is activated.
template <auto Task>
completion then() {
  return {detail::may_join<Task>() ? completion::effect::count : completion::effect::activate,
          detail::local_position<Task>(), &detail::task_key<Task>};
}

/// On completion this local task, or the data task of this color, is unblocked.
template <auto What>
completion unblocks() {
  if constexpr (detail::color_like<decltype(What)>) return {completion::effect::unblock_color, What.id};
  else return {completion::effect::unblock, detail::local_position<What>(), &detail::task_key<What>};
}

/// This local task is activated each time the operation has moved elements, not only when it is complete; so
/// a task can serve a FIFO that an operation fills. It may run once for several elements.
template <auto Task>
completion each_time() {
  static_assert(!detail::joins_of<Task>,
                "wsl: a task that joins counts completions, and each_time happens once for several elements; "
                "let it go with then<&part::next>()");
  return {completion::effect::each_time, detail::local_position<Task>(), &detail::task_key<Task>};
}

namespace detail {

/// The tasks of `advances<...>`, by color.
struct advance_key_table {
  task_identity of[max_colors];
  constexpr advance_key_table() : of{} {
    for (task_identity& k : of) k = {"then_advance", "", "advances<color> for the color of then_advance"};
  }
};
inline constexpr advance_key_table advance_keys;

}  // namespace detail

/// When the last word of the operation is in the output queue, a control wavelet follows it that advances the
/// switches on its way: `me.async(mov(fabout(out), mem(x)), then_advance(out))`, with `advances<out>` in the
/// task list (CSL's .advance_switch).
template <payload T>
completion then_advance(color<T> c) {
  return {completion::effect::activate, detail::max_colors, &detail::advance_keys.of[c.id]};
}

/// A completion without an effect, where a parameter requires one.
inline constexpr completion then_nothing{completion::effect::nothing, -1};

/// The microthread on which an operation runs, 0 to 7 on the machines: `me.async(op, microthread{4})`. Two
/// operations on one microthread at the same time are a fault. Without it the library chooses a free one.
struct microthread {
  using by_engine = void;
  int number;
};

/// The type of `serves`.
struct serves_t {
  using by_engine = void;
  static void attach_to(engines::transfer& t) { t.serves = true; }
};
/// Among the completions: the operation serves whoever comes, so a run may end while it waits for its first
/// element. `me.async(mov(fabout(out, 8), fabin(in, 8)), then<&part::again>(), serves)`
inline constexpr serves_t serves{};

namespace detail {

[[noreturn, gnu::cold]] inline void too_many_cycles(u64 cycles) {
  throw fault("wsl: me.spend(" + std::to_string(static_cast<i64>(cycles)) +
              "): a task takes 0 to 2^47 cycles");
}

/// Whether only an engine can do it for an operation, which therefore does not move at once.
template <class C>
inline constexpr bool is_by_engine = std::is_same_v<C, priority> || requires { typename C::by_engine; };
template <class C>
inline constexpr bool is_completion = std::is_same_v<C, completion> || is_by_engine<C>;

}  // namespace detail

class pe {
 public:
  int x() const { return state_.x; }
  int y() const { return state_.y; }
  coord at() const { return {state_.x, state_.y}; }

  /// The grid that the layout declared.
  int width() const { return state_.image->width; }
  int height() const { return state_.image->height; }
  bool west_edge() const { return x() == 0; }
  bool east_edge() const { return x() + 1 == width(); }
  bool north_edge() const { return y() == 0; }
  bool south_edge() const { return y() + 1 == height(); }
  bool edge(port side) const {
    const coord next = at() + step(side);
    return next.x < 0 || next.y < 0 || next.x == width() || next.y == height();
  }

  /// The machine that the layout was declared for; a program may depend on it, as with CSL's @is_arch.
  const wsl::machine& machine() const { return state_.image->engine->target(); }

  /// The PE's 48-bit time stamp counter, in cycles (CSL's <time>). All PEs of a fabric count from its
  /// construction on. The timed engine counts the machine's cycles, the reference engine its steps; on the
  /// threaded engine, which has no clock, it stays 0.
  u64 now() const { return state_.image->engine->now(state_) & 0xffff'ffff'ffff; }
  /// The probe of type T, which all PEs of the fabric in this process share: a check or a measurement of what
  /// several PEs do together (program/probe.hpp). The first PE that asks for it makes it with its default
  /// constructor, and it lives as long as the fabric. PEs run on several threads, so its functions need
  /// atomics or a mutex. No result may depend on it: the PEs of a machine share nothing.
  template <class T>
  T& probe() const {
    return state_.image->engine->probes.template get<T>();
  }
  /// Adds this many cycles to the time of the running task, for its C++ code, which otherwise costs nothing.
  /// Only the timed engine counts them. Sends, descriptor operations and the start of the task are counted by
  /// themselves. Throws fault for more than 2^47 cycles, which a negative number would be.
  void spend(u64 cycles) {
    if (cycles >> 47) [[unlikely]]
      detail::too_many_cycles(cycles);
    if (detail::listening_counter) [[unlikely]]
      detail::listening_counter->spend(cycles);
  }

  /// Sets the priority of the thread that runs this PE's tasks, from the next cycle on, until it is set again
  /// (CSL's update_main_thread_priority). Only the timed engine has a use for it; a result never depends on
  /// it.
  void set_main_priority(main_priority of_tasks) {
    if (detail::listening_counter) [[unlikely]]
      detail::listening_counter->prioritize(of_tasks);
  }

  /// Sends one wavelet. If the output queue is full, the wavelet leaves when there is room; until then this
  /// PE starts no other task.
  template <payload T>
  [[gnu::always_inline]] void send(color<T> c, T value) {
    if (state_.image->sent_type[c.id] != &detail::payload_type_of<T>) [[unlikely]]
      return refuse(c);
    engines::send_window& out = state_.window_of(c.id);
    const int at = out.next();
    if (at >= out.limit()) [[unlikely]] {
      // The limit of a closed window is far below zero. (A test of it would make the loop of a data task so
      // long that GCC no longer takes conditions out of it.)
      if (at >= out.limit() + state_.sends_at_most) return refuse(c);
      state_.interrupted = true;
      if (engines::engine_port::send_order* const orders = state_.image->engine->orders)
        *orders[state_.sender()].next++ = static_cast<u32>(state_.color(c.id));
    }
    out.words[at] = detail::to_bits(value);
    out.move_to(at + 1);
  }
  template <payload T, class Value>
    requires(!std::is_same_v<T, Value>)
  void send(color<T>, const Value&) {
    static_assert(std::is_same_v<T, Value>,
                  "wsl: a task sends what the color carries: me.send(red, 1.f) for a color<f32>");
  }
  /// Sends a control wavelet: it runs the control task `id` where it is delivered, with 16 bits of data.
  template <payload T>
  void send_control(color<T> c, int id, u16 data = 0) {
    steer(c, {}, detail::control_word::of({}, id, data));
  }
  /// Sends up to eight commands to the routers on the way: `me.send_control(c, {switch_adv, nop,
  /// switch_adv})`. The wavelet runs no task.
  template <payload T>
  void send_control(color<T> c, const detail::command_list& what) {
    steer(c, what, detail::control_word::of(what));
  }
  /// Sends commands in a wavelet that also runs the control task `id` where it is delivered; with 16 bits of
  /// data it carries up to three commands.
  template <payload T>
  void send_control(color<T> c, const detail::command_list& what, int id) {
    steer(c, what, detail::control_word::of(what, id));
  }
  template <payload T>
  void send_control(color<T> c, const detail::command_list& what, int id, u16 data) {
    steer(c, what, detail::control_word::of(what, id, data));
  }

  /// Opens a color at this PE's router again after a teardown, on the path of a phase.
  template <payload T>
  void reopen(color<T> c) {
    state_.image->engine->reopen(state_, state_.color(c.id), 0);
  }
  template <payload T, class Phase>
  void reopen(color<T> c, Phase which) {
    state_.image->engine->reopen(state_, state_.color(c.id), which.number);
  }

  /// Sets the activation bit of a local task; activating twice before it runs is activating once, unless its
  /// list says joins<n, Task>.
  template <auto Task>
  void activate() {
    if constexpr (detail::may_join<Task>()) state_.arrive(local_id<Task>());
    else state_.active |= detail::local_bit(local_id<Task>());
    state_.interrupted = true;
  }

  /// A blocked task keeps its activation, or its wavelets, until it is unblocked. Names a local task, or the
  /// color of a data task. Throws fault if the program binds none.
  template <auto What>
  void block() {
    if constexpr (detail::color_like<decltype(What)>) state_.blocked_colors |= taken_bit(What.id, "block");
    else state_.blocked |= detail::local_bit(local_id<What>());
    state_.interrupted = true;
  }
  template <auto What>
  void unblock() {
    if constexpr (detail::color_like<decltype(What)>) state_.blocked_colors &= ~taken_bit(What.id, "unblock");
    else state_.blocked &= ~detail::local_bit(local_id<What>());
    state_.interrupted = true;
  }

  /// The same for the data task of a color that is known only at run time, such as `right.in(me)` of a lane.
  template <payload T>
  void block(color<T> c) {
    state_.blocked_colors |= taken_bit(c.id, "block");
    state_.interrupted = true;
  }
  template <payload T>
  void unblock(color<T> c) {
    state_.blocked_colors &= ~taken_bit(c.id, "unblock");
    state_.interrupted = true;
  }

  /// Starts a descriptor operation with a fabric operand beside the running task:
  /// `me.async(op, then<&part::sent>())`. The completions take effect when the last element has moved (for a
  /// send, when its last word is in the output queue).
  template <class F, class Dst, class... Src, class... Completion>
  [[gnu::always_inline]] void async(const operation<F, Dst, Src...>& op, Completion... when_complete) {
    constexpr bool known = (detail::is_completion<Completion> && ...);
    static_assert(
        known,
        "wsl: the completions of an operation are calls: then<&part::sent>(), unblocks<&part::next>(), "
        "unblocks<color>(), each_time<&part::look>(), signals(an_event), microthread{2}, priority::high, "
        "serves");
    if constexpr (known) {
      static_assert((0 + ... + std::is_same_v<Completion, priority>) <= 1 &&
                        (0 + ... + std::is_same_v<Completion, microthread>) <= 1,
                    "wsl: an operation has one priority and one microthread: name each once");
      state_.interrupt();
      if constexpr (!(detail::is_by_engine<Completion> || ...)) {
        at_once now;
        if ((knows(when_complete) && ...) && !op.may_use_the_stack() && moves_at_once<lone_reader>(op, now)) {
          (happen(when_complete, when_complete.id), ...);
          return op.move(0, &now.from, now.to, static_cast<u32>(op.length()));
        }
      }
      op.taken_apart([&](auto... parts) __attribute__((always_inline)) {
        later<F, Dst, Src...>::start(*this, parts..., when_complete...);
      });
    }
  }

  template <class T, class... Completion>
    requires std::is_same_v<T, detail::done_at_once>
  void async(T, Completion...) {
    static_assert(
        detail::has_run_already<T>,
        "wsl: an operation over memory alone runs at once, and not beside the task: call it without "
        "me.async, and then what is to follow it");
  }

  /// Runs a computation beside the tasks, in memory that none of them touches until it is complete:
  /// `me.async_compute<&part::compute>(*this, then<&part::computed>())`. compute() has no arguments, so it
  /// can neither send nor receive. The threaded engine completes it when no partition has messages for
  /// another. While there are messages it may run the computation on another thread; with several ranks it
  /// does, so that words travel meanwhile. This pays off from some 10 microseconds on.
  template <auto Compute, class Part, class... Completion>
  void async_compute(Part& part, Completion... when_complete) {
    static_assert(
        std::is_invocable_v<decltype(Compute), Part&>,
        "wsl: what a PE computes beside its tasks is a member function without arguments: void f()");
    if constexpr (std::is_invocable_v<decltype(Compute), Part&>) {
      engines::must_outlive_the_task(&part, support::function_name<Compute>());
      state_.interrupted = true;
      engines::offloaded_job e{[](void* what) { (static_cast<Part*>(what)->*Compute)(); },
                               &part,
                               support::function_name<Compute>(),
                               {}};
      (attach(e.then, when_complete), ...);
      state_.image->engine->async_compute(state_, e);
    }
  }

  /// Applies a completion at once, for a module that has been given one and has nothing left to wait for.
  void complete(const completion& what) {
    state_.interrupted = true;
    happen(what, place_of(what));
  }

  friend engines::pe_state& engines::state_of(pe& me);

 private:
  u64 taken_bit(int named, const char* call) const {
    const int color = state_.color(named);
    const u64 bit = color >= 0 && color < detail::max_colors ? detail::color_bit(color) : 0;
    if (!(state_.image->takes & bit)) [[unlikely]]
      detail::the_program_has_no_task_of_the_color(*state_.image, color, call);
    return bit;
  }

  template <payload T>
  void steer(color<T> c, const detail::command_list& what, detail::control_word word) {
    const int id = state_.color(c.id);
    if (const int missing = what.set() & ~state_.image->steers[id]; missing != 0)
      detail::the_table_does_not_say_steers(*state_.image, id, missing);
    state_.image->engine->send_control(state_, id, &detail::payload_type_of<T>, word.bits);
  }

  // The engine reports the fault when the task has ended: a call from here would cost every task that sends.
  template <payload T>
  void refuse(color<T> c) {
    engines::rejected = {state_.color(c.id), &detail::payload_type_of<T>, state_.x, state_.y};
    state_.taken = engines::taken_color::several;  // so that it does not run again at once
    state_.interrupted = true;
  }

  template <auto Task>
  int local_id() const {
    return local_id(detail::task_key<Task>, detail::local_position<Task>());
  }
  [[gnu::always_inline]] int local_id(const detail::task_identity& task, int guess) const {
    return state_.image->local_key[support::min(guess, detail::max_local_tasks)] == &task ? guess
                                                                                          : searched_id(task);
  }
  int searched_id(const detail::task_identity& task) const {
    const int id = state_.image->local_with(&task);
    if (id < 0) detail::the_program_does_not_bind_this_task(*state_.image->source, task);
    return id;
  }

  // An operation whose words have arrived and have room moves at once, without a microthread. All of this
  // inlines into the task, where lengths and colors are constants. The bookkeeping is done before the words
  // move: if a call moves them, it is the last step, and no register has to be saved around it.
  struct at_once {
    const u32* from = nullptr;
    u32* to = nullptr;
  };
  template <class Take, class F, class Dst, class... Src>
  [[gnu::always_inline]] bool moves_at_once(const operation<F, Dst, Src...>& op, at_once& now) {
    using what = operation<F, Dst, Src...>;
    if constexpr (what::uses_fifo) return false;
    else if (what::fabric_sources > 1 || state_.defers) return false;
    else return moves_now<Take>(op, now);
  }
  template <class Take, class F, class Dst, class... Src>
  [[gnu::always_inline]] bool moves_now(const operation<F, Dst, Src...>& op, at_once& now) {
    using what = operation<F, Dst, Src...>;
    engines::send_window* to = nullptr;
    if constexpr (what::sends) {
      const auto [color, type] = op.output();
      to = &state_.window_of(color);
      if (op.length() >= engines::rendezvous_words || state_.image->sent_type[color] != type ||
          !to->fits(op.length()))
        return false;
    }
    if constexpr (what::fabric_sources > 0) {
      const auto [color, type] = op.input();
      if (!Take::words(state_, state_.color(color), type, static_cast<u32>(op.length()), now.from))
        return false;
    }
    if constexpr (what::sends) {
      now.to = to->room();
      to->wrote(op.length(), what::fabric_sources > 0);
    }
    return true;
  }

  // The engine itself must look if no word would be left, or if the window asks for it.
  struct lone_reader {
    [[gnu::always_inline]] static bool words(engines::pe_state& s, int color,
                                             const detail::payload_type* type, u32 n, const u32*& first) {
      for (engines::receive_window* in = s.receive_windows(), *last = s.end_of_receive_windows(); in != last;
           ++in) {
        if (in->is_plain(color)) [[likely]]
          return read(s, *in, color, type, n, first);
        if (in->color == color) return false;
      }
      return false;
    }
    [[gnu::always_inline]] static bool read(engines::pe_state& s, engines::receive_window& in, int color,
                                            const detail::payload_type* type, u32 n, const u32*& first) {
      const engines::program_image& image = *s.image;
      if (s.taken != engines::taken_color::none || image.read_type[color] != type) return false;
      const engines::send_window& from = image.send_windows[in.from];
      if (from.tail() - in.head <= n) return false;
      s.taken = engines::taken(color);
      first = from.words + (std::exchange(in.head, in.head + n) - from.origin);
      return true;
    }
  };
  struct through_engine {
    static bool words(engines::pe_state& s, int color, const detail::payload_type* type, u32 n,
                      const u32*& first) {
      first = s.image->engine->take(s, color, type, n);
      return first != nullptr;
    }
  };

  // Takes the parts of an operation one by one, each small enough for a register, so that an operation that
  // moves at once is never assembled in memory.
  template <class F, class Dst, class... Src>
  struct later {
    template <class... Completion>
    [[gnu::noinline]] static void start(pe& me, const char* name, detail::work what, F f, Dst dst, Src... src,
                                        Completion... when_complete) {
      const operation<F, Dst, Src...> op({name, what}, f, dst, src...);
      if (op.may_use_the_stack()) op.must_outlive_the_task();
      if constexpr (!(detail::is_by_engine<Completion> || ...)) {
        at_once now;
        if (me.moves_at_once<through_engine>(op, now)) {
          (me.happen(when_complete, me.place_of(when_complete)), ...);
          return op.move(0, &now.from, now.to, static_cast<u32>(op.length()));
        }
      }
      engines::transfer t = op.start();
      me.state_.resolve_colors(t);
      (me.attach(t, when_complete), ...);
      me.state_.image->engine->start(me.state_, t);
    }
  };

  static bool names_a_task(const completion& c) {
    return c.what != completion::effect::unblock_color && c.what != completion::effect::nothing;
  }
  /// Whether the task has the same position here as in its own module's task list; it has, unless other
  /// modules come before that one. Of a color, whether the program has a data task for it.
  [[gnu::always_inline]] bool knows(const completion& c) const {
    if (c.what == completion::effect::unblock_color)
      return (state_.image->takes >> state_.color(c.id) & 1) != 0;
    return !names_a_task(c) || state_.image->local_key[support::min(c.id, detail::max_local_tasks)] == c.task;
  }
  int place_of(const completion& c) const {
    if (c.what != completion::effect::unblock_color) return names_a_task(c) ? local_id(*c.task, c.id) : c.id;
    static_cast<void>(taken_bit(c.id, "unblock"));
    return state_.color(c.id);
  }
  [[gnu::always_inline]] void happen(const completion& c, int place) {
    if (c.what == completion::effect::unblock_color)
      state_.blocked_colors &= ~detail::color_bit(state_.color(place));
    else if (c.what == completion::effect::unblock) state_.blocked &= ~detail::local_bit(place);
    else if (c.what == completion::effect::count) state_.arrive(place);
    else if (c.what != completion::effect::nothing) state_.active |= detail::local_bit(place);
  }
  void attach(engines::transfer& t, const completion& c) const {
    switch (c.what) {
      case completion::effect::activate:
      case completion::effect::count: t.activates = task_number(c); break;
      case completion::effect::unblock: t.unblocks = task_number(c); break;
      case completion::effect::each_time: t.each_time = task_number(c); break;
      case completion::effect::unblock_color: t.unblocks_color = static_cast<i8>(place_of(c)); break;
      case completion::effect::nothing: break;
    }
  }
  template <class Other>
  void attach(engines::transfer& t, const Other& what) const {
    what.attach_to(t);
  }
  i8 task_number(const completion& c) const { return static_cast<i8>(place_of(c)); }
  void attach(engines::transfer& t, microthread on) const {
    if (on.number < 0 || on.number >= state_.image->engine->target().microthreads)
      detail::the_machine_has_no_such_microthread(state_.image->engine->target(), on.number);
    t.microthread = static_cast<i8>(on.number);
  }
  static void attach(engines::transfer& t, priority of_it) { t.priority = static_cast<i8>(of_it); }

  engines::pe_state state_;
};

/// The engine's access to the state of a PE.
inline engines::pe_state& engines::state_of(pe& me) { return me.state_; }

}  // namespace wsl
