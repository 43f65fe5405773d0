// SPDX-License-Identifier: MIT
// The check of an operator on a grid before a method that needs a symmetric one: a weight toward a neighbour
// is that of the neighbour toward the cell. Otherwise such a method does not converge, or to something else.
#pragma once
#include <cmath>

#include "../../support/number_text.hpp"
#include "conjugate_gradient.hpp"
#include "stencil.hpp"

namespace wsl::solver {

template <class Method>
inline constexpr bool needs_symmetry = false;
template <preconditioner how>
inline constexpr bool needs_symmetry<conjugate_gradient_method<how>> = true;

/// Throws std::invalid_argument that names the first cell whose weights differ by more than rounding (1e-5 of
/// the larger one) from those of its neighbours, and the method that serves.
inline void require_symmetry(const stencil& a) {
  for (int k = 1; k < stencil_points; k += 2) {  // a side, and the one across
    const side_of_stencil &back = stencil_sides[k], &forth = stencil_sides[k + 1];
    const cells step = forth.offset;
    const bool lines_are_equal = equal_lines(a, a.*back.weights) && equal_lines(a, a.*forth.weights);
    const int last_x = lines_are_equal && a.size.x > step.x ? 1 : a.size.x - step.x,
              last_y = lines_are_equal && a.size.y > step.y ? 1 : a.size.y - step.y;
    for (int x = 0; x < last_x; ++x)
      for (int y = 0; y < last_y; ++y)
        for (int z = 0; z < a.size.z - step.z; ++z) {
          const cells here{x, y, z}, there{x + step.x, y + step.y, z + step.z};
          const f32 from_here = weight_at(a, a.*forth.weights, here),
                    from_there = weight_at(a, a.*back.weights, there);
          if (std::abs(from_here - from_there) <= 1e-5f * std::max(std::abs(from_here), std::abs(from_there)))
            continue;
          const auto place = [](const cells& c) {
            return support::joined({"cell (", c.x, ", ", c.y, ", ", c.z, ")"});
          };
          support::bad_argument({"solver: the operator is not symmetric: the weight ", forth.name, " of ",
                                 place(here), " is ", support::number_text(from_here), ", and ", back.name,
                                 " of ", place(there), " is ", support::number_text(from_there),
                                 "; conjugate gradients are for symmetric positive definite operators: take "
                                 "BiCGStab"});
        }
  }
}

}  // namespace wsl::solver
