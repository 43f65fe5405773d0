// SPDX-License-Identifier: MIT
// The entries of a task list that declare the use of a color without binding a task to it: descriptors read
// the color, tasks and descriptors send it, or control wavelets of the color carry commands. The checker
// compares these declarations with the routes. See examples/02_broadcast.cpp.
#pragma once
#include <array>

#include "tasks.hpp"

namespace wsl {

/// The colors first .. first + count - 1, as one name in a task list: `reads<color_range<f32, 4>{8}>`.
template <payload T, int count>
struct color_range {
  int first;
  constexpr std::array<color<T>, static_cast<std::size_t>(count)> colors() const {
    std::array<color<T>, static_cast<std::size_t>(count)> found{};
    for (int next = first; color<T> & c : found) c.id = next++;
    return found;
  }
};

namespace detail {

/// The entry that declares a color for this role.
template <auto Color>
consteval binding named(role what) {
  return {.what = what, .id = Color.id, .type = &payload_type_of<typename decltype(Color)::payload>};
}

template <auto What>
concept with_colors = color_like<decltype(What)> || requires { What.colors(); };

/// One entry for each color of `What`, a color or a library module.
template <role what, auto What>
struct color_entries : single_entry {
  static constexpr int size = colors_in<What>();

  template <class Program>
  static consteval void write(binding* to) {
    static_assert(with_colors<What>, "wsl: reads<...> and sends<...> name colors, or modules with colors");
    write_each(to, std::make_integer_sequence<int, size>{});
  }

 private:
  template <int... i>
  static consteval void write_each(binding* to, std::integer_sequence<int, i...>) {
    ((to[i] = named<color_in<What, i>()>(what)), ...);
  }
};

}  // namespace detail

/// Descriptors of this program read these colors, or the colors of these library modules: `reads<red, blue>`,
/// `reads<halo>`.
template <auto... What>
struct reads : task_list<detail::color_entries<detail::role::read, What>...> {};

/// Tasks or descriptors of this program send these colors, or the colors of these library modules.
template <auto... What>
struct sends : task_list<detail::color_entries<detail::role::send, What>...> {};

/// Tasks or descriptors of this program send the color, but never before a wavelet of each color in `After`
/// has arrived.
template <auto Color, auto... After>
  requires(detail::color_like<decltype(Color)> && ... && detail::color_like<decltype(After)>)
struct sends_after : detail::single_entry {
  template <class Program>
  static consteval void write(detail::binding* to) {
    *to = detail::named<Color>(detail::role::send);
    to->after = (u64{0} | ... | detail::color_bit(After.id));
  }
};

/// These colors leave through one output queue: `shares_queue<first, second>`. A queue of the WSE-3 serves
/// one color at a time, and a PE has eight; what is sent on another color of the queue waits until it is
/// empty (CSL's @queue_flush). On other machines it has no effect.
template <auto... Color>
  requires(detail::color_like<decltype(Color)> && ...)
struct shares_queue : detail::single_entry {
  static constexpr int size = sizeof...(Color);

  template <class Program>
  static consteval void write(detail::binding* to) {
    static_assert(size > 1, "wsl: a queue is shared by two colors or more: shares_queue<first, second>");
    ((*to = detail::named<Color>(detail::role::share),
      to++->after = (u64{0} | ... | detail::color_bit(Color.id))),
     ...);
  }
};

namespace detail {

template <u8 where, auto Color, auto... Command>
struct steering : single_entry {
  template <class Program>
  static consteval void write(binding* to) {
    constexpr bool commands = (std::is_same_v<decltype(Command), command> && ...);
    static_assert(commands,
                  "wsl: the commands of steers<color, ...> are switch_adv, switch_rst and teardown");
    *to = named<Color>(role::steer);
    if constexpr (commands) to->commands = static_cast<u8>((where | ... | command_bit(Command)));
  }
};

}  // namespace detail

/// Tasks of this program send control wavelets of the color that carry these commands:
/// `steers<out, switch_adv, switch_rst>`.
template <auto Color, auto... Command>
  requires detail::color_like<decltype(Color)>
struct steers : detail::steering<0, Color, Command...> {};

/// The same for a module that gives its paths switches on some layouts only:
/// `may_steer<out, switch_adv, switch_rst>`. On a layout without switches none of its tasks sends commands.
template <auto Color, auto... Command>
  requires detail::color_like<decltype(Color)>
struct may_steer : detail::steering<detail::where_switched, Color, Command...> {};

namespace detail {

/// The entries for one color: its control wavelets carry an advance, and a local task sends one.
template <auto Color>
struct advancing : single_entry {
  static constexpr int size = 2;

  template <class Program>
  static consteval void write(binding* to) {
    to[0] = named<Color>(role::steer);
    to[0].commands = static_cast<u8>(command_bit(switch_adv));
    to[1] = {.what = role::local, .key = &advance_keys.of[Color.id], .name = "then_advance", .run = &send};
  }

 private:
  static u32 send(void*, pe& me, const void*, u32) { return me.send_control(Color, switch_adv), u32{1}; }
};
template <auto What, class Numbers = std::make_integer_sequence<int, colors_in<What>()>>
struct advancing_colors;
template <auto What, int... i>
struct advancing_colors<What, std::integer_sequence<int, i...>>
    : task_list<advancing<color_in<What, i>()>...> {
  static_assert(with_colors<What>, "wsl: advances<...> names colors, or modules with colors");
};

}  // namespace detail

/// Operations of this program that send these colors, or the colors of these library modules, may end with
/// `then_advance(color)`: a local task, one for each color, then sends a command that advances switches.
template <auto... What>
struct advances : task_list<detail::advancing_colors<What>...> {};

}  // namespace wsl
