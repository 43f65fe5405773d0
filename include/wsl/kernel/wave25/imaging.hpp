// SPDX-License-Identifier: MIT
// The adjoint of wave25, and what is made with it: the gradient of a misfit of seismograms with respect to
// the model, which is also the image of reverse-time migration.
//
// With m = 1 / c^2 the scheme is, for point sources,  m (u+ - 2 u + u-) / dt^2 = Lap u + s delta.  Its
// Laplacian is symmetric and it has no direction in time, so the adjoint of "sources to traces" is the same
// scheme once more: receivers send their traces backward in time, and what arrives at the sources, read
// backward, is the result. That is exact up to rounding where sources and receivers stand outside of an
// absorbing frame and the frame is none or a sponge; a perfectly matched layer is its own adjoint up to what
// it reflects.
//
// The gradient needs the forward field in the reverse order of its making. States are kept at some steps
// only, placed by the rule of binomial checkpointing (Griewank and Walther, ACM TOMS 26, 2000), and the steps
// between them are computed again; `memory` bounds what is kept.
//   const auto residual = [&](const traces& synthetic) { return difference(synthetic, recorded); };
//   const wave25::image i = wave25::migrate(p, 800, residual, {.memory = 2e9});
// `migrate_on_pes(p, 800, residual, how, mpi::world())` does that on the PEs of several ranks; each of them
// has its part of the fields, of the states that are kept, and of the image.
// What these words need of a problem is in `imaging_of`, which wave/imaging.hpp has for other media.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "simulation.hpp"

namespace wsl::wave25 {

/// One a receiver, one sample a step.
using traces = std::vector<std::vector<f32>>;

/// What imaging needs of a kind of problem: its simulation, and how its fields make the gradient.
template <class Problem>
struct imaging_of;

template <>
struct imaging_of<problem> {
  using simulation = wave25::simulation;
  static constexpr const char* name = "wave25";
  static constexpr std::size_t fields = 1;
  static constexpr std::array<f64, fields> shares_of_pressure{1};

  /// Of the cells of this process, in the order of each_own_line.
  imaging_of(const problem&, const grid::state_on_pes<f32>&) {}
  /// The problem with a time step; throws std::invalid_argument that names a mistake.
  static problem checked(problem p) {
    p.check();
    p.step = p.time_step();
    return p;
  }
  static const problem& shot(const problem& p) { return p; }
  static problem& shot(problem& p) { return p; }
  /// What the product of the adjoint field and the second difference in time of the forward one adds to the
  /// gradient in cell i of this process.
  static f64 product(std::size_t, const std::array<f64, fields>& adjoint,
                     const std::array<f64, fields>& second) {
    return adjoint[0] * second[0];
  }
};

/// The problem whose traces, read backward, are the adjoint of p applied to `data`: its sources are the
/// receivers of p, and its receivers the sources of p. Data have one trace for each receiver of p, of `steps`
/// samples at most. Throws std::invalid_argument for another number of traces, or longer ones.
inline problem adjoint_of(const problem& p, const traces& data, i64 steps) {
  if (data.size() != p.receivers.size())
    support::bad_argument({"wave25: the adjoint takes a trace for each of ", p.receivers.size(),
                           " receivers, not ", data.size()});
  problem back = p;
  back.step = p.time_step();
  back.sources.clear(), back.receivers.clear();
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (std::ssize(data[i]) > steps)
      support::bad_argument(
          {"wave25: trace ", i, " has ", data[i].size(), " samples, and there are ", steps, " steps"});
    source s{
        .at = p.receivers[i].at, .amplitude = 1, .place = p.receivers[i].place, .kind = source_term::point};
    s.wavelet.assign(static_cast<std::size_t>(steps), 0);
    std::copy(data[i].begin(), data[i].end(), s.wavelet.rbegin());
    back.sources.push_back(std::move(s));
  }
  for (const source& s : p.sources) back.receivers.push_back(s.place ? receiver(*s.place) : receiver(s.at));
  return back;
}

struct imaging_options {
  /// Bytes for states and fields of the forward run, of each process; the two runs themselves come on top.
  f64 memory = 1e9;
  int every = 1;     ///< steps between two fields that are correlated; 1 for the exact gradient
  options how = {};  ///< as of simulation
  /// Called between steps, by all processes between the same ones, so it may be collective. What it throws,
  /// on all of them, ends the migration: this is how a signal does.
  std::function<void()> between = {};
};

/// In each cell, z fastest, then y.
struct image {
  /// The gradient of half of the squared residuals, summed over samples, with respect to 1 / c^2 in s^2 /
  /// m^2. Positive where a higher velocity makes the residuals smaller. Minus the gradient is the image: a
  /// reflector below which the velocity is higher is a positive ridge.
  std::vector<f32> gradient;
  /// The energy of the second derivative in time of the forward field: the diagonal of the Hessian for
  /// receivers everywhere. The gradient is divided by it to even out how strongly cells are lit.
  std::vector<f32> illumination;
  f64 misfit = 0;         ///< half of the sum of the squared residuals
  i64 forward_steps = 0;  ///< steps of the forward run, with those that were computed again
};

/// An image of which a process has the cells of its PEs.
struct spread_image {
  cells size;
  std::vector<grid::block> blocks;  ///< of all processes
  grid::line_array<const f32> gradient, illumination;
  f64 misfit = 0;  ///< as those of image
  i64 forward_steps = 0;
};

namespace checks {

/// Runs as a simulation does, and calls `between` before every few steps.
template <class Simulation>
void run_with_breaks(Simulation& s, i64 steps, const std::function<void()>& between) {
  constexpr i64 at_a_time = most_steps_a_launch;
  for (; steps > 0; steps -= at_a_time) {
    if (between) between();
    s.run(std::min(steps, at_a_time));
  }
}

/// The fields after the last step in the cells of this process, in the order of each_own_line.
inline std::vector<std::vector<f32>> own_fields(const grid::state_on_pes<f32>& s) {
  std::vector<std::vector<f32>> all;
  for (const grid::line_array<f32>& field : s.now) {
    std::vector<f32>& own = all.emplace_back();
    own.reserve(grid::own_count(s.blocks, field));
    grid::each_own_line(s.blocks, field, [&](int, int, std::span<f32> line) {
      own.insert(own.end(), line.begin(), line.end());
    });
  }
  return all;
}

/// The forward run in reverse, of the cells of this process. Samples are fields `every` steps apart; a block
/// of samples is recomputed at once.
template <class Problem>
class reversed_run {
  using kind = imaging_of<Problem>;

 public:
  using sample = std::vector<std::vector<f32>>;  ///< by fields

  /// `samples` samples follow the first one, which is zero.
  template <class Engine>
  reversed_run(const Problem& p, i64 samples, const imaging_options& o, const Engine& engine)
      : every_(o.every),
        samples_(samples),
        simulation_(without_receivers(p), o.how, engine),
        between_(o.between),
        where_(simulation_.on_pes()),
        cells_(grid::own_count(where_.blocks, where_.now[0])) {
    // Memory in samples: a block has its own and their two neighbours, a state two and what the border
    // remembers. Processes agree on those of the one that has most.
    const std::size_t numbers = kind::fields * largest(cells_);
    const f64 fields = o.memory / (4. * static_cast<f64>(numbers));
    const i64 of_state =
        2 +
        static_cast<i64>((largest(grid::own_count(where_.blocks, where_.border)) + numbers - 1) / numbers);
    if (fields < 4)
      support::bad_argument({kind::name, ": imaging needs memory for at least ", 4 * kind::fields,
                             " fields of ", text(kind::shot(p).size), " cells, which are ", 16 * numbers,
                             " bytes", where_.on->spread() ? " in a process" : "", ", and may have ",
                             static_cast<i64>(o.memory)});
    const i64 all = static_cast<i64>(std::min(fields, 1e12));
    block_ = std::clamp<i64>(all / 2 - 2, 1, samples);
    if (all < samples + 2)
      block_ =
          std::min(block_, std::max<i64>(1, static_cast<i64>(std::sqrt(2. * static_cast<f64>(samples)))));
    slots_ = static_cast<int>(std::clamp<i64>((all - block_ - 2) / of_state, 0, 10'000));
  }

  i64 steps() const { return steps_; }

  /// Calls visit(j, before, now, after), samples j - 1, j and j + 1, for j from samples - 1 down to 0.
  template <class Visit>
  void each(Visit visit) {
    reverse({}, 0, (samples_ + block_ - 1) / block_, slots_, visit);
  }

 private:
  using simulation = typename kind::simulation;
  /// Of the cells of this process: its fields, those of the step before, and what the border remembers; none
  /// of them at rest.
  struct state {
    i64 time = 0;
    std::vector<f32> numbers;
  };

  static Problem without_receivers(Problem p) {
    kind::shot(p).receivers.clear();
    return p;
  }
  bool has_border() const { return where_.count(where_.border) > 0; }
  /// Of all processes; collective.
  std::size_t largest(std::size_t mine) {
    const auto each = gather_values(*where_.on, all, [&](coord) { return mine; });
    return *std::max_element(each.begin(), each.end());
  }
  template <class F>
  void each_array(F f) const {
    for (const auto& field : where_.now) f(field);
    for (const auto& field : where_.before) f(field);
    if (has_border()) f(where_.border);
  }
  state saved() {
    state s{simulation_.time(), {}};
    std::size_t count = 0;
    each_array([&](const grid::line_array<f32>& a) { count += grid::own_count(where_.blocks, a); });
    s.numbers.reserve(count);
    each_array([&](const grid::line_array<f32>& a) {
      grid::each_own_line(where_.blocks, a, [&](int, int, std::span<f32> line) {
        s.numbers.insert(s.numbers.end(), line.begin(), line.end());
      });
    });
    return s;
  }
  void restore(const state& s) {
    simulation_.restore(s.time, {}, [&](const grid::state_on_pes<f32>&) {
      const f32* next = s.numbers.data();
      each_array([&](const grid::line_array<f32>& a) {
        grid::each_own_line(where_.blocks, a, [&](int, int, std::span<f32> line) {
          if (s.numbers.empty()) std::fill(line.begin(), line.end(), 0.f);
          else std::copy_n(std::exchange(next, next + line.size()), line.size(), line.data());
        });
      });
    });
  }
  /// The sample at whose state block b begins: its first sample has a neighbour before it.
  i64 begin(i64 b) const { return std::max<i64>(b * block_ - 1, 0); }
  void advance(i64 to_sample) {
    const i64 n = to_sample * every_ - simulation_.time();
    run_with_breaks(simulation_, n, between_), steps_ += n;
  }

  // Blocks first .. last - 1, from a state at the beginning of the first. A function that calls itself, for
  // the states that are kept are a stack.
  template <class Visit>
  void reverse(const state& from, i64 first, i64 last, int slots, Visit& visit) {
    while (last - first > 1 && slots > 0) {
      const i64 middle = first + std::clamp<i64>(kept_apart(last - first, slots), 1, last - first - 1);
      restore(from);
      advance(begin(middle));
      const state there = saved();
      reverse(there, middle, last, slots - 1, visit);
      last = middle;
    }
    for (i64 b = last; b-- > first;) {
      restore(from);
      advance(begin(b));
      block(b, visit);
    }
  }
  /// How many blocks lie before the next state: with s slots and r repetitions C(s + r, s) blocks can be
  /// reversed, and r / (s + r) of them come first.
  static i64 kept_apart(i64 blocks, int slots) {
    f64 reach = 1;
    int repetitions = 0;
    while (reach < static_cast<f64>(blocks)) ++repetitions, reach *= f64(slots + repetitions) / repetitions;
    return blocks * repetitions / (slots + repetitions);
  }
  template <class Visit>
  void block(i64 b, Visit& visit) {
    const i64 from = b * block_, to = std::min(samples_, from + block_);
    std::vector<sample> u;  // samples from - 1 to `to`
    if (from == 0) u.emplace_back(kind::fields, std::vector<f32>(cells_));
    for (i64 j = begin(b);; ++j) {
      u.push_back(own_fields(where_));
      if (j == to) break;
      advance(j + 1);
    }
    for (i64 j = to; j-- > from;) {
      const auto k = static_cast<std::size_t>(j - from);
      visit(j, u[k], u[k + 1], u[k + 2]);
      u.pop_back();
    }
  }

  int every_;
  i64 samples_, block_ = 1, steps_ = 0;
  int slots_ = 0;
  simulation simulation_;
  std::function<void()> between_;
  grid::state_on_pes<f32> where_;
  std::size_t cells_;  ///< of this process
};

}  // namespace checks

/// Runs a shot for `steps` steps, gives its traces to `residual`, which returns what they are too large by
/// (as many traces, no longer), and back-propagates that. Throws std::invalid_argument if the problem, the
/// residuals or the options are wrong. On several processes it is collective, and all of them give the same
/// residuals.
template <class Problem, class Engine = threaded>
spread_image migrate_on_pes(const Problem& given, i64 steps,
                            const std::function<traces(const traces&)>& residual,
                            const imaging_options& o = {}, const Engine& engine = {}) {
  using kind = imaging_of<Problem>;
  using runner = typename kind::simulation;
  using sample = typename checks::reversed_run<Problem>::sample;
  if (o.every < 1 || steps < 1)
    support::bad_argument({kind::name,
                           ": imaging takes at least 1 step, and a field every 1 or more steps, not ", steps,
                           " and ", o.every});
  if (!residual)
    support::bad_argument({kind::name,
                           ": the residual of migrate is an empty function; give one that returns what the "
                           "traces it is called with are too large by"});
  const Problem p = kind::checked(given);
  const problem& shot = kind::shot(p);
  const i64 samples = (steps + o.every - 1) / o.every, marched = samples * o.every;
  spread_image result;
  traces rest;
  {
    runner forward(p, o.how, engine);
    checks::run_with_breaks(forward, steps, o.between);
    traces synthetic;
    for (std::size_t i = 0; i < shot.receivers.size(); ++i) synthetic.push_back(forward.trace(i));
    rest = residual(synthetic);
  }
  for (const auto& trace : rest)
    for (const f32 r : trace) result.misfit += 0.5 * f64{r} * f64{r};
  Problem alone = adjoint_of(p, rest, marched);
  kind::shot(alone).receivers.clear();
  runner backward(alone, o.how, engine);
  const grid::state_on_pes<f32> there = backward.on_pes();
  checks::reversed_run<Problem> forward(p, samples, o, engine);
  const kind of(p, there);
  std::vector<f64> gradient, energy;
  forward.each([&](i64 j, const sample& before, const sample& now, const sample& after) {
    checks::run_with_breaks(backward, (samples - j) * o.every - backward.time(), o.between);
    const sample w = checks::own_fields(there);
    gradient.resize(w[0].size()), energy.resize(w[0].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      std::array<f64, kind::fields> adjoint, second;
      f64 pressure = 0;
      for (std::size_t f = 0; f < adjoint.size(); ++f) {
        adjoint[f] = f64{w[f][i]};
        second[f] = f64{after[f][i]} - 2 * f64{now[f][i]} + f64{before[f][i]};
        pressure += kind::shares_of_pressure[f] * second[f];
      }
      gradient[i] += of.product(i, adjoint, second), energy[i] += pressure * pressure;
    }
  });
  const f64 apart = o.every * shot.time_step(), volume = shot.spacing * shot.spacing * shot.spacing;
  const auto array_of = [&](const std::vector<f64>& sums, f64 factor) {
    std::vector<f32> own;
    for (const f64 sum : sums) own.push_back(static_cast<f32>(factor * sum));
    return grid::array_of(shot.size, there.blocks, std::move(own));
  };
  result.size = shot.size, result.blocks = there.blocks;
  result.gradient = array_of(gradient, -volume * o.every / (apart * apart));
  result.illumination = array_of(energy, volume * o.every / (apart * apart * apart * apart));
  result.forward_steps = steps + forward.steps();
  return result;
}

/// The same on this computer, with all cells.
template <class Problem>
image migrate(const Problem& p, i64 steps, const std::function<traces(const traces&)>& residual,
              const imaging_options& o = {}) {
  const spread_image found = migrate_on_pes(p, steps, residual, o);
  const auto whole = [&](const grid::line_array<const f32>& a) {
    std::vector<f32> all(found.size.count());
    grid::each_own_line(found.blocks, a, [&](int x, int y, std::span<const f32> line) {
      std::copy(line.begin(), line.end(), &all[found.size.index({x, y, 0})]);
    });
    return all;
  };
  return {whole(found.gradient), whole(found.illumination), found.misfit, found.forward_steps};
}

}  // namespace wsl::wave25
