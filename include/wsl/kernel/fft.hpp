// SPDX-License-Identifier: MIT
// Fourier transforms of arrays of the host. See fft/transform.hpp and examples/85_fft.cpp.
#pragma once
#include "fft/serial.hpp"
#include "fft/transform.hpp"
