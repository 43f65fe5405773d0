// SPDX-License-Identifier: MIT
// Which of the coefficients and scalars that an update takes it has been given. They have no values that
// would be right for all updates, so a run with one that was forgotten is refused; and so is one with an
// array whose function has thrown in the middle.
#pragma once
#include <array>

#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "../named_values.hpp"
#include "footprint.hpp"

namespace wsl::stencils {

template <takes in>
class given_arguments {
 public:
  void coefficient(int i) { coefficients_[static_cast<std::size_t>(i)] = true; }
  void all_coefficients() { coefficients_.fill(true); }
  /// Until it is given again.
  void without_coefficient(int i) { coefficients_[static_cast<std::size_t>(i)] = false; }
  void without_coefficients() { coefficients_.fill(false); }
  void field(int i) { lacks_field_[static_cast<std::size_t>(i)] = false; }
  void all_fields() { lacks_field_.fill(false); }
  void without_field(int i) { lacks_field_[static_cast<std::size_t>(i)] = true; }
  void without_fields() { lacks_field_.fill(true); }
  void scalar(int i) { scalars_[static_cast<std::size_t>(i)] = true; }

  void describe(support::fingerprint& f) const {
    for (const bool is_given : coefficients_) f.add(is_given);
    for (const bool is_given : scalars_) f.add(is_given);
  }
  /// The same in words.
  void name(kernel::named_values& all) const {
    for (std::size_t i = 0; i < coefficients_.size(); ++i)
      all.add(support::joined({"coefficient ", i, " of a stencil"}), text(coefficients_[i]));
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      all.add(support::joined({"scalar ", i, " of a stencil"}), text(scalars_[i]));
  }
  /// Throws std::invalid_argument for the first that is missing.
  void require_all() const {
    require("coefficient", coefficients_), require("scalar", scalars_);
    for (std::size_t i = 0; i < lacks_field_.size(); ++i)
      if (lacks_field_[i])
        support::bad_argument(
            {"stencil: what field ", i, " was to be loaded with was refused: load it again"});
  }

 private:
  static const char* text(bool is_given) {
    return is_given ? "one that was given" : "one that was not given";
  }
  template <std::size_t n>
  static void require(const char* what, const std::array<bool, n>& all) {
    for (std::size_t i = 0; i < n; ++i)
      if (!all[i])
        support::bad_argument({"stencil: ", what, " ", i, " was never given, or was refused: call ", what,
                               "(", i, ", ...) before run"});
  }

  std::array<bool, std::size_t(in.coefficients)> coefficients_{};
  std::array<bool, std::size_t(in.scalars)> scalars_{};
  std::array<bool, std::size_t(in.fields)> lacks_field_{};
};

}  // namespace wsl::stencils
