// SPDX-License-Identifier: MIT
// The collectives: library modules written with floors 0 to 4 only, as a user would write them.
#pragma once
#include "collective/all_reduce.hpp"
#include "collective/combine.hpp"
#include "collective/neighbours.hpp"
