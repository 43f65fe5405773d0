// SPDX-License-Identifier: MIT
// Krylov methods for sparse matrices and for systems from a grid, on a row of PEs of this computer: conjugate
// gradients, plain and pipelined, BiCGStab, GMRES and the Chebyshev iteration, with preconditioners and in
// mixed precision; and serial references. See examples/117_sparse_systems.cpp.
#pragma once
#include "solver/krylov_serial.hpp"
#include "solver/sparse_solve.hpp"
