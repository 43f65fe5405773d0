// SPDX-License-Identifier: MIT
// Which of the coefficients and scalars that an update takes it has been given. They have no values that
// would be right for all updates, so a run with one that was forgotten is refused.
#pragma once
#include <array>

#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "footprint.hpp"

namespace wsl::stencils {

template <takes in>
class given_arguments {
 public:
  void coefficient(int i) { coefficients_[static_cast<std::size_t>(i)] = true; }
  void all_coefficients() { coefficients_.fill(true); }
  void scalar(int i) { scalars_[static_cast<std::size_t>(i)] = true; }

  void describe(support::fingerprint& f) const {
    for (const bool is_given : coefficients_) f.add(is_given);
    for (const bool is_given : scalars_) f.add(is_given);
  }
  /// Throws std::invalid_argument for the first that is missing.
  void require_all() const { require("coefficient", coefficients_), require("scalar", scalars_); }

 private:
  template <std::size_t n>
  static void require(const char* what, const std::array<bool, n>& all) {
    for (std::size_t i = 0; i < n; ++i)
      if (!all[i])
        support::bad_argument(
            {"stencil: ", what, " ", i, " was never given: call ", what, "(", i, ", ...) before run"});
  }

  std::array<bool, std::size_t(in.coefficients)> coefficients_{};
  std::array<bool, std::size_t(in.scalars)> scalars_{};
};

}  // namespace wsl::stencils
