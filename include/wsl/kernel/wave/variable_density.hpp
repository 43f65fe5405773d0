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

#include "../stencil/footprint.hpp"
#include "../wave25/derivatives.hpp"
#include "survey.hpp"

namespace wsl::seismic {

struct variable_density {
  /// In any unit: only ratios matter.
  cell_values density = 1;

  static constexpr int fields = 1;
  static constexpr std::size_t properties = 1;
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

  std::array<const cell_values*, properties> all() const { return {&density}; }
  void check(const wave25::problem& p) const {
    density.check(p.size, "a density", "densities are positive, from 1e-9 to 1e9 in any unit",
                  [](f64 rho) { return rho >= 1e-9 && rho <= 1e9; });
  }

  /// No density makes the equations unstable.
  static void require_stable(const wave25::problem&, const survey&) {}

  /// `courant` is v dt / h.
  static f64 coefficient(int which, f64 courant, const std::array<f64, properties>& in) {
    return which == 0 ? in[0] * courant * courant : in[0];
  }
  /// What a point source adds to a field is multiplied by this.
  static f64 emission(const std::array<f64, properties>&, int) { return 1; }

  /// By this the adjoint multiplies what a source emits, and divides what a receiver hears.
  static f64 adjoint_emission(const std::array<f64, properties>& in) { return in[0]; }
  /// The product of the adjoint field and the second derivative in time of the forward one, as the gradient
  /// with respect to 1 / v^2 has it.
  static f64 correlation(const std::array<f64, properties>& in, const std::array<f64, fields>& adjoint,
                         const std::array<f64, fields>& second) {
    return adjoint[0] * second[0] / in[0];
  }

  /// What lines of cells say.
  survey survey_lines(const wave25::problem& p, const grid::lines& some) const {
    constexpr int reach = wave25::reach, around = 2 * reach + 1;
    grid::line_reader lines = density.lines(p.size, some.y.grown(reach, p.size.y), around);
    grid::line_reader velocities = p.velocities(some.y);
    survey found;
    for (int x = some.x.from; x < some.x.to; ++x)
      for (int y = some.y.from; y < some.y.to; ++y) {
        // The cell's neighbours along x and y: beyond the sides the outermost cell.
        std::array<const f32*, around> along_x, along_y;
        for (int by = -reach; by <= reach; ++by) {
          along_x[std::size_t(reach + by)] = lines(std::clamp(x + by, 0, p.size.x - 1), y);
          along_y[std::size_t(reach + by)] = lines(x, std::clamp(y + by, 0, p.size.y - 1));
        }
        const f32 *const here = along_x[std::size_t(reach)], *const v = velocities(x, y);
        for (int z = 0; z < p.size.z; ++z) {
          std::array<f64, around> rho;
          f64 sum = 0, all = 0;
          for (std::size_t i = 0; i < around; ++i) rho[i] = f64{along_x[i][z]};
          add_axis(rho, sum, all);
          for (std::size_t i = 0; i < around; ++i) rho[i] = f64{along_y[i][z]};
          add_axis(rho, sum, all);
          for (int by = -reach; by <= reach; ++by) {  // above a free surface there is the mirror image
            const int i = p.free_surface ? std::abs(z + by) : z + by;
            rho[std::size_t(reach + by)] = f64{here[std::clamp(i, 0, p.size.z - 1)]};
          }
          add_axis(rho, sum, all);
          const f64 fast = f64{v[z]};
          found.eigenvalue = std::max(found.eigenvalue, f64{here[z]} * fast * fast * (std::abs(sum) + all));
          found.fastest = std::max(found.fastest, fast);
        }
      }
    found.eigenvalue /= p.spacing * p.spacing;
    return found;
  }

 private:
  /// Adds the weights of an axis to the row of the operator, and their sizes, from the densities around a
  /// cell.
  static void add_axis(const std::array<f64, 2 * wave25::reach + 1>& rho, f64& sum, f64& all) {
    const f64* const here = rho.data() + wave25::reach;
    for (int way : {-1, 1}) {
      f64 between = 0;
      for (int r = 1; r <= wave25::reach; ++r) {
        between += 0.5 * (here[way * (r - 1)] + here[way * r]);
        const f64 share = wave25::weights[r] * r / between;
        sum += share, all += std::abs(share);
      }
    }
  }
};

}  // namespace wsl::seismic
