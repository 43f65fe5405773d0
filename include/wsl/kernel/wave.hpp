// SPDX-License-Identifier: MIT
// Seismic waves beyond the constant-density acoustics of wave25, on the stencil builder: variable density,
// and vertical transverse isotropy. See examples/124_density.cpp.
#pragma once
#include "wave/checkpoint.hpp"
#include "wave/imaging.hpp"
#include "wave/simulation.hpp"
