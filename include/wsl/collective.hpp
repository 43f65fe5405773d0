// SPDX-License-Identifier: MIT
// The collectives: library modules written with floors 0 to 4 only, as a user would write them.
#pragma once
#include "collective/all_reduce.hpp"
#include "collective/all_to_all.hpp"
#include "collective/broadcast.hpp"
#include "collective/combine.hpp"
#include "collective/gather.hpp"
#include "collective/halo_exchange.hpp"
#include "collective/neighbours.hpp"
#include "collective/reduce.hpp"
#include "collective/ring_all_reduce.hpp"
#include "collective/scatter.hpp"
#include "collective/shift.hpp"
#include "collective/tally.hpp"
