// SPDX-License-Identifier: MIT
// What a program's table says of colors that trigger no task: descriptors read them, tasks and descriptors
// send them, control wavelets of theirs carry commands. The checker compares it with the routes. See
// examples/02_broadcast.cpp.
#pragma once
#include "tasks.hpp"

namespace wsl {

/// Descriptors of this program read the color.
template <auto Color>
  requires color_like<decltype(Color)>
consteval auto reads() {
  return task_table<1>{
      {{.what = role::read, .id = Color.id, .type = &payload_type_of<typename decltype(Color)::payload>}}};
}

/// Tasks or descriptors of this program send the color; never before a wavelet of each color in `After` has
/// arrived.
template <auto Color, auto... After>
  requires color_like<decltype(Color)>
consteval auto sends() {
  return task_table<1>{{{.what = role::send,
                         .id = Color.id,
                         .type = &payload_type_of<typename decltype(Color)::payload>,
                         .after = (u64{0} | ... | color_bit(After.id))}}};
}

/// These colors leave through one output queue: `shares_queue<first, second>()`. A queue of the WSE-3 serves
/// one color at a time, and a PE has eight; what is sent on another color of the queue waits until it is
/// empty (CSL's @queue_flush). On other machines it says nothing.
template <auto... Color>
  requires(color_like<decltype(Color)> && ...)
consteval auto shares_queue() {
  static_assert(sizeof...(Color) > 1,
                "wsl: a queue is shared by two colors or more: shares_queue<first, second>()");
  constexpr u64 all_of_them = (u64{0} | ... | color_bit(Color.id));
  return task_table<sizeof...(Color)>{{{.what = role::share,
                                        .id = Color.id,
                                        .type = &payload_type_of<typename decltype(Color)::payload>,
                                        .after = all_of_them}...}};
}

namespace detail {

template <auto Color, class... Command>
constexpr auto steering(u8 where, Command... what) {
  static_assert((std::is_same_v<Command, command> && ...),
                "wsl: the commands of steers<color>(...) are advance, reset and teardown");
  if constexpr (!(std::is_same_v<Command, command> && ...)) return task_table<1>{};
  else
    return task_table<1>{{{.what = role::steer,
                           .id = Color.id,
                           .type = &payload_type_of<typename decltype(Color)::payload>,
                           .commands = static_cast<u8>((where | ... | command_bit(what)))}}};
}

}  // namespace detail

/// Tasks of this program send control wavelets of the color that carry these commands: `steers<out>(advance,
/// reset)`.
template <auto Color, class... Command>
  requires color_like<decltype(Color)>
consteval auto steers(Command... what) {
  return detail::steering<Color>(0, what...);
}

/// The same for a module that gives its paths switches on some layouts only: `may_steer<out>(advance,
/// reset)`. Where there are none, none of its tasks sends commands.
template <auto Color, class... Command>
  requires color_like<decltype(Color)>
consteval auto may_steer(Command... what) {
  return detail::steering<Color>(where_switched, what...);
}

/// This program sends on every color of a library module's set: `sends<halo>()`.
template <auto Module>
  requires(!color_like<decltype(Module)>) && requires { Module.colors(); }
consteval auto sends() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return table(sends<Module.colors()[I]>()...);
  }(std::make_index_sequence<Module.colors().size()>{});
}

/// Descriptors of this program read every color of a library module's set: `reads<halo>()`.
template <auto Module>
  requires(!color_like<decltype(Module)>) && requires { Module.colors(); }
consteval auto reads() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return table(reads<Module.colors()[I]>()...);
  }(std::make_index_sequence<Module.colors().size()>{});
}

}  // namespace wsl
