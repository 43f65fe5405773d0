// SPDX-License-Identifier: MIT
// The options of wsl-solve.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/solver/sparse_solve.hpp>

namespace solve_app {

struct options {
  std::string matrix, right_side, method = "cg";
  std::vector<int> grid;
  wsl::solver::side_condition sides = wsl::solver::side_condition::dirichlet;
  wsl::solver::limits most{.tolerance = 1e-8, .iterations = 10000};
  wsl::solver::sparse_options how;
  std::vector<double> bounds;
  std::string out, history, plot;
};

/// Parses the command line. Returns whether there is something to do; otherwise `status` is set. Throws
/// std::invalid_argument for options that do not go together.
bool parse(options& o, int argc, char** argv, int& status);

}  // namespace solve_app
