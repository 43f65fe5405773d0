// SPDX-License-Identifier: MIT
// Floor 5: kernels of scientific computing, each with a serial reference, a PE program, its layout and a call
// that runs it on arrays of the host.
#pragma once
#include "kernel/fft.hpp"
#include "kernel/gemm.hpp"
#include "kernel/gemv.hpp"
#include "kernel/monte_carlo.hpp"
#include "kernel/solver.hpp"
#include "kernel/tlr.hpp"
#include "kernel/wave25.hpp"
