// SPDX-License-Identifier: MIT
// The command line of wsl-tlr.
#pragma once
#include <wsl/kernel/tlr.hpp>

#include "files.hpp"
#include "kernels.hpp"

namespace tlr_app {

struct options {
  shape size;
  std::string kernel = "exponential";
  std::vector<std::string> matrices, bases;  ///< files; both empty: the kernel
  std::string dataset = "matrix", x, y, out;
  bases_shape given;  ///< what the command line says of low-rank tiles in files
  int tile = 128, times = 100;
  double tolerance = 1e-4;
  wsl::tlr::operation which = wsl::tlr::operation::forward;
  wsl::tlr::options how;
  bool solves = false;
  wsl::tlr::least_squares_options solving;

  /// Matrices of this run.
  std::size_t count() const { return std::max({matrices.size(), bases.size(), std::size_t{1}}); }
  bool compresses() const { return bases.empty(); }
};

/// Returns whether there is something to do; if not, `status` is set. Throws std::invalid_argument.
bool parse(options& o, int argc, char** argv, int& status);

}  // namespace tlr_app
