// SPDX-License-Identifier: MIT
// Stencils of one's own: the update of a cell becomes a program for a fabric. See
// examples/110_heat_mode.cpp.
#pragma once
#include "stencil/serial.hpp"
#include "stencil/simulation.hpp"
