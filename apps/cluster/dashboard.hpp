// SPDX-License-Identifier: MIT
// A page that shows the cluster in a browser: jobs and queue, the curves of a run, nodes and their load.
#pragma once
#include "client.hpp"

namespace cluster {

/// Serves the page on this computer alone, until it is interrupted. It changes nothing on the cluster.
/// Returns the exit status.
int show_dashboard(const manager_address& where, int port);

}  // namespace cluster
