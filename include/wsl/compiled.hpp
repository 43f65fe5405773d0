// SPDX-License-Identifier: MIT
// The compiled part of the library: what programs that define WSL_COMPILED only declare. One source file of
// such a program includes this header, compiled with the same definition; the CMake target wsl::compiled has
// such a file. Without WSL_COMPILED every program has these definitions already.
#pragma once
#include "engine/diagnose/deadlock_text.hpp"
#include "engine/reference/make.hpp"
#include "engine/threaded/make.hpp"
#include "engine/timed/make.hpp"
#include "fabric/memory_limits/check.hpp"
#include "layout/explain_text.hpp"
#include "layout/layout_file_text.hpp"
#include "linalg/microkernels/best.hpp"
