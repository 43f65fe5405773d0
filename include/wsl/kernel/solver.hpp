// SPDX-License-Identifier: MIT
// Solvers for linear systems on grids: the seven-point operator and its product, the power method, conjugate
// gradients and BiCGStab, with serial references, PE programs, and calls on arrays of the host. See
// examples/80_stencil_product.cpp to 84_bicgstab.cpp.
#pragma once
#include "solver/serial.hpp"
#include "solver/solve.hpp"
