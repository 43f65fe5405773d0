// SPDX-License-Identifier: MIT
// Fourier transforms of arrays of the host. The front end is fft/transform.hpp; see examples/85_fft.cpp.
#pragma once
#include "fft/serial.hpp"
#include "fft/transform.hpp"
