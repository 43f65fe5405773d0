// SPDX-License-Identifier: MIT
// The rule of parameters that training leaves as they are (network::freeze).
#pragma once
#include "common.hpp"

namespace wsl::ml::rules {

struct frozen {
  static constexpr const char* name = "frozen";

  kept_arrays kept(bool) const { return {}; }
  void check() const {}
  void update(const number_run&, const parameter_step&) const {}
};

}  // namespace wsl::ml::rules
