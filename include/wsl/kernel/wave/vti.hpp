// SPDX-License-Identifier: MIT
// Pseudo-acoustic waves in a medium with vertical transverse isotropy, such as layered rock: they are faster
// along the layers than across them. v is the velocity along z, and epsilon and delta are Thomsen's
// parameters: the velocity along x and y is v sqrt(1 + 2 epsilon), and that of normal moveout v sqrt(1 + 2
// delta). Of two stresses, h in the layers and n across them (Duveneck et al., SEG 2008),
//   h_tt / v^2 = (1 + 2 epsilon) (h_xx + h_yy) + sqrt(1 + 2 delta) n_zz
//   n_tt / v^2 = sqrt(1 + 2 delta) (h_xx + h_yy) + n_zz
// with constant density and the differences of wave25. The pressure is (2 h + n) / 3, and without anisotropy
// h = n is the field of wave25. The two lines are a symmetric matrix times the second derivatives; it has no
// negative eigenvalue where epsilon >= delta, and there the scheme is stable in any medium. Where epsilon >
// delta, a source also emits a slow wave, which no rock has: place sources where the two are equal, as in
// water.
#pragma once
#include <algorithm>
#include <cmath>

#include "../stencil/footprint.hpp"
#include "../wave25/derivatives.hpp"
#include "property_lines.hpp"
#include "survey.hpp"

namespace wsl::seismic {

struct vti {
  cell_values epsilon = 0, delta = 0;

  static constexpr int fields = 2;
  static constexpr std::size_t properties = 2;
  static constexpr std::array<f64, fields> shares_of_pressure{2. / 3, 1. / 3};
  static constexpr stencils::takes takes{.fields = fields, .coefficients = 3};

  // Types with names, as those of variable_density.hpp.
  struct update_rule {
    constexpr auto operator()(const auto& h, const auto& n, const auto& within, const auto& between,
                              const auto& across) const {
      constexpr const f64(&w)[wave25::reach + 1] = wave25::weights;
      auto layers = f32(2 * w[0]) * h(0, 0, 0), upright = f32(w[0]) * n(0, 0, 0);
      for (int r = 1; r <= wave25::reach; ++r) {
        layers += f32(w[r]) * ((h(-r, 0, 0) + h(r, 0, 0)) + (h(0, -r, 0) + h(0, r, 0)));
        upright += f32(w[r]) * (n(0, 0, -r) + n(0, 0, r));
      }
      const auto k = between(0, 0, 0);
      return std::tuple{2 * h(0, 0, 0) - h.before(0, 0, 0) + (within(0, 0, 0) * layers + k * upright),
                        2 * n(0, 0, 0) - n.before(0, 0, 0) + (k * layers + across(0, 0, 0) * upright)};
    }
  };
  template <int axis>
  struct derivatives {
    constexpr auto operator()(const auto& h, const auto& n, const auto& within, const auto& between,
                              const auto& across) const {
      if constexpr (axis == 2)
        return std::tuple{wave25::curve_of<axis>(n), wave25::slope_of<axis>(n), between(0, 0, 0),
                          across(0, 0, 0)};
      else
        return std::tuple{wave25::curve_of<axis>(h), wave25::slope_of<axis>(h), within(0, 0, 0),
                          between(0, 0, 0)};
    }
  };
  /// With coefficients (v dt / h)^2 times 1 + 2 epsilon, sqrt(1 + 2 delta) and 1.
  static constexpr update_rule update{};
  /// What a cpml stretches along an axis: the second derivative of a stress, its first one, and how the
  /// second enters h and n.
  template <int axis>
  static constexpr derivatives<axis> along{};

  std::array<const cell_values*, properties> all() const { return {&epsilon, &delta}; }
  void check(const wave25::problem& p) const {
    epsilon.check(p.size, "epsilon", "Thomsen's epsilon is above -0.5, and at most 2", &is_allowed);
    delta.check(p.size, "delta", "Thomsen's delta is above -0.5, and at most 2", &is_allowed);
  }
  /// Throws std::invalid_argument if a survey has found a cell in which epsilon is less than delta.
  void require_stable(const wave25::problem& p, const survey& found) const {
    if (found.first_wrong == survey::none) return;
    const cells c = p.size.cell(found.first_wrong);
    support::bad_argument({"seismic: epsilon is ", std::to_string(epsilon.at(c, p.size)), " and delta ",
                           std::to_string(delta.at(c, p.size)),
                           epsilon.is_layered(p.size) && delta.is_layered(p.size)
                               ? support::joined({" in the cells of z = ", c.z})
                               : cell_values::cell_text(c),
                           "; where epsilon is less than delta the equations are unstable: take a larger "
                           "epsilon or a smaller delta there"});
  }

  /// `courant` is v dt / h.
  static f64 coefficient(int which, f64 courant, const std::array<f64, properties>& in) {
    return courant * courant * (which == 0 ? within(in) : which == 1 ? between(in) : 1);
  }
  /// What a point source adds to a field is multiplied by this: a source of equal strains in all directions
  /// adds the matrix times the shares of the pressure, so source and receiver may be exchanged.
  static f64 emission(const std::array<f64, properties>& in, int field) {
    return field == 0 ? (2 * within(in) + between(in)) / 3 : (2 * between(in) + 1) / 3;
  }

  /// By this the adjoint multiplies what a source emits, and divides what a receiver hears.
  static f64 adjoint_emission(const std::array<f64, properties>&) { return 1; }
  /// The product of the adjoint field and the second derivative in time of the forward one, as the gradient
  /// with respect to 1 / v^2 has it: with the inverse of the matrix in between. Where epsilon is hardly
  /// greater than delta the matrix has no inverse that rounding would leave of use; there both fields are
  /// multiples of its one eigenvector, to which its pseudo-inverse belongs.
  static f64 correlation(const std::array<f64, properties>& in, const std::array<f64, fields>& adjoint,
                         const std::array<f64, fields>& second) {
    const f64 a = within(in), s = between(in), trace = a + 1, determinant = a - s * s;
    const auto [h, n] = second;
    if (determinant < 1e-4 * trace * trace)
      return (adjoint[0] * (a * h + s * n) + adjoint[1] * (s * h + n)) / (trace * trace);
    return (adjoint[0] * (h - s * n) + adjoint[1] * (a * n - s * h)) / determinant;
  }

  /// What lines of cells say.
  survey survey_lines(const wave25::problem& p, const grid::lines& some) const {
    constexpr f64 of_axis = wave25::spectral_radius / 3;
    property_lines<vti> lines(*this, p.size, some.y);
    survey found;
    p.each_line(some, [&](int x, int y, const f32* velocities) {
      lines.go(x, y);
      for (int z = 0; z < p.size.z; ++z) {
        const auto in = lines.at(z);
        const f64 v = f64{velocities[z]}, row_h = 2 * within(in) + between(in), row_n = 2 * between(in) + 1;
        found.eigenvalue = std::max(found.eigenvalue, v * v * of_axis * std::max(row_h, row_n));
        found.fastest = std::max(found.fastest, v * std::sqrt(std::max(1., within(in))));
        if (in[0] < in[1]) found.first_wrong = std::min(found.first_wrong, u64{p.size.index({x, y, z})});
      }
    });
    found.eigenvalue /= p.spacing * p.spacing;
    return found;
  }

 private:
  static bool is_allowed(f64 x) { return x > -0.5 && x <= 2; }
  static f64 within(const std::array<f64, properties>& in) { return 1 + 2 * in[0]; }
  static f64 between(const std::array<f64, properties>& in) { return std::sqrt(1 + 2 * in[1]); }
};

}  // namespace wsl::seismic
