// SPDX-License-Identifier: MIT
// The log of a job as it grows, for those who wait for its end.
#pragma once
#include <string>

#include "client.hpp"

namespace cluster {

/// Blocks the signals of the keyboard, before any other thread begins: `follow` looks at them.
void block_interrupts();

/// Prints the log of a job until the job ends, and returns its exit status; also when the manager is started
/// anew meanwhile. An interrupt ends the printing and not the job, unless the user wants it: the status is
/// then 130.
int follow(client& c, const std::string& job);

}  // namespace cluster
