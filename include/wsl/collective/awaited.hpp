// SPDX-License-Identifier: MIT
// A collective for which a task waits in the middle of its body, so that an algorithm with many of them reads
// from top to bottom:
//   constexpr all_reduce<f32> sum{0};
//   awaited<sum> total; ... use<&solver::total> ...
//   task solve(pe& me) { ... const f32 all = co_await total(me, mine); ... co_await total(me, mem(x)); ... }
// It is an endpoint with one more local task, with which the waiting task goes on when the collective is
// complete; until then other tasks of the PE run, as those of the collective must. See
// examples/29_straight_line.cpp.
#pragma once
#include <concepts>

#include "../program/suspended_task.hpp"
#include "../support/always_false.hpp"
#include "line.hpp"

namespace wsl::collective {

/// The part of any module with an endpoint in a PE program.
template <auto net>
class awaited {
 public:
  using element = typename decltype(net)::element;

 private:
  template <class... Argument>
  static constexpr bool can_start =
      requires(endpoint<net>& part, pe& me, Argument... a, completion done) { part.start(me, a..., done); };
  template <class... Argument>
  static constexpr bool is_value =
      sizeof...(Argument) == 1 && (std::convertible_to<Argument, element> && ...);

  /// The awaitable of a call. While it waits, the main thread is free for other tasks.
  template <class Begin>
  struct waiting {
    using leaves_main_thread = void;
    awaited& self;
    pe& me;
    Begin begin;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> task) {
      if (self.task_.waits()) faults::a_task_awaits_it_already(decltype(net)::name, me.at());
      begin(self.part_, me, then<&awaited::go_on>());
      self.task_.keep(task);
    }
    void await_resume() const {}
  };
  struct waiting_for_value {
    using leaves_main_thread = void;
    awaited& self;
    pe& me;
    element value;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> task) {
      const memory<element> one{&value, 1};
      const auto start = [&](auto& part, pe& on, completion done) { part.start(on, one, done); };
      waiting<decltype(start)>{self, me, start}.await_suspend(task);
    }
    element await_resume() const { return value; }
  };
  // The result of a call that does not compile, so that its sentence is the only error.
  struct not_awaitable : std::suspend_never {
    using leaves_main_thread = void;
  };

 public:
  /// The collective with what `start` of its endpoint takes: `co_await total(me, mem(x))`.
  template <class... Argument>
    requires(can_start<Argument...>)
  [[nodiscard("a collective begins when it is awaited: co_await total(me, mem(x))")]] auto operator()(
      pe& me, Argument... arguments) {
    const auto start = [arguments...](auto& part, pe& on, completion done) {
      part.start(on, arguments..., done);
    };
    return waiting<decltype(start)>{*this, me, start};
  }
  /// The collective of single values: `const f32 all = co_await total(me, mine)` is what the array with this
  /// one element becomes.
  [[nodiscard("a collective begins when it is awaited: co_await total(me, x)")]] waiting_for_value operator()(
      pe& me, element value) {
    return {*this, me, value};
  }
  /// A number of another type becomes the payload, as in lane::send.
  template <class Value>
    requires(is_value<Value> && !can_start<Value> && !std::same_as<Value, element>)
  [[nodiscard("a collective begins when it is awaited: co_await total(me, x)")]] waiting_for_value operator()(
      pe& me, Value value) {
    return {*this, me, detail::as_payload<element>(value)};
  }
  template <class... Other>
    requires(!can_start<Other...> && !is_value<Other...>)
  not_awaitable operator()(pe&, const Other&...) {
    static_assert(support::always_false<Other...>,
                  "wsl: an awaited collective takes what its endpoint takes, arrays of its payload: co_await "
                  "total(me, mem(x)), or one value of it");
    return {};
  }

  /// For tools that look at a PE's memory.
  auto members() const { return std::tie(task_); }

 private:
  void go_on(pe&) { task_.go_on(); }

  endpoint<net> part_;
  suspended_task task_;

 public:
  using tasks = task_list<use<&awaited::part_>, local<&awaited::go_on>>;
};

}  // namespace wsl::collective

namespace wsl {
using collective::awaited;
}
