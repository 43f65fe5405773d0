// SPDX-License-Identifier: MIT
// The adjoint of waves in other media, and reverse-time migration in them, with the words of
// wave25/imaging.hpp. In both media the operator is symmetric in some norm, so the adjoint is the same scheme
// once more.
//
// With m = 1 / v^2, densities follow  (m / rho) p_tt - div((1 / rho) grad p) = s / rho.  The operator on
// the left is symmetric; so the adjoint emits rho times what a source does, and divides what is heard by rho.
// Two stresses q follow  m q_tt = N (D q + s)  with the symmetric matrices N of the medium and D of the
// second derivatives. If w is the adjoint field, then N w follows the same equation, with the residuals as
// sources.
//   const wave25::image i = wave25::migrate(seismic::problem{shot, medium}, 800, residual);
#pragma once
#include "../wave25/imaging.hpp"
#include "simulation.hpp"

namespace wsl::seismic {

using wave25::migrate, wave25::migrate_on_pes;

/// As that of wave25. It is exact for point sources in the same places.
template <class Medium>
problem<Medium> adjoint_of(const problem<Medium>& p, const wave25::traces& data, i64 steps) {
  problem<Medium> back = p;
  back.shot.step = p.time_step();
  back.shot = wave25::adjoint_of(back.shot, data, steps);
  back.is_adjoint = !p.is_adjoint;
  return back;
}

}  // namespace wsl::seismic

namespace wsl::wave25 {

template <class Medium>
struct imaging_of<seismic::problem<Medium>> {
  using simulation = seismic::simulation<Medium>;
  using problem = seismic::problem<Medium>;
  static constexpr const char* name = "seismic";
  static constexpr std::size_t fields = std::size_t(Medium::fields);
  static constexpr std::array<f64, fields> shares_of_pressure = Medium::shares_of_pressure;

  /// Keeps the properties of the cells of this process.
  imaging_of(const problem& p, const grid::state_on_pes<f32>& own) {
    for (std::vector<f32>& numbers : properties_) numbers.reserve(grid::own_count(own.blocks, own.now[0]));
    grid::each_own_line(own.blocks, own.now[0], [&](int x, int y, std::span<const f32> line) {
      for (std::size_t i = 0; i < properties_.size(); ++i) {
        grid::line_reader lines = p.medium.all()[i]->lines(p.shot.size, {y, y + 1});
        const f32* const numbers = lines(x, y);
        properties_[i].insert(properties_[i].end(), numbers, numbers + line.size());
      }
    });
  }
  static problem checked(const problem& p) { return p.checked(); }
  static const wave25::problem& shot(const problem& p) { return p.shot; }
  static wave25::problem& shot(problem& p) { return p.shot; }
  f64 product(std::size_t i, const std::array<f64, fields>& adjoint,
              const std::array<f64, fields>& second) const {
    seismic::properties_of<Medium> in;
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = f64{properties_[k][i]};
    return Medium::correlation(in, adjoint, second);
  }

 private:
  std::array<std::vector<f32>, Medium::properties> properties_;
};

}  // namespace wsl::wave25
