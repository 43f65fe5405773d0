// SPDX-License-Identifier: MIT
// Kernels of scientific computing. Each is a folder with its problem, a serial reference, the PE program, its
// layout, and a front end that runs it on arrays of the host. docs/guide/kernel.md explains them.
#pragma once
#include "kernel/fft.hpp"
#include "kernel/gemm.hpp"
#include "kernel/gemv.hpp"
#include "kernel/monte_carlo.hpp"
#include "kernel/solver.hpp"
#include "kernel/stencil.hpp"
#include "kernel/tlr.hpp"
#include "kernel/wave.hpp"
#include "kernel/wave25.hpp"
