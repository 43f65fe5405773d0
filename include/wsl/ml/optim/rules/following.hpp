// SPDX-License-Identifier: MIT
// The rule of parameters that no optimizer changes (parameter::follows): a running average of what comes as
// their gradient, such as the statistics of batches. Neither the learning rate nor clipping touch it.
#pragma once
#include "common.hpp"

namespace wsl::ml::rules {

struct following {
  static constexpr const char* name = "following";
  f32 part = 0.1f;  ///< of the new statistic

  kept_arrays kept(bool) const { return {}; }
  void check() const { detail::require_in(name, "part", part, 0, 2); }
  void update(const number_run& x, const parameter_step&) const { run_vectorized<loop>(x, part); }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, f32 part) {
      for (int i = 0; i < x.n; ++i) x.weights[i] = (1 - part) * x.weights[i] + part * x.gradients[i];
    }
  };
};

}  // namespace wsl::ml::rules
