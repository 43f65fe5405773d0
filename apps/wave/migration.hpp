// SPDX-License-Identifier: MIT
// Reverse-time migration of the shots of a list: an image of each, and their sum.
#pragma once
#include "options.hpp"

namespace wave_app {

/// Migrates what is missing and, when all shots are finished, adds them up in their order: image.npy,
/// image.vti, image.svg and illumination.npy. Returns the exit status.
int migrate_shots(const options& o);

}  // namespace wave_app
