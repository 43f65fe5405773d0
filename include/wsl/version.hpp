// SPDX-License-Identifier: MIT
// The version of wsl. This is its only place: the build, the package files and the tests read it from here.
#pragma once

#define WSL_VERSION_MAJOR 0
#define WSL_VERSION_MINOR 1
#define WSL_VERSION_PATCH 0
