// SPDX-License-Identifier: MIT
// An arbiter lets at most one word a cycle through each output port of a router. It serves a group of virtual
// channels that share such ports and take turns at them; its kind tells which decisions are needed.
#pragma once
#include "../../core/scalar.hpp"
#include "virtual_channels.hpp"

namespace wsl::engines {

struct arbiter {
  static constexpr u32 none = channel_node::none;
  enum class kind : u8 {
    alone,     ///< one virtual channel
    straight,  ///< several that enter by one port and leave by one
    merging,   ///< several that enter by several ports and leave by one
    forking,   ///< several that leave by several ports
    switched,  ///< some with a switch
    ranked,    ///< several of different ranks, with switches or without
  };
  u32 first = 0;  ///< the first pipe of its virtual channels, which are contiguous
  u8 channels = 0;
  u8 turn = 0;  ///< the channel that goes first next time
  kind what = kind::alone;
  u32 router = 0;

  // Of a virtual channel that is alone:
  u32 down = none;  ///< the pipe to the PE
  /// the pipe to another channel, which this one keeps moving if it is alone as well
  u32 next = none;
  bool others = false;  ///< whether it has further targets
  bool flows = false;   ///< whether it has `next`, perhaps `down`, and no further targets
  u16 line = 0;         ///< of its router, see grid_cut.hpp
  u64 free_from = 0;    ///< the first cycle that is not booked
};
static_assert(sizeof(arbiter) == 32,
              "a word looks at one at each router: two in a cache line, found by a shift");

}  // namespace wsl::engines
