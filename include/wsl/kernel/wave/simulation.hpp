// SPDX-License-Identifier: MIT
// Waves in media that wave25 does not have, on the stencil builder: a problem in, fields and traces out.
//   seismic::simulation s{seismic::problem{shot, seismic::variable_density{rho}}};
//   s.run(1000);
//   s.field(), s.trace(0)
// Sources, receivers and the free surface are those of a stencil, so that PEs march several steps between two
// exchanges. Results depend neither on PEs, threads and steps between exchanges, nor on the ranks of
// `mpi::world()`, bit for bit. A rank has the cells of its own PEs only; then all functions of a simulation
// are collective, and all ranks get the same.
#pragma once
#include "../stencil/simulation.hpp"
#include "../wave25/simulation.hpp"
#include "problem.hpp"
#include "property_lines.hpp"
#include "stretched_border.hpp"

namespace wsl::seismic {

/// The resources of this computer for a simulation; 0 leaves a choice to the library.
using options = wave25::options;

/// A state from which a simulation continues bit by bit. A field has x * y * z cells, z fastest, then y.
using state = stencils::state<f32>;

template <class Medium>
class simulation {
 public:
  /// On the threads of this computer; or `simulation(p, how, mpi::world())`, on those of all ranks. Throws
  /// std::invalid_argument if the problem or the options are invalid.
  template <class Engine = threaded>
  explicit simulation(const problem<Medium>& p, const options& how = {}, const Engine& engine = {})
      : problem_(p.checked()),
        stencil_({p.shot.size.x, p.shot.size.y, p.shot.size.z}, sides(),
                 {.wide = how.wide, .high = how.high, .depth = how.depth, .threads = how.threads}, engine) {
    kernel::require_same(engine, "problem", [&] { return fingerprint_of(problem_); });
    stencil_.coefficients([&](const grid::range& y) { return coefficient_lines(problem_, y); });
    if (shot().edge == wave25::border::cpml)
      stencil_.border(typename border::plan(shot(), problem_.found.fastest));
    for (const wave25::source& s : shot().sources) add(s);
    for (const wave25::receiver& r : shot().receivers) add(r);
  }

  const problem<Medium>& of() const { return problem_; }
  /// Steps done.
  i64 time() const { return stencil_.time(); }

  /// Marches so many steps; throws std::invalid_argument for fewer than 0, and fault, on all ranks, if they
  /// do not ask for the same.
  void run(i64 steps) { stencil_.run(steps); }

  /// The pressure after the last step: x * y * z cells, z fastest, then y.
  std::vector<f32> field() {
    return pressure(shot().size.count(), [&](int f) { return stencil_.values(f); });
  }
  /// Its cells with one position along an axis, 0 for x, 1 for y and 2 for z, in the order of the other axes.
  /// Throws std::invalid_argument if there is no such axis or position.
  std::vector<f32> slice(int axis, int at) {
    std::vector<f32> first = stencil_.slice(axis, at, 0);
    return pressure(first.size(), [&](int f) { return f == 0 ? first : stencil_.slice(axis, at, f); });
  }
  /// Calls f(block, line) for the blocks of lines that this process has: line(x, y) is the pressure after the
  /// last step in the cells of one of these lines, until the next one is asked for, or the next run; `line`
  /// may be kept as long as the simulation. For fields that are larger than the memory of a process.
  template <class F>
  void each_own_block(F f) {
    grid::each_own_block(on_pes(), f);
  }
  /// The fields of the medium after the last step, of which the pressure is a sum.
  std::vector<std::vector<f32>> fields() {
    std::vector<std::vector<f32>> all;
    for (int f = 0; f < Medium::fields; ++f) all.push_back(stencil_.values(f));
    return all;
  }
  /// The trace of receiver i, one sample a step; throws std::invalid_argument if there is no such receiver.
  const std::vector<f32>& trace(std::size_t i) const { return stencil_.trace(static_cast<int>(i)); }

  state save() { return stencil_.save(); }
  /// Continues from a state of the same problem, or from any fields and those before them: then traces may be
  /// empty. Throws std::invalid_argument for a state of another size, with traces that differ in length or
  /// are longer than its run, or with a number that is not finite, and fault, on all ranks, if they give
  /// different ones; then the simulation is what it was.
  void restore(const state& s) {
    stencil_.restore(s, [&] { require_fits(s); });
  }
  /// The numbers of a state where they are.
  grid::state_on_pes<f32> on_pes() {
    grid::state_on_pes<f32> all = stencil_.on_pes();
    if constexpr (Medium::fields > 1)
      all.field.line = [fields = all.now, sum = std::vector<f32>()](coord pe, int x, int y) mutable {
        sum.assign(fields[0].line(pe, x, y).size(), 0);
        for (int f = 0; f < Medium::fields; ++f) add_share(sum, f, fields[std::size_t(f)].line(pe, x, y));
        return std::span<const f32>(sum);
      };
    return all;
  }
  /// Continues after so many steps, with these traces, from the numbers that `fill(on_pes())` sets.
  template <class F>
  void restore(i64 time, std::vector<std::vector<f32>> traces, F fill) {
    stencil_.restore(time, std::move(traces), fill);
  }

 private:
  using border = stretched_border<Medium>;
  using stencil = stencils::simulation<Medium::update, Medium::takes, f32, border>;
  using weighted_cells = std::vector<stencils::weighted_cell<f32>>;

  const wave25::problem& shot() const { return problem_.shot; }
  void require_fits(const state& s) const {
    for (const auto* fields : {&s.now, &s.before}) {
      const char* const name = fields == &s.now ? "now" : "before";
      if (fields->size() != std::size_t(Medium::fields))
        support::bad_argument({"seismic: the state is not one of this problem: it has ", fields->size(),
                               " fields `", name, "`, and the problem has ", Medium::fields});
      for (std::size_t f = 0; f < fields->size(); ++f)
        wave25::checks::length("seismic", support::joined({"field `", name, "[", f, "]`"}),
                               (*fields)[f].size(), shot().size.count());
    }
    wave25::checks::traces("seismic", s.time, s.traces, shot().receivers.size());
  }
  static constexpr f32 share(int field) { return f32(Medium::shares_of_pressure[std::size_t(field)]); }
  template <class FieldOf>
  static std::vector<f32> pressure(std::size_t cells, FieldOf field_of) {
    if constexpr (Medium::fields == 1) return field_of(0);
    std::vector<f32> sum(cells);
    for (int f = 0; f < Medium::fields; ++f) add_share(sum, f, field_of(f));
    return sum;
  }
  static void add_share(std::span<f32> sum, int field, std::span<const f32> u) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share(field) * u[i];
  }

  stencils::boundaries sides() const {
    namespace boundary = stencils::boundary;
    const bool absorbs = shot().edge == wave25::border::sponge;
    const wave25::damping frame = shot().damping();
    const boundary::side side = absorbs ? boundary::absorbing(frame.width, frame.strength) : boundary::fixed;
    const stencils::axis_sides around(side);
    boundary::side surface = boundary::centred_times({});  // each field is zero in it
    surface.values.fill(-1);
    return {around, around, shot().free_surface ? stencils::axis_sides(surface, side) : around};
  }

  /// Makes the coefficients of lines along z with y in a range.
  class coefficient_lines {
   public:
    coefficient_lines(const problem<Medium>& p, const grid::range& y)
        : of_(p), velocities_(p.shot.velocities(y)), properties_(p.medium, p.shot.size, y) {}

    void operator()(int x, int y,
                    const std::array<std::span<f32>, std::size_t(Medium::takes.coefficients)>& to) {
      const f32* const v = velocities_(x, y);
      properties_.go(x, y);
      for (int z = 0; z < of_.shot.size.z; ++z) {
        const properties_of<Medium> in = properties_.at(z);
        const f64 courant = f64{v[z]} * of_.shot.step / of_.shot.spacing;
        for (int which = 0; which < Medium::takes.coefficients; ++which)
          to[std::size_t(which)][std::size_t(z)] = static_cast<f32>(Medium::coefficient(which, courant, in));
      }
    }

   private:
    const problem<Medium>& of_;
    grid::line_reader velocities_;
    property_lines<Medium> properties_;
  };

  /// The cells of a source or a receiver in all fields, each with its weight times `factor(properties,
  /// field)`.
  template <class Placed, class Factor>
  weighted_cells cells_of(const Placed& placed, f64 scale, Factor factor) const {
    weighted_cells all;
    const grid::lines everywhere{{0, shot().size.x}, {0, shot().size.y}};
    wave25::each_station(shot(), placed, scale, false, 0, everywhere, [&](const wave25::station& s) {
      property_lines<Medium> line(problem_.medium, shot().size, {s.at.y, s.at.y + 1});
      line.go(s.at.x, s.at.y);
      for (int f = 0; f < Medium::fields; ++f)
        for (int i = 0; i < s.count; ++i) {
          const cells c{s.at.x, s.at.y, s.at.z + i};
          all.push_back(
              {{c.x, c.y, c.z}, s.weights[std::size_t(i)] * static_cast<f32>(factor(line.at(c.z), f)), f});
        }
    });
    return all;
  }
  void add(const wave25::source& s) {
    const bool is_point = s.kind == wave25::source_term::point;
    const weighted_cells all =
        cells_of(s, is_point ? shot().step / shot().spacing : 0, [&](const properties_of<Medium>& in, int f) {
          const f64 one = Medium::emission(in, f) * adjoint_factor(in);
          return is_point ? one : one / pressure_of_emission(in);
        });
    stencil_.source(std::span(all),
                    [s, dt = shot().step](i64 n) { return static_cast<f32>(s.sample(n, dt)); });
  }
  void add(const wave25::receiver& r) {
    const weighted_cells all = cells_of(
        r, 0, [&](const properties_of<Medium>& in, int f) { return f64{share(f)} / adjoint_factor(in); });
    stencil_.receiver(std::span(all));
  }
  f64 adjoint_factor(const properties_of<Medium>& in) const {
    return problem_.is_adjoint ? Medium::adjoint_emission(in) : 1;
  }
  /// What a source adds to the pressure if it adds its emission to each field. A wavelet that is added to the
  /// pressure is shared out over the fields in these proportions, so that the fields stay those of a wave.
  static f64 pressure_of_emission(const properties_of<Medium>& in) {
    f64 sum = 0;
    for (int f = 0; f < Medium::fields; ++f)
      sum += Medium::shares_of_pressure[std::size_t(f)] * Medium::emission(in, f);
    return sum;
  }

  problem<Medium> problem_;
  stencil stencil_;
};

}  // namespace wsl::seismic
