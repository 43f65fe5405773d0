// SPDX-License-Identifier: MIT
// The serial reference of wave25: the scheme and its borders in f64, cell by cell, as the formulas of
// scheme.hpp and damping.hpp say. It is slow and plain on purpose; tests compare the PEs' results with it.
#pragma once
#include "problem.hpp"
#include "stretching.hpp"

namespace wsl::wave25 {

class serial {
 public:
  explicit serial(const problem& p)
      : p_((p.check(), p)),
        dt_(p.time_step()),
        edge_(p.damping()),
        now_(p.size.count()),
        before_(now_),
        phi_(now_),
        frame_(p.edge == border::cpml ? stretched_frame(p) : stretched_frame()),
        memory_(p.edge == border::cpml ? 3 * memories * p.size.count() : 0),
        traces_(p.receivers.size()) {}

  void run(int steps) {
    if (steps < 0) support::bad_argument({"wave25: run(", steps, ") asks for fewer than 0 steps"});
    for (int i = 0; i < steps; ++i) step();
  }

  /// Arrays of x * y * z cells, z fastest.
  const std::vector<f64>& field() const { return now_; }
  const std::vector<f64>& trace(std::size_t receiver) const {
    if (receiver >= traces_.size())
      support::bad_argument({"wave25: there is no receiver ", receiver, "; the problem has ", traces_.size(),
                             ", which count from 0"});
    return traces_[receiver];
  }
  void set(const std::vector<f64>& now, const std::vector<f64>& before) {
    if (now.size() != p_.size.count() || before.size() != p_.size.count())
      support::bad_argument({"wave25: fields of ", now.size(), " and ", before.size(),
                             " numbers are none of a grid of ", text(p_.size), " cells"});
    now_ = now, before_ = before;
  }

 private:
  f64 u(int x, int y, int z) const {
    if (p_.free_surface && z <= 0) return z == 0 ? 0 : -u(x, y, -z);
    return p_.size.has({x, y, z}) ? now_[p_.size.index({x, y, z})] : 0;
  }

  f64 laplacian(int x, int y, int z) const {
    f64 sum = 3 * weights[0] * u(x, y, z);
    for (int r = 1; r <= reach; ++r)
      sum += weights[r] * (u(x - r, y, z) + u(x + r, y, z) + u(x, y - r, z) + u(x, y + r, z) +
                           u(x, y, z - r) + u(x, y, z + r));
    return sum;
  }

  void step() {
    for (int x = 0; x < p_.size.x; ++x)
      for (int y = 0; y < p_.size.y; ++y)
        for (int z = 0; z < p_.size.z; ++z) {
          const f64 courant = p_.velocity_at({x, y, z}) * dt_ / p_.spacing;
          update(x, y, z, courant * courant);
        }
    now_.swap(before_);
    for (const source& s : p_.sources) {
      const f64 sample = s.sample(n_, dt_);
      each_cell(s, [&](const cells& c, f64 weight) {
        const f64 courant = p_.velocity_at(c) * dt_ / p_.spacing;
        now_[p_.size.index(c)] +=
            sample * weight * (s.kind == source_term::point ? courant * courant / p_.spacing : 1);
      });
    }
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      f64 sum = 0;
      each_cell(p_.receivers[i], [&](const cells& c, f64 weight) { sum += weight * now_[p_.size.index(c)]; });
      traces_[i].push_back(sum);
    }
    ++n_;
  }

  /// The cells over which a source or a receiver is spread.
  template <class Placed, class F>
  void each_cell(const Placed& what, F f) const {
    const spread s = spread_of(what.position(p_.spacing), p_.size, p_.spacing, p_.free_surface);
    for (int i = 0; i < s.x.count; ++i)
      for (int j = 0; j < s.y.count; ++j)
        for (int k = 0; k < s.z.count; ++k)
          f(cells{s.x.first + i, s.y.first + j, s.z.first + k},
            s.x.weight[std::size_t(i)] * s.y.weight[std::size_t(j)] * s.z.weight[std::size_t(k)]);
  }

  void update(int x, int y, int z, f64 k) {
    const std::size_t i = p_.size.index({x, y, z});
    const auto [nx, ny, nz] = p_.size;
    f64& next = before_[i];
    if (p_.free_surface && z == 0) return void(next = 0);
    if (edge_.kind == border::cpml)
      return void(next = 2 * now_[i] - next + k * (laplacian(x, y, z) + stretched(x, y, z)));
    if (edge_.kind != border::pml) {
      const f64 g = edge_.kind == border::sponge
                        ? edge_.factor(x, nx) * edge_.factor(y, ny) * edge_.factor(z, nz, damping::down)
                        : 1;
      next = g * (2 * now_[i] - g * next + k * laplacian(x, y, z));
      return;
    }
    const f64 eta = edge_.eta(x, nx) + edge_.eta(y, ny) + edge_.eta(z, nz, damping::down);
    next = ((2 - eta * eta + 2 * eta) * now_[i] - next + k * (laplacian(x, y, z) + phi_[i])) / (1 + 2 * eta);
    if (eta > 0)
      phi_[i] = (phi_[i] - 0.25 * (edge_.slope(x, nx) * (u(x + 1, y, z) - u(x - 1, y, z)) +
                                   edge_.slope(y, ny) * (u(x, y + 1, z) - u(x, y - 1, z)) +
                                   edge_.slope(z, nz, damping::down) * (u(x, y, z + 1) - u(x, y, z - 1)))) /
                (1 + eta);
  }

  // What a cpml adds to the Laplacian.
  f64 stretched(int x, int y, int z) {
    f64 sum = 0;
    const stretching along[] = {{frame_, x, p_.size.x, damping::across},
                                {frame_, y, p_.size.y, damping::across},
                                {frame_, z, p_.size.z, damping::down}};
    for (int axis = 0; axis < 3; ++axis) {
      const stretching& s = along[axis];
      if (s.gain == 0) continue;
      const int dx = axis == 0, dy = axis == 1, dz = axis == 2;
      f64 curve = weights[0] * u(x, y, z), slope = 0;
      for (int r = 1; r <= reach; ++r) {
        const f64 before = u(x - r * dx, y - r * dy, z - r * dz),
                  behind = u(x + r * dx, y + r * dy, z + r * dz);
        curve += weights[r] * (before + behind), slope += slopes[r] * (behind - before);
      }
      f64* m = &memory_[(p_.size.index({x, y, z}) * 3 + static_cast<std::size_t>(axis)) * memories];
      m[2] = s.decay * m[2] + s.third * slope;
      m[1] = s.decay * m[1] + s.second[0] * curve + s.second[1] * slope + s.gain * m[2];
      m[0] = s.decay * m[0] + s.first[0] * curve + s.first[1] * slope + s.gain * m[1];
      sum += m[0];
    }
    return sum;
  }

  problem p_;
  f64 dt_;
  wave25::damping edge_;
  std::vector<f64> now_, before_, phi_;
  stretched_frame frame_;
  std::vector<f64> memory_;
  std::vector<std::vector<f64>> traces_;
  i64 n_ = 0;
};

}  // namespace wsl::wave25
