// SPDX-License-Identifier: MIT
// The options of wsl-wave, from the command line and from a file of the same options.
#pragma once
#include <filesystem>
#include <optional>
#include <wsl/kernel/wave25.hpp>

#include "figures.hpp"

namespace wave_app {

struct options {
  wsl::wave25::problem problem;
  wsl::wave25::options how;
  wsl::i64 steps = 0;
  std::filesystem::path out;
  wsl::i64 snapshot_every = 0, checkpoint_every = 0;  ///< steps; 0 for never
  bool svg = true, vtk = false, resume = false;
  slice drawn;  ///< the slice that snapshots draw
};

/// Reads and checks everything, and throws before any work starts. Returns nothing if the user only asked for
/// help, which is printed; `status` is then the exit status of the program.
std::optional<options> parse(int argc, char** argv, int& status);

}  // namespace wave_app
