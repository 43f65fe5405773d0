// SPDX-License-Identifier: MIT
// The preconditioners of the solvers, by name, and what a PE needs to know about the one that it applies.
#pragma once
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::solver {

enum class preconditioner : u8 {
  none,
  jacobi,        ///< the inverse of the diagonal
  block_jacobi,  ///< the inverses of blocks along the diagonal
  polynomial,    ///< a Chebyshev polynomial of the matrix, for symmetric positive definite ones
  multigrid,     ///< a V-cycle over coarser and coarser grids, for systems from a grid
};

/// How a multigrid smooths.
enum class relaxation : u8 {
  jacobi,     ///< all cells at once, damped; a sweep is one product
  red_black,  ///< Gauss and Seidel's: the cells of one color of a chessboard, then the others; two products
};

/// The places of the parts of a preconditioner on a PE: numbers of operators and vectors (krylov_pe.hpp).
struct preconditioner_plan {
  int inverse = -1;  ///< the vector of the inverse diagonal: of `jacobi` and `polynomial`
  int blocks = -1;   ///< the operator of the inverse blocks
  int degree = 4;    ///< of the polynomial: products for each application
  f64 largest = 2;   ///< a bound of the eigenvalues of D^-1 A
  int help = -1;     ///< two vectors of the polynomial

  struct level {
    int matrix = 0;          ///< operator
    int down = -1, up = -1;  ///< operators to the next coarser grid, and back
    /// The vectors with which a sweep corrects, one after the other: the damped inverse diagonal, or the
    /// inverse diagonal of red cells, and of black ones, with zeros for the others.
    int inverse[2] = {-1, -1};
    int right = 0, sum = 0, help = 0;  ///< vectors; the first two of level 0 are those that it is applied to
  };
  std::vector<level> levels;  ///< of the multigrid; `matrix` of the last is the inverse of its matrix
  int sweeps = 2;             ///< of the smoother, before and after
  relaxation smoother = relaxation::jacobi;
  /// Corrections of a sweep.
  int corrections() const { return smoother == relaxation::red_black ? 2 : 1; }
};

}  // namespace wsl::solver
