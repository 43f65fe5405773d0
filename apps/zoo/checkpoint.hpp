// SPDX-License-Identifier: MIT
// wsl-zoo checkpoint: converts models between the files of Hugging Face and those of this project, lists what
// is known, and compares two models.
#pragma once

namespace zoo_app {

/// Runs a command; `argv` begins with the word `checkpoint`. Returns the exit status.
int run_checkpoint(int argc, char** argv);

}  // namespace zoo_app
