// SPDX-License-Identifier: MIT
// Matrices and right sides in the Matrix Market format.
#include "../../apps/solve/matrix_market.hpp"

#include <wsl/support/file_error.hpp>

#include "fuzz.hpp"

namespace {

void matrix_market(std::string_view bytes) {
  try {
    const wsl::solver::sparse_matrix a = solve_app::matrix_from_text(bytes, "fuzz");
    fuzz::holds(a.count() >= 0 && static_cast<std::size_t>(a.rows()) <= bytes.size());
    a.require_values();
  } catch (const wsl::support::file_error& e) {
    const std::string_view said = e.what();
    fuzz::holds(said.starts_with("wsl: fuzz, line ") || said == "wsl: fuzz is empty");
  }
  const solve_app::columns c = solve_app::columns_from_text(bytes, "fuzz", 3);
  const solve_app::columns again = solve_app::columns_from_text(solve_app::text_of(c), "again", 3);
  fuzz::holds(again.rows == c.rows && again.all == c.all);
}

const fuzz::enter table{{"matrix_market", matrix_market}};
}  // namespace
