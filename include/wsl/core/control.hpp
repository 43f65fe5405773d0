// SPDX-License-Identifier: MIT
// A control wavelet steers the routers that it passes. It carries up to eight commands; each router carries
// out the first of them and may remove it, so that the next router sees the one after it. The wavelet may
// also name a control task, with sixteen bits of data, which runs where the wavelet is delivered.
// `me.send_control(c, {switch_adv, nop, switch_adv})`; see examples/16_switches.cpp.
#pragma once
#include <initializer_list>

#include "builder_faults.hpp"
#include "scalar.hpp"

namespace wsl {

/// The action of a router on the switch of the wavelet's color, after it has passed the wavelet on.
enum class command : u8 {
  nop,
  switch_adv,  ///< sets the next position, after the last one the first if the switch is a ring
  switch_rst,  ///< sets position 0
  teardown,    ///< closes the color until the PE's program reopens it
};
inline constexpr command nop = command::nop, switch_adv = command::switch_adv,
                         switch_rst = command::switch_rst, teardown = command::teardown;

/// The same command, but the processor of the PE whose router carries it out does not receive the wavelet.
constexpr command unheard(command c) { return static_cast<command>(static_cast<u8>(c) | 4); }

namespace detail {

/// A set of commands, a bit for each.
constexpr u8 command_bit(command c) { return static_cast<u8>(1 << (static_cast<u8>(c) & 3)); }

/// Added to a set of commands: the program sends them only where a router has a switch for them.
inline constexpr u8 where_switched = 1 << 4;

}  // namespace detail

constexpr const char* name_of(command c) {
  constexpr const char* names[] = {"nop", "switch_adv", "switch_rst", "teardown"};
  return names[static_cast<u8>(c) & 3];
}

namespace detail {

/// Commands in the order in which routers carry them out.
class command_list {
 public:
  static constexpr int most = 8;

  constexpr command_list(command only) : command_list({only}) {}
  constexpr command_list(std::initializer_list<command> list) {
    if (list.size() > most)
      faults::a_control_wavelet_carries_at_most_8_commands(static_cast<int>(list.size()));
    for (command c : list)
      list_ |= static_cast<u32>(c) << 3 * count_++, set_ = static_cast<u8>(set_ | command_bit(c));
  }

  constexpr int count() const { return count_; }
  /// Three bits for each command from the lowest on; the rest are nops.
  constexpr u32 list() const { return list_; }
  /// The commands as a set, without nops.
  constexpr u8 set() const { return static_cast<u8>(set_ & ~command_bit(nop)); }

 private:
  u32 list_ = 0;
  int count_ = 0;
  u8 set_ = 0;
};

/// The payload of a control wavelet. Bits 16 to 21 are the id of a control task, bits 22 to 30 the first
/// three commands. The low half holds the other five, or data if bit 31 is set.
struct control_word {
  u32 bits = 0;

  static constexpr u32 all_unheard = 044444444;
  static constexpr int commands_beside_data = 3;

  /// Commands for routers only.
  static constexpr control_word of(const command_list& what) { return make(what.list() | all_unheard, 0); }
  /// Commands, and the control task `id` that runs where the wavelet is delivered.
  static constexpr control_word of(const command_list& what, int id) { return make(what.list(), id); }
  static constexpr control_word of(const command_list& what, int id, u16 data) {
    if (what.count() > commands_beside_data)
      faults::a_control_wavelet_with_data_carries_at_most_3_commands(what.count());
    return {make(what.list(), id).bits | u32{1} << 31 | data};
  }

  constexpr int id() const { return static_cast<int>(bits >> 16 & 63); }
  constexpr bool has_data() const { return bits >> 31 != 0; }
  constexpr u16 data() const { return has_data() ? static_cast<u16>(bits) : u16{0}; }
  /// The command that the next router carries out, and whether the processor of its PE receives the wavelet.
  constexpr command head() const { return static_cast<command>(bits >> 22 & 3); }
  constexpr bool heard() const { return (bits >> 24 & 1) == 0; }

  /// The word without its first command. A nop follows the last one, heard if the last one was.
  constexpr control_word popped() const {
    const u32 high = bits >> 22 & 0777;
    if (has_data()) return {(bits & ~(0777u << 22)) | (high >> 3 | (high & 0400)) << 22};
    const u32 list = high | (bits & 077777) << 9;
    return make(list >> 3 | (list & 040000000), id());
  }

 private:
  static constexpr control_word make(u32 list, int id) {
    if (id < 0 || id > 63) faults::the_ids_of_control_tasks_are_0_to_63(id);
    return {static_cast<u32>(id) << 16 | (list & 0777) << 22 | list >> 9};
  }
};

}  // namespace detail

}  // namespace wsl
