// SPDX-License-Identifier: MIT
// The 25-point acoustic wave equation, the kernel of seismic imaging: the scheme and its serial reference,
// the PE program and its layout, a simulation as front end, and
// its adjoint for imaging. See examples/33_wave25.cpp.
#pragma once
#include "wave25/checkpoint.hpp"
#include "wave25/imaging.hpp"
#include "wave25/serial.hpp"
#include "wave25/simulation.hpp"
