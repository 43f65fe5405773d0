// SPDX-License-Identifier: MIT
// The collectives: library modules that are written with the language alone (the headers below this folder),
// as a user of the library would write them. docs/guide/collective.md explains each, and
// examples/25_own_collective.cpp writes a new one.
#pragma once
#include "collective/all_reduce.hpp"
#include "collective/all_to_all.hpp"
#include "collective/awaited.hpp"
#include "collective/barrier.hpp"
#include "collective/broadcast.hpp"
#include "collective/combine.hpp"
#include "collective/gather.hpp"
#include "collective/halo_exchange.hpp"
#include "collective/lane.hpp"
#include "collective/neighbours.hpp"
#include "collective/reduce.hpp"
#include "collective/scatter.hpp"
#include "collective/scattered_all_reduce.hpp"
#include "collective/shift.hpp"
#include "collective/tally.hpp"
