// SPDX-License-Identifier: MIT
// Rules that take no more than the sign of a gradient, or of its mean, so that its size has no effect: Rprop
// as in torch.optim, and Lion.
#pragma once
#include "common.hpp"

namespace wsl::ml::rules {

/// Resilient backpropagation (Riedmiller and Braun 1993), for gradients of all data: each number has a step
/// size of its own, which grows while its gradient keeps the sign and shrinks when the sign changes. The
/// learning rate of step 1 is the first step size; later rates have no effect.
struct rprop {
  static constexpr const char* name = "rprop";
  f32 shrink = 0.5f, grow = 1.2f, smallest = 1e-6f, largest = 50;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"previous"}), all.push_back({"step"});
    return all;
  }
  void check() const {
    detail::require_in(name, "shrinking factor", shrink, 0, 1);
    if (!(grow > 1) || std::isinf(grow))
      throw std::invalid_argument(fmt::format("wsl: rprop grows by a finite number above 1, not {}", grow));
    detail::require_in(name, "smallest step", smallest, 0, largest);
  }
  void update(const number_run& x, const parameter_step& s) const { run_vectorized<loop>(x, s, *this); }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, rprop r) {
      f32 *const previous = x.kept[0], *const size = x.kept[1];
      const bool begins = s.is_first();
      for (int i = 0; i < x.n; ++i) {
        const f32 d = s.scale * x.gradients[i], before = begins ? 0 : previous[i];
        const f32 turn = detail::sign(d) * detail::sign(before);
        const f32 wide = (begins ? s.rate : size[i]) * (turn > 0 ? r.grow : turn < 0 ? r.shrink : 1);
        size[i] = wide < r.smallest ? r.smallest : wide > r.largest ? r.largest : wide;
        previous[i] = turn < 0 ? 0 : d;
        x.weights[i] -= detail::sign(previous[i]) * size[i];
      }
    }
  };
};

/// Lion (Chen et al. 2023, arXiv 2302.06675, algorithm 2): steps of equal length in the direction of an
/// interpolated momentum. Weight decay shrinks the weight itself.
struct lion {
  static constexpr const char* name = "lion";
  f32 beta1 = 0.9f, beta2 = 0.99f, decay = 0;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"first"});
    return all;
  }
  void check() const {
    detail::require_in(name, "beta1", beta1, 0, 1), detail::require_in(name, "beta2", beta2, 0, 1);
  }
  void update(const number_run& x, const parameter_step& s) const { run_vectorized<loop>(x, s, *this); }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, lion r) {
      f32* const first = x.kept[0];
      const f32 keep = 1 - s.rate * r.decay;
      for (int i = 0; i < x.n; ++i) {
        const f32 d = s.scale * x.gradients[i];
        const f32 direction = detail::sign(r.beta1 * first[i] + (1 - r.beta1) * d);
        x.weights[i] = x.weights[i] * keep - s.rate * direction;
        first[i] = r.beta2 * first[i] + (1 - r.beta2) * d;
      }
    }
  };
};

}  // namespace wsl::ml::rules
