// SPDX-License-Identifier: MIT
// A wait is one send, operation, task or wavelet that still waits when nothing moves any more, with the
// reason. Engines collect waits; deadlock.hpp turns them into a report. Each wavelet is counted in one wait
// only, so the counts of a color add up to the number of wavelets that were sent and not taken.
#pragma once

#include "../../core/coord.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

struct wait {
  enum class reason {
    /// a descriptor operation or a suspended task waits for wavelets of `color`; `count` elements are missing
    input,
    output,       ///< a send or an operation waits for room towards `color`; `count` wavelets are held back
    behind,       ///< `count` wavelets of `color` were sent after others that wait for room
    pop,          ///< an operation waits for `count` elements of a FIFO
    ended,        ///< a suspended task waits for the completion of `count` operations
    unsignalled,  ///< the same, but no operation in flight signals the event for which the task waits
    push,         ///< an operation waits for room for `count` elements in a FIFO
    /// `count` wavelets of `color` lie in the input queue, or with `on_the_way` between the sender's output
    /// queue and there, and no task or operation may take them
    unread,
    call,    ///< `count` host calls, of which `what` is the first, wait until the PE may run tasks again
    held,    ///< local task `what` is activated but blocked
    join,    ///< local task `what` waits for `position` arrivals, of which `count` have come
    stream,  ///< `count` words of the host stream of `color` could not enter the grid
    router,  ///< `count` wavelets of `color` lie in the router
    /// `count` wavelets of `color` wait in the router for its switch to leave `position`, or to be reopened
    /// if that is -1; `what` is the side from which the position takes wavelets, if it is one
    router_switch,
    /// local task `what` was activated by a completion when it was active already, so that one activation was
    /// lost; no wait, but a likely reason for those of a deadlock. The threaded engine does not look at
    /// operations that complete in the call that starts them: the test would cost every one of them a few per
    /// cent.
    lost,
  };
  reason why;
  coord at;
  int color = -1;
  const char* program = "";  ///< name of the PE's program
  const char* what = "";     ///< name of the task or operation, or of a side
  unsigned long long count = 0;
  int position = -1;  ///< of a switch; of a join, the arrivals that start it
  /// the engine models no routers and counts their wavelets as part of the input queue
  bool on_the_way = false;
};

using waits = support::flat_vector<wait>;

}  // namespace wsl::engines
