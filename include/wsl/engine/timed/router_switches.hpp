// SPDX-License-Identifier: MIT
// Switches of routers (router_switch.hpp) with the times that the timed engine needs: what a PE or a word
// does to a switch is seen from the next cycle on. A switch passes one word of its color a cycle, because
// that word may change the route of the next.
#pragma once
#include "../router_switch.hpp"
#include "event_queue.hpp"

namespace wsl::engines {

struct timed_switch {
  static constexpr u32 none = ~u32{0};
  router_switch way;
  u32 arbiter = 0;    ///< the actor that moves the color's words
  u32 pe = none;      ///< the PE at the router, if there is one
  u64 open_from = 0;  ///< the cycle from which on it takes words, after it was reopened
  /// the cycle from which on its PE may start the task of the teardown; never if the color is not torn down
  u64 heard_from = event_queue::never;
  u64 passed = event_queue::never;  ///< the cycle of its newest word
  bool reopening = false;           ///< its PE runs a task that will reopen it

  /// From when on it takes words from a port; never, as things stand.
  u64 takes_from(port p) const { return way.takes(p) ? open_from : event_queue::never; }
  void open(const layout& plan, coord at, const path_record& how, u64 now) {
    way.open(plan, at, how);
    open_from = now + 1;
    reopening = false;
  }
};

/// A virtual channel in front of a switch: the words of a switched color from one port, and the pipes into
/// which they may go from there.
struct switched_channel {
  u32 router_switch = 0;
  port from = ramp;
  u32 to[5] = {};  ///< by output port
};

}  // namespace wsl::engines
