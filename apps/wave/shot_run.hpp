// SPDX-License-Identifier: MIT
// One shot, from its first step or a checkpoint to its last one.
#pragma once
#include <csignal>
#include <filesystem>

#include "options.hpp"

namespace wave_app {

/// The signal that ends the run, or 0.
inline volatile std::sig_atomic_t stopped_by = 0;

/// Runs shot `number`, from 1 on, and writes its files to a folder. Returns the exit status: 0, or that of a
/// signal, after a checkpoint was written. Alone, it says on the terminal how far it is.
int run_shot(const options& o, const wsl::wave25::problem& p, const std::filesystem::path& folder, int number,
             bool alone);

}  // namespace wave_app
