// SPDX-License-Identifier: MIT
// One thing that still waits when nothing moves any more. Engines collect waits; deadlock.hpp turns them into
// a report.
#pragma once

#include "../../core/coord.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl {

struct wait {
  enum class reason {
    /// a descriptor operation or a suspended task waits for wavelets of `color`; `count` elements are missing
    input,
    output,  ///< a send or an operation waits for room towards `color`; `count` wavelets are held back
    pop,     ///< an operation waits for `count` elements of a FIFO
    ended,   ///< a suspended task waits for the completion of `count` operations
    push,    ///< an operation waits for room for `count` elements in a FIFO
    unread,  ///< `count` wavelets of `color` lie in the input queue and no task or operation may take them
    held,    ///< local task `what` is activated but blocked
    stream,  ///< `count` words of the host stream of `color` could not enter the grid
    router,  ///< `count` wavelets of `color` lie in the router
    /// `count` wavelets of `color` wait in the router for its switch to leave `position`, or to be reopened
    /// if that is -1
    router_switch,
  };
  reason why;
  coord at;
  int color = -1;
  const char* program = "";  ///< name of the PE's program
  const char* what = "";     ///< name of the task or operation
  unsigned long long count = 0;
  int position = -1;  ///< of a switch
};

using waits = support::flat_vector<wait>;

}  // namespace wsl
