// SPDX-License-Identifier: MIT
// The main function of every trainer: it trains here, or with --cluster on a cluster.
#pragma once

namespace train_app {

/// Runs a trainer and returns its exit status. With the option --cluster the process becomes wsl-ctl, which
/// submits the same command, without the options that are wsl-ctl's own, and follows its log.
int run_trainer(const char* program, int argc, char** argv, int (*f)(int, char**));

}  // namespace train_app
