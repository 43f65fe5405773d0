// SPDX-License-Identifier: MIT
// The compiled part of the library: what programs that define WSL_COMPILED only declare. One source file of
// such a program includes this header, compiled with the same definition; the CMake target wsl::compiled has
// such a file. Without WSL_COMPILED every program has these definitions already.
#pragma once
#include "engine/diagnose/deadlock_text.hpp"
#include "engine/reference/engine.hpp"
#include "engine/threaded/engine.hpp"
#include "engine/timed/engine.hpp"
#include "fabric/memory_limits/check.hpp"
#include "layout/explain_text.hpp"
