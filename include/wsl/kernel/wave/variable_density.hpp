// SPDX-License-Identifier: MIT
// Acoustic waves in a medium whose density rho differs from cell to cell:
//   p_tt / v^2 = rho div((1 / rho) grad p) + s
// in second order in time. In space the weights w_r of the 25-point Laplacian (wave25/scheme.hpp) are kept,
// and the difference of two cells r apart is divided by the mean density of the way between them:
//   (1 / rho) p_z, from z to z + r  ~  (p[z + r] - p[z]) / (mean density from z to z + r)
// With one density everywhere this is the scheme of wave25. Across a contrast the mean of the densities,
// which is the harmonic mean of 1 / rho, keeps what flows from cell to cell continuous, as staggered grids of
// first order do with the same mean; but this scheme has one field instead of four, no staggered places of
// receivers, and the sponge and the free surface of wave25.
//
// It is stable at any contrast. The operator is symmetric in the norm of 1 / (rho v^2). By the inequality of
// Cauchy and Schwarz the energy of a difference over r cells is at most r times that of the differences over
// one cell that it spans, so the negative weights of r = 2 and 4 take away at most 0.83 of the 1.6 of r = 1,
// and what is left is positive. The largest stable time step follows from the sums of the rows (Gershgorin).
#pragma once
#include <algorithm>
#include <cmath>

#include "../../support/fingerprint.hpp"
#include "../stencil/footprint.hpp"
#include "../wave25/derivatives.hpp"
#include "../wave25/problem.hpp"
#include "cell_values.hpp"

namespace wsl::seismic {

struct variable_density {
  /// In any unit: only ratios matter.
  cell_values density = 1;

  static constexpr int fields = 1;
  static constexpr std::array<f64, fields> shares_of_pressure{1};
  static constexpr stencils::takes takes{.fields = fields, .coefficients = 2};

  /// What flows from a cell along an axis, or against it: h^2 times its part of div((1 / rho) grad p).
  static constexpr auto flow(const auto& p, const auto& rho, int dx, int dy, int dz) {
    constexpr const f64(&w)[wave25::reach + 1] = wave25::weights;
    // Sums of densities on the way to the cells at distances 1 to 4: half of each end. Two quotients at a
    // time have one division.
    const auto here = p(0, 0, 0);
    const auto at = [&](int r) { return rho(r * dx, r * dy, r * dz); };
    const auto change = [&](int r) { return f32(r * w[r]) * (p(r * dx, r * dy, r * dz) - here); };
    const auto first = 0.5f * at(0) + 0.5f * at(1), second = first + 0.5f * at(1) + 0.5f * at(2),
               third = second + 0.5f * at(2) + 0.5f * at(3), fourth = third + 0.5f * at(3) + 0.5f * at(4);
    return (change(1) * second + change(2) * first) / (first * second) +
           (change(3) * fourth + change(4) * third) / (third * fourth);
  }

  // Types with names, since GCC 12 gives a program whose parameter is a lambda of a class another identity in
  // each source file.
  struct update_rule {
    constexpr auto operator()(const auto& p, const auto& courant, const auto& rho) const {
      const auto sum = ((flow(p, rho, -1, 0, 0) + flow(p, rho, 1, 0, 0)) +
                        (flow(p, rho, 0, -1, 0) + flow(p, rho, 0, 1, 0))) +
                       (flow(p, rho, 0, 0, -1) + flow(p, rho, 0, 0, 1));
      return 2 * p(0, 0, 0) - p.before(0, 0, 0) + courant(0, 0, 0) * sum;
    }
  };
  template <int axis>
  struct derivatives {
    constexpr auto operator()(const auto& p, const auto& courant, const auto& rho) const {
      constexpr int x = axis == 0, y = axis == 1, z = axis == 2;
      return std::tuple{flow(p, rho, -x, -y, -z) + flow(p, rho, x, y, z),
                        wave25::slope_of<axis>(p) / rho(0, 0, 0), courant(0, 0, 0)};
    }
  };
  /// With coefficients rho (v dt / h)^2 and rho.
  static constexpr update_rule update{};
  /// What a cpml stretches along an axis: the second derivative, the first one, and how the second enters p.
  template <int axis>
  static constexpr derivatives<axis> along{};

  void check(const wave25::problem& p) const {
    density.check(p.size, "a density", "densities are positive, from 1e-9 to 1e9 in any unit",
                  [](f64 rho) { return rho >= 1e-9 && rho <= 1e9; });
  }

  /// The largest velocity in m/s, in any direction.
  static f64 fastest(const wave25::problem& p) { return p.fastest(); }

  f64 coefficient(int which, const wave25::problem& p, const cells& c, f64 step) const {
    const f64 rho = density.at(c, p.size), courant = p.velocity_at(c) * step / p.spacing;
    return which == 0 ? rho * courant * courant : rho;
  }
  /// What a point source adds to a field is multiplied by this.
  f64 emission(const wave25::problem&, const cells&, int) const { return 1; }

  /// By this the adjoint multiplies what a source emits, and divides what a receiver hears.
  f64 adjoint_emission(const wave25::problem& p, const cells& c) const { return density.at(c, p.size); }
  /// The product of the adjoint field and the second derivative in time of the forward one, as the gradient
  /// with respect to 1 / v^2 has it.
  f64 correlation(const wave25::problem& p, const cells& c, const std::array<f64, fields>& adjoint,
                  const std::array<f64, fields>& second) const {
    return adjoint[0] * second[0] / density.at(c, p.size);
  }

  /// A bound of the largest eigenvalue of the operator, in 1 / s^2.
  f64 largest_eigenvalue(const wave25::problem& p) const {
    f64 most = 0;
    const bool is_layered = p.is_layered() && density.is_layered(p.size);
    each_different_cell(p.size, is_layered, [&](const cells& c) {
      f64 sum = 0, all = 0;
      const int at[] = {c.x, c.y, c.z}, n[] = {p.size.x, p.size.y, p.size.z};
      for (int axis = 0; axis < 3; ++axis) {
        // The densities of the cell and its neighbours: beyond the sides that of the outermost cell, above
        // a free surface its mirror image.
        f64 rho[2 * wave25::reach + 1];
        const std::size_t stride = density.stride(axis, p.size);
        const f32* first = density.numbers().data();
        for (int other = 0; other < 3; ++other)
          if (other != axis) first += static_cast<std::size_t>(at[other]) * density.stride(other, p.size);
        for (int by = -wave25::reach; by <= wave25::reach; ++by) {
          const int i = axis == 2 && p.free_surface ? std::abs(at[axis] + by) : at[axis] + by;
          rho[wave25::reach + by] =
              f64{first[static_cast<std::size_t>(std::clamp(i, 0, n[axis] - 1)) * stride]};
        }
        for (int way : {-1, 1}) {
          const f64* here = rho + wave25::reach;
          f64 between = 0;
          for (int r = 1; r <= wave25::reach; ++r) {
            between += 0.5 * (here[way * (r - 1)] + here[way * r]);
            const f64 share = wave25::weights[r] * r / between;
            sum += share, all += std::abs(share);
          }
        }
      }
      const f64 v = p.velocity_at(c);
      most = std::max(most, density.at(c, p.size) * v * v * (std::abs(sum) + all));
    });
    return most / (p.spacing * p.spacing);
  }

  void add_to(support::fingerprint& f) const {
    f.add(density.numbers().size()), f.add(density.numbers().data(), density.numbers().size() * sizeof(f32));
  }
};

}  // namespace wsl::seismic
