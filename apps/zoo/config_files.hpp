// SPDX-License-Identifier: MIT
// `wsl-zoo config check`: which params files the trainers take, in the V1 or V2 form of the Model Zoo, what
// of them has no effect, and what is refused. `wsl-zoo config convert`: one form from the other. See
// docs/guide/configurations.md.
#pragma once

namespace zoo_app {

/// Checks files, without their data and without a model. Returns 0 if all are accepted, otherwise 1. Throws
/// std::invalid_argument for options that are wrong. The arguments follow the word config.
int run_config_check(int argc, char** argv);
/// Converts a file. Returns 0. Throws std::invalid_argument for options and files that are wrong, and
/// support::file_error where the result cannot be written. The arguments follow the word config.
int run_config_convert(int argc, char** argv);

}  // namespace zoo_app
