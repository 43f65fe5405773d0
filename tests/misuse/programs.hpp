// SPDX-License-Identifier: MIT
// Programs for layouts that are only checked: tables without functions behind them.
#pragma once
#include <cstddef>

#include <wsl/layout/check.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>

using namespace wsl;
using wsl::detail::binding, wsl::detail::command_bit, wsl::detail::payload_type_of, wsl::detail::role;

constexpr color<f32> red{0}, blue{1};

constexpr binding launches{.what = role::launch, .id = 0, .name = "start"};
template <payload T>
constexpr binding send_entry(color<T> c) {
  return {.what = role::send, .id = c.id, .type = &payload_type_of<T>};
}
template <payload T>
constexpr binding takes(color<T> c) {
  return {.what = role::data, .id = c.id, .type = &payload_type_of<T>, .name = "take"};
}
template <payload T>
constexpr binding read_entry(color<T> c) {
  return {.what = role::read, .id = c.id, .type = &payload_type_of<T>};
}
constexpr binding local_entry(int position) { return {.what = role::local, .id = position, .name = "step"}; }
template <payload T>
constexpr binding steer_entry(color<T> c, command what) {
  return {.what = role::steer, .id = c.id, .type = &payload_type_of<T>, .commands = command_bit(what)};
}
constexpr binding control_entry(int id) { return {.what = role::control, .id = id, .name = "stop"}; }

template <std::size_t N>
constexpr program with(const binding (&table)[N], int bytes = 64) {
  return {.name = "pe", .bytes = bytes, .table = table, .entries = static_cast<int>(N)};
}

constexpr binding both_table[] = {launches, send_entry(red), takes(red)},
                  send_table[] = {launches, send_entry(red)},
                  take_table[] = {takes(red)}, idle_table[] = {launches};
constexpr program both = with(both_table), sender = with(send_table), taker = with(take_table),
                  idle = with(idle_table);
