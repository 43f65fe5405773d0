// SPDX-License-Identifier: MIT
// A problem of wave25 in another medium: its grid, velocity, border, sources and receivers, and what else the
// medium has. Media are variable_density and vti. See examples/124_density.cpp.
#pragma once
#include "../wave25/simulation.hpp"
#include "variable_density.hpp"
#include "vti.hpp"

namespace wsl::seismic {

template <class Medium>
struct problem {
  /// `step` 0 stands for 0.8 of the largest stable one in this medium. The border reflects, or is a sponge or
  /// a cpml.
  wave25::problem shot;
  Medium medium;
  /// What its cells say together; empty until `checked` has found it, which looks at all of them. Processes
  /// that each look at a part of the cells (`survey_of`) put the sum here.
  survey found = {};
  /// Whether its sources emit what the receivers of another problem have heard; see imaging.hpp.
  bool is_adjoint = false;

  /// In s. A step that wave25 would refuse is refused here as well.
  f64 largest_stable_step() const {
    return std::min(2 / std::sqrt((found ? found : survey_of(medium, shot)).eigenvalue),
                    wave25::largest_stable_step(shot.fastest(), shot.spacing));
  }
  f64 time_step() const { return shot.step > 0 ? shot.step : 0.8 * largest_stable_step(); }

  /// The problem with its time step as a number, and with what its cells say: these are found once, also for
  /// problems that differ from it in sources and receivers only. Throws std::invalid_argument that names the
  /// mistake and the remedy.
  problem checked() const;
};
template <class Medium>
problem(wave25::problem, Medium) -> problem<Medium>;

template <class Medium>
problem<Medium> problem<Medium>::checked() const {
  shot.check();
  if (shot.edge == wave25::border::pml)
    support::bad_argument(
        {"seismic: a pml absorbs waves of constant density without anisotropy only: take the border `cpml`"});
  medium.check(shot);
  problem p = *this;
  if (!p.found) p.found = survey_of(medium, shot);
  medium.require_stable(shot, p.found);
  const f64 most = p.largest_stable_step();
  p.shot.step = shot.step > 0 ? shot.step : 0.8 * most;
  if (p.shot.step > most)
    support::bad_argument({"seismic: a time step of ", std::to_string(p.shot.step),
                           " s is unstable: with this medium and a spacing of ", std::to_string(shot.spacing),
                           " m it must not exceed ", std::to_string(most), " s"});
  return p;
}

/// How many numbers the border of a problem remembers.
template <class Medium>
std::size_t remembered(const problem<Medium>& p) {
  return wave25::checks::begins_of_memory(p.shot).back();
}

/// Of all that the results depend on.
template <class Medium>
u64 fingerprint_of(const problem<Medium>& p) {
  support::fingerprint f;
  wave25::problem shot = p.shot;
  shot.step = p.time_step();
  f.add(wave25::fingerprint_of(shot)), f.add(Medium::fields), f.add(p.is_adjoint);
  for (const cell_values* property : p.medium.all()) property->add_to(f);
  return f.value();
}

}  // namespace wsl::seismic
