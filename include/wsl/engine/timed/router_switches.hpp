// SPDX-License-Identifier: MIT
// Switches of routers (router_switch.hpp) with the times that the timed engine needs: a change of a switch by
// a PE or a word takes effect in the next cycle. A switch passes one word of its color a cycle, because that
// word may change the route of the next.
#pragma once
#include "../router_switch.hpp"
#include "event_queue.hpp"

namespace wsl::engines {

struct timed_switch {
  static constexpr u32 none = ~u32{0};
  router_switch way;
  u32 arbiter = 0;    ///< the actor that moves the color's words
  u32 pe = none;      ///< the PE at the router, if there is one
  u64 open_from = 0;  ///< the cycle from which it takes words, after it was reopened
  /// the cycle from which its PE may start the task of the teardown; never if the color is not torn down
  u64 heard_from = event_queue::never;
  u64 passed = event_queue::never;  ///< the cycle of its newest word
  bool reopening = false;           ///< its PE runs a task that will reopen it

  /// The cycle from which it takes words from a port; `never` in its present position.
  u64 takes_from(port p) const { return way.takes(p) ? open_from : event_queue::never; }
  void open(const layout& plan, coord at, const path_record& how, u64 now) {
    way.open(plan, at, how);
    open_from = now + 1;
    reopening = false;
  }
};

/// A virtual channel in front of a switch: a switched color from one port, with the pipes into which its
/// words may go.
struct switched_channel {
  u32 router_switch = 0;
  port from = ramp;
  u32 to[5] = {};  ///< by output port
};

}  // namespace wsl::engines
