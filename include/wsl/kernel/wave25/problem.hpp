// SPDX-License-Identifier: MIT
// The problem of wave25: a grid of cells with a sound velocity in each, sources, receivers, a border, and at
// the top a free surface if it is asked for. It is plain data with one check that reports a mistake before
// anything runs. See examples/33_wave25.cpp.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "../stencil/cell_source.hpp"
#include "damping.hpp"
#include "place.hpp"
#include "scheme.hpp"

namespace wsl::wave25 {

using grid::text;

/// What a source does with its wavelet s. `added` adds s to the field after each step. With `point` it is a
/// point source of the wave equation, Lap u - u_tt / c^2 = -s(t) delta(x - x_s): in a homogeneous medium
/// u = s(t - r / c) / (4 pi r), whatever the grid; s is then in m times the unit of u.
enum class source_term : u8 { added, point };

/// A source with a Ricker wavelet, `amplitude * ricker(n * dt)` in step n from 0 on, or with a wavelet of its
/// own; in a cell, or at a point.
struct source {
  cells at{};
  f64 peak_hz = 10;
  f64 amplitude = 1;
  f64 delay = 0.15;                         ///< s
  std::optional<wave25::point> place = {};  ///< m; where it is given, `at` is not looked at
  /// One number for each step from the first on, which is multiplied by `amplitude`; 0 after the last. Empty
  /// for a Ricker wavelet.
  std::vector<f32> wavelet = {};
  source_term kind = source_term::added;

  f64 value(f64 t) const { return amplitude * ricker(t, peak_hz, delay); }
  /// What it emits in step n.
  f64 sample(i64 n, f64 dt) const {
    if (wavelet.empty()) return value(static_cast<f64>(n) * dt);
    return n < std::ssize(wavelet) ? amplitude * f64{wavelet[static_cast<std::size_t>(n)]} : 0;
  }
  /// Its position in m.
  wave25::point position(f64 spacing) const {
    return place ? *place : wave25::point{at.x * spacing, at.y * spacing, at.z * spacing};
  }
};

/// The source of the Minimod proxy application (arXiv 2007.06048) for a highest frequency in Hz.
inline source minimod_source(const cells& at, f64 highest_hz) {
  const f64 g = 0.6 * highest_hz, pi = 3.14159265358979323846;
  return {at, std::sqrt(8.) * g / pi, -16 * g * g, 1 / g};
}

struct problem {
  cells size;        ///< the number of cells along each axis
  f64 spacing = 20;  ///< m
  f64 step = 0;      ///< s; 0 stands for 0.8 of the largest stable one
  /// m/s: one number, one for each z, or one for each cell (z fastest, then y)
  std::vector<f32> velocity{2000};
  border edge = border::reflects;
  int edge_width = 20;  ///< cells of a sponge, a pml or a cpml on each side
  /// Cell 0 of z is a free surface: the field is zero there, and above it the negative of its mirror image.
  /// Nothing is absorbed at the top.
  bool free_surface = false;
  std::vector<source> sources{};
  std::vector<receiver> receivers{};
  /// In the place of `velocity`, a number for each cell in m/s that is read where it is needed.
  grid::cell_source model = {};

  f64 fastest() const {
    return model ? model.greatest : f64{*std::max_element(velocity.begin(), velocity.end())};
  }
  f64 slowest() const {
    return model ? model.least : f64{*std::min_element(velocity.begin(), velocity.end())};
  }
  f64 time_step() const { return step > 0 ? step : 0.8 * largest_stable_step(fastest(), spacing); }
  f64 velocity_at(const cells& c) const { return f64{grid::number_at(velocity, model, size, c)}; }
  /// What gives the velocities of lines along z with y in a range.
  grid::line_reader velocities(const grid::range& y) const { return {velocity, model, size, y}; }
  /// Calls f(x, y, velocities) for some lines along z, with the velocity of each of their cells.
  template <class F>
  void each_line(const grid::lines& some, F f) const {
    grid::line_reader line = velocities(some.y);
    for (int x = some.x.from; x < some.x.to; ++x)
      for (int y = some.y.from; y < some.y.to; ++y) f(x, y, line(x, y));
  }
  /// One number, or one for each z: then all lines along z are equal.
  bool is_layered() const { return grid::is_layered(velocity, model, size); }

  /// The strength of the border: a wave that crosses the frame of a pml at right angles keeps a thousandth
  /// of its amplitude.
  wave25::damping damping() const {
    const f64 to_a_thousandth = time_step() * 3 * fastest() * std::log(1000.) / (2 * edge_width * spacing);
    return {edge, edge == border::reflects ? 0 : edge_width, edge == border::pml ? to_a_thousandth : 0.09,
            free_surface};
  }

  /// Throws std::invalid_argument that names the mistake and the remedy.
  void check() const;
};

namespace checks {

inline void inside(const problem& p, const char* what, std::size_t i, const cells& c) {
  if (!p.size.has(c))
    support::bad_argument({"wave25: ", what, " ", i, " is in cell (", c.x, ", ", c.y, ", ", c.z,
                           "), outside the grid of ", text(p.size), " cells; cells count from 0"});
  if (p.free_surface && c.z == 0)
    support::bad_argument({"wave25: ", what, " ", i, " is in cell (", c.x, ", ", c.y,
                           ", 0), in the free surface, where the field is zero; place it below"});
}

inline void inside(const problem& p, const char* what, std::size_t i, const point& at) {
  const f64 last[] = {(p.size.x - 1) * p.spacing, (p.size.y - 1) * p.spacing, (p.size.z - 1) * p.spacing};
  const f64 here[] = {at.x, at.y, at.z};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(here[axis] >= 0 && here[axis] <= last[axis]))
      support::bad_argument({"wave25: ", what, " ", i, " is at ", std::string(1, "xyz"[axis]), " = ",
                             std::to_string(here[axis]), " m, outside the grid, which goes from 0 to ",
                             std::to_string(last[axis]), " m"});
  if (p.free_surface && at.z < 1e-3 * p.spacing)
    support::bad_argument({"wave25: ", what, " ", i, " is at a depth of ", std::to_string(at.z),
                           " m, in the free surface, where the field is zero; place it below"});
}

template <class Placed>
void placed(const problem& p, const char* what, std::size_t i, const Placed& x) {
  if (x.place) inside(p, what, i, *x.place);
  else inside(p, what, i, x.at);
}

inline void velocity(const problem& p) {
  if (p.model) {
    if (!(p.model.least > 0) || !(p.model.greatest >= p.model.least) || !std::isfinite(p.model.greatest))
      support::bad_argument({"wave25: the velocities of a model go from ", std::to_string(p.model.least),
                             " to ", std::to_string(p.model.greatest), " m/s; velocities are positive"});
    return;
  }
  const std::size_t n = p.velocity.size();
  if (n != 1 && n != static_cast<std::size_t>(p.size.z) && n != p.size.count())
    support::bad_argument({"wave25: a velocity model has 1 number, ", p.size.z, " (one for each z) or ",
                           p.size.count(), " (one for each cell of ", text(p.size), "), not ", n});
  for (std::size_t i = 0; i < n; ++i)
    if (!(p.velocity[i] > 0) || !std::isfinite(p.velocity[i]))
      support::bad_argument(
          {"wave25: velocity ", i, " is ", std::to_string(p.velocity[i]), " m/s; velocities are positive"});
}

inline void time_step(const problem& p) {
  if (!(p.spacing > 0) || !std::isfinite(p.spacing))
    support::bad_argument({"wave25: the spacing is ", std::to_string(p.spacing), " m; it is positive"});
  if (!(p.step >= 0) || !std::isfinite(p.step))
    support::bad_argument(
        {"wave25: the time step is ", std::to_string(p.step), " s; it is positive, or 0 to have one chosen"});
  if (const f64 most = largest_stable_step(p.fastest(), p.spacing); p.step > most)
    support::bad_argument({"wave25: a time step of ", std::to_string(p.time_step()), " s is unstable: at ",
                           std::to_string(p.fastest()), " m/s and a spacing of ", std::to_string(p.spacing),
                           " m it must not exceed ", std::to_string(most), " s (Courant, Friedrichs, Lewy)"});
}

inline void frame(const problem& p) {
  if (p.edge == border::reflects) return;
  const int shortest = std::min({p.size.x, p.size.y, p.size.z});
  if (p.edge_width < 1 || 2 * p.edge_width >= shortest)
    support::bad_argument(
        {"wave25: an absorbing border of ", p.edge_width, " cells on each side leaves nothing of ",
         text(p.size), " cells; choose ",
         shortest < 3 ? std::string("the border `reflects`") : "1 to " + std::to_string((shortest - 1) / 2),
         " or a larger grid"});
  if (p.edge == border::cpml && p.free_surface && p.size.z - p.edge_width < reach)
    support::bad_argument({"wave25: a cpml of ", p.edge_width, " cells reaches up to the free surface of ",
                           text(p.size), " cells; leave ", reach, " cells between them, or take a pml"});
}

}  // namespace checks

inline void problem::check() const {
  if (size.x < 1 || size.y < 1 || size.z < 1)
    support::bad_argument({"wave25: a grid has at least one cell along each axis, not ", text(size)});
  if (size.count() > std::size_t{1} << 40)
    support::bad_argument({"wave25: a grid of ", text(size), " cells does not fit in any memory"});
  checks::velocity(*this);
  checks::time_step(*this);
  checks::frame(*this);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    checks::placed(*this, "source", i, sources[i]);
    if (!std::isfinite(sources[i].amplitude) || !std::isfinite(sources[i].delay))
      support::bad_argument({"wave25: source ", i, " has an amplitude of ",
                             std::to_string(sources[i].amplitude), " and a delay of ",
                             std::to_string(sources[i].delay), " s; both are finite"});
    if (!(sources[i].peak_hz > 0) || !std::isfinite(sources[i].peak_hz))
      support::bad_argument({"wave25: source ", i, " has a peak frequency of ",
                             std::to_string(sources[i].peak_hz), " Hz; it is positive"});
    for (std::size_t n = 0; n < sources[i].wavelet.size(); ++n)
      if (!std::isfinite(sources[i].wavelet[n]))
        support::bad_argument({"wave25: number ", n, " of the wavelet of source ", i, " is not finite"});
  }
  for (std::size_t i = 0; i < receivers.size(); ++i) checks::placed(*this, "receiver", i, receivers[i]);
}

}  // namespace wsl::wave25
