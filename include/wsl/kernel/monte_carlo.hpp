// SPDX-License-Identifier: MIT
// Monte Carlo cross-section lookups: XSBench's problem with its serial reference and lookups as dataflow, and
// particles on a wafer. See examples/34_lookups.cpp and 35_particles.cpp.
#pragma once
#include "monte_carlo/lookups.hpp"
#include "monte_carlo/wafer.hpp"
