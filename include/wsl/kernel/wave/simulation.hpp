// SPDX-License-Identifier: MIT
// Waves in media that wave25 does not have, on the stencil builder: a problem in, fields and traces out.
//   seismic::simulation s{seismic::problem{shot, seismic::variable_density{rho}}};
//   s.run(1000);
//   s.field(), s.trace(0)
// PEs exchange cells after each step. Between two steps the host adds what sources emit, records what
// receivers hear, and writes the negative mirror image of the field above a free surface, into `reach` cells
// that the grid has there in addition. Results depend neither on PEs nor on threads, bit for bit.
#pragma once
#include "../stencil/simulation.hpp"
#include "../wave25/stations.hpp"
#include "problem.hpp"

namespace wsl::seismic {

/// The resources of this computer for a simulation; 0 leaves a choice to the library.
struct options {
  int wide = 0;     ///< PEs along x
  int threads = 0;  ///< as threaded{.threads}
};

/// A state from which a simulation continues bit by bit. A field has x * y * z cells, z fastest, then y.
struct state {
  i64 time = 0;                               ///< steps done
  std::vector<std::vector<f32>> now, before;  ///< by fields
  std::vector<std::vector<f32>> traces;
};

template <class Medium>
class simulation {
 public:
  /// Throws std::invalid_argument if the problem or the options are invalid.
  explicit simulation(const problem<Medium>& p, const options& how = {})
      : problem_(p.checked()),
        above_(p.shot.free_surface ? wave25::reach : 0),
        stencil_({p.shot.size.x, p.shot.size.y, p.shot.size.z + above_}, sides(), resources(p.shot, how)),
        traces_(p.shot.receivers.size()) {
    std::vector<f32> k(inner_count());
    for (int which = 0; which < Medium::takes.coefficients; ++which) {
      each_inner([&](std::size_t i, const cells& c) {
        k[i] = static_cast<f32>(problem_.medium.coefficient(which, shot(), mirrored(c), shot().step));
      });
      stencil_.coefficient(which, k);
    }
    prepare_stations();
  }

  const problem<Medium>& of() const { return problem_; }
  /// Steps done.
  i64 time() const { return time_; }

  void run(i64 steps) {
    if (steps < 0) support::bad_argument({"seismic: run(", steps, ") asks for fewer than 0 steps"});
    for (; steps > 0; --steps) {
      stencil_.run(1);
      emit();
      mirror();
      ++time_;
      record();
    }
  }

  /// The pressure after the last step: x * y * z cells, z fastest, then y.
  std::vector<f32> field() {
    if constexpr (Medium::fields == 1) return numbers(&tile::now, 0);
    std::vector<f32> sum(shot().size.count());
    for (int f = 0; f < Medium::fields; ++f) {
      const std::vector<f32> u = numbers(&tile::now, f);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share(f) * u[i];
    }
    return sum;
  }
  /// The trace of receiver i, one sample a step.
  const std::vector<f32>& trace(std::size_t i) const { return traces_[i]; }

  state save() {
    state s{.time = time_, .now = {}, .before = {}, .traces = traces_};
    for (int f = 0; f < Medium::fields; ++f)
      s.now.push_back(numbers(&tile::now, f)), s.before.push_back(numbers(&tile::before, f));
    return s;
  }
  /// Continues from a state of the same problem, or from any field and the one before it: then traces may be
  /// empty. Throws std::invalid_argument for a state of another size.
  void restore(const state& s) {
    const auto fits = [&](const std::vector<std::vector<f32>>& fields) {
      return fields.size() == std::size_t(Medium::fields) &&
             std::all_of(fields.begin(), fields.end(),
                         [&](const auto& u) { return u.size() == shot().size.count(); });
    };
    if (s.time < 0 || !fits(s.now) || !fits(s.before) ||
        (!s.traces.empty() && s.traces.size() != traces_.size()))
      support::bad_argument({"seismic: the state is not one of this problem: it has ", s.now.size(),
                             " fields now, ", s.before.size(), " before and ", s.traces.size(),
                             " traces; the problem has ", Medium::fields, " fields of ", shot().size.count(),
                             " cells and ", traces_.size(), " traces"});
    for (int f = 0; f < Medium::fields; ++f) {
      stencil_.load(with_image(s.now[std::size_t(f)]), f);
      stencil_.load_before(with_image(s.before[std::size_t(f)]), f);
    }
    time_ = s.time;
    traces_ = s.traces.empty() ? std::vector<std::vector<f32>>(traces_.size()) : s.traces;
  }

 private:
  using stencil = stencils::simulation<Medium::update, Medium::takes>;
  using program = typename stencil::program;
  using tile = decltype(program::here);
  using line_of = f32* (tile::*)(int, int, int);

  /// The part of a source or a receiver in one line of one field.
  struct station {
    coord pe;
    int field = 0, number = 0, count = 0;
    cells at;  ///< the first of `count` cells along z
    std::array<f32, std::size_t{wave25::most_taps}> weights{};
  };

  const wave25::problem& shot() const { return problem_.shot; }
  static constexpr f32 share(int field) { return f32(Medium::shares_of_pressure[std::size_t(field)]); }

  stencils::boundaries sides() const {
    namespace boundary = stencils::boundary;
    const bool absorbs = shot().edge == wave25::border::sponge;
    const wave25::damping frame = shot().damping();
    const boundary::side side = absorbs ? boundary::absorbing(frame.width, frame.strength) : boundary::fixed;
    const stencils::axis_sides around(side);
    return {around, around, shot().free_surface ? stencils::axis_sides(boundary::fixed, side) : around};
  }
  static stencils::options resources(const wave25::problem& p, const options& how) {
    const int threads = how.threads > 0 ? how.threads : default_threads();
    return {.wide = how.wide ? how.wide : std::clamp(p.size.x / 16, 1, threads),
            .high = 1,
            .depth = 1,
            .threads = how.threads};
  }

  std::size_t inner_count() const {
    cells n = shot().size;
    n.z += above_;
    return n.count();
  }
  /// Calls f for the cells of the stencil's grid, with their places in its arrays; z is negative above a free
  /// surface.
  template <class F>
  void each_inner(F f) const {
    const cells& n = shot().size;
    std::size_t i = 0;
    for (int x = 0; x < n.x; ++x)
      for (int y = 0; y < n.y; ++y)
        for (int z = -above_; z < n.z; ++z) f(i++, cells{x, y, z});
  }
  cells mirrored(const cells& c) const { return {c.x, c.y, std::min(std::abs(c.z), shot().size.z - 1)}; }
  std::vector<f32> with_image(const std::vector<f32>& u) const {
    if (above_ == 0) return u;
    const cells& n = shot().size;
    std::vector<f32> all(inner_count());
    each_inner([&](std::size_t i, const cells& c) {
      if (c.z > 0) all[i] = u[n.index(c)];
      if (c.z < 0 && -c.z < n.z) all[i] = -u[n.index({c.x, c.y, -c.z})];
    });
    return all;
  }

  int wide() { return stencil_.plan().cut.axis[stencils::x_axis].parts; }
  tile& tile_of(coord pe) { return stencil_.wafer().template program_at<program>(pe).here; }
  coord pe_of(int x) {
    for (int i = 0;; ++i)
      if (stencil_.plan().cut.axis[stencils::x_axis].share(i).has(x)) return {i, 0};
  }
  template <class F>
  void each_line(line_of which, int field, F f) {
    const int ny = shot().size.y;
    for (int pe = 0; pe < wide(); ++pe) {
      tile& t = tile_of({pe, 0});
      const grid::range own = t.own().at[stencils::x_axis];
      for (int x = own.from; x < own.to; ++x)
        for (int y = 0; y < ny; ++y) f((t.*which)(field, x, y) + above_, x, y);
    }
  }
  std::vector<f32> numbers(line_of which, int field) {
    std::vector<f32> u(shot().size.count());
    each_line(which, field, [&](const f32* line, int x, int y) {
      std::copy_n(line, shot().size.z, u.data() + shot().size.index({x, y, 0}));
    });
    return u;
  }

  void prepare_stations() {
    const grid::lines all{{0, shot().size.x}, {0, shot().size.y}};
    const auto add = [&](const auto& placed, f64 scale, std::size_t k, std::vector<station>& to,
                         auto factor_in) {
      wave25::each_station(shot(), placed, scale, false, k, all, [&](const wave25::station& whole) {
        for (int f = 0; f < Medium::fields; ++f) {
          station s{pe_of(whole.at.x), f, whole.number, whole.count, whole.at, whole.weights};
          for (int i = 0; i < whole.count; ++i)
            s.weights[std::size_t(i)] *=
                static_cast<f32>(factor_in(cells{whole.at.x, whole.at.y, whole.at.z + i}, f));
          to.push_back(s);
        }
      });
    };
    for (std::size_t k = 0; k < shot().sources.size(); ++k) {
      const bool is_point = shot().sources[k].kind == wave25::source_term::point;
      add(shot().sources[k], is_point ? shot().step / shot().spacing : 0, k, sources_,
          [&](const cells& c, int f) {
            const f64 one = problem_.medium.emission(shot(), c, f);
            return is_point ? one : one / pressure_of_emission(c);
          });
    }
    for (std::size_t k = 0; k < shot().receivers.size(); ++k)
      add(shot().receivers[k], 0, k, receivers_, [](const cells&, int f) { return share(f); });
  }
  /// What a source adds to the pressure if it adds its emission to each field. A wavelet that is added to the
  /// pressure is shared out over the fields in these proportions, so that the fields stay those of a wave.
  f64 pressure_of_emission(const cells& c) const {
    f64 sum = 0;
    for (int f = 0; f < Medium::fields; ++f)
      sum += Medium::shares_of_pressure[std::size_t(f)] * problem_.medium.emission(shot(), c, f);
    return sum;
  }
  f32* cells_of(const station& s) { return tile_of(s.pe).now(s.field, s.at.x, s.at.y) + above_ + s.at.z; }
  void emit() {
    std::vector<f32> samples;
    for (const wave25::source& s : shot().sources)
      samples.push_back(static_cast<f32>(s.sample(time_, shot().step)));
    for (const station& s : sources_) {
      f32* cell = cells_of(s);
      for (int i = 0; i < s.count; ++i) cell[i] += s.weights[std::size_t(i)] * samples[std::size_t(s.number)];
    }
  }
  void record() {
    std::vector<f64> sums(traces_.size());
    for (const station& s : receivers_) {
      const f32* cell = cells_of(s);
      for (int i = 0; i < s.count; ++i)
        sums[std::size_t(s.number)] += f64{s.weights[std::size_t(i)]} * f64{cell[i]};
    }
    for (std::size_t i = 0; i < sums.size(); ++i) traces_[i].push_back(static_cast<f32>(sums[i]));
  }
  void mirror() {
    if (above_ == 0) return;
    const int deepest = std::min(wave25::reach, shot().size.z - 1);
    for (int f = 0; f < Medium::fields; ++f)
      each_line(&tile::now, f, [&](f32* line, int, int) {
        for (int z = -wave25::reach; z <= 0; ++z) line[z] = z < 0 && -z <= deepest ? -line[-z] : 0;
      });
  }

  problem<Medium> problem_;
  int above_;  ///< cells above a free surface
  stencil stencil_;
  std::vector<station> sources_, receivers_;
  std::vector<std::vector<f32>> traces_;
  i64 time_ = 0;
};

}  // namespace wsl::seismic
