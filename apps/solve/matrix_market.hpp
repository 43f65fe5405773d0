// SPDX-License-Identifier: MIT
// Files in the Matrix Market format (Boisvert, Pozo, Remington, NISTIR 5935): sparse matrices as coordinates,
// and vectors as arrays. A file is not trusted: sizes are compared with its length before memory is taken for
// them, and each fault is named with its line.
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <wsl/kernel/solver/sparse_matrix.hpp>

namespace solve_app {

/// Columns of an array, each with as many numbers.
struct columns {
  int rows = 0;
  std::vector<std::vector<double>> all;
};

/// The matrix of a system: `matrix coordinate real|integer|pattern general|symmetric|skew-symmetric`, with
/// the other triangle of the last two. Entries that come twice are added up; those of a pattern are 1. `name`
/// is that of the file, for messages. Throws support::file_error.
wsl::solver::sparse_matrix matrix_from_text(std::string_view text, const std::string& name);
/// Right sides of a system of so many unknowns: `matrix array real|integer general`, column by column, or one
/// column of coordinates. Throws support::file_error.
columns columns_from_text(std::string_view text, const std::string& name, int unknowns);

/// The file of an array, with all digits.
std::string text_of(const columns& c);

}  // namespace solve_app
