// SPDX-License-Identifier: MIT
// Monte Carlo: cross-section lookups, XSBench's problem with its serial reference and lookups as dataflow,
// and particles on a wafer; neutron transport. See examples/34_lookups.cpp, 35_particles.cpp and
// 121_criticality.cpp.
#pragma once
#include "monte_carlo/lookups.hpp"
#include "monte_carlo/nuclide_tables.hpp"
#include "monte_carlo/transport.hpp"
#include "monte_carlo/wafer.hpp"
