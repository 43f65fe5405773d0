// SPDX-License-Identifier: MIT
// `wsl-zoo config mup`: a params file of the standard parametrization becomes one of muP, with the options
// of the Model Zoo's convert_config_to_mup.py. The file stays as it is but for the fields that change: its
// order, its comments and what else it says.
#pragma once

namespace zoo_app {

/// Runs the command; its arguments follow the word mup. Returns the exit status. Throws
/// std::invalid_argument for options and files that are wrong, and support::file_error where the result
/// cannot be written.
int run_config_mup(int argc, char** argv);

}  // namespace zoo_app
