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
#pragma once
#include <algorithm>
#include <functional>
#include <optional>

#include "simulation.hpp"

namespace wsl::wave25 {

/// One a receiver, one sample a step.
using traces = std::vector<std::vector<f32>>;

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
  f64 memory = 1e9;  ///< bytes for states and fields of the forward run; the two runs themselves come on top
  int every = 1;     ///< steps between two fields that are correlated; 1 for the exact gradient
  options how = {};  ///< as of simulation
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

namespace checks {

/// The forward run in reverse. Samples are fields `every` steps apart; a block of samples is recomputed at
/// once.
class reversed_run {
 public:
  /// `samples` fields follow the first one, which is zero.
  reversed_run(const problem& p, i64 samples, const imaging_options& o)
      : every_(o.every), samples_(samples), simulation_(without_receivers(p), o.how) {
    // Memory in fields: a block has its samples and their two neighbours, a state two fields or three.
    const f64 fields = o.memory / (4. * static_cast<f64>(p.size.count()));
    const i64 state =
        2 + static_cast<i64>((begins_of_memory(p).back() + p.size.count() - 1) / p.size.count());
    if (fields < 4)
      support::bad_argument({"wave25: imaging needs memory for at least 4 fields of ", text(p.size),
                             " cells, which are ", 16 * p.size.count(), " bytes, and may have ",
                             static_cast<i64>(o.memory)});
    const i64 all = static_cast<i64>(std::min(fields, 1e12));
    block_ = std::clamp<i64>(all / 2 - 2, 1, samples);
    if (all < samples + 2)
      block_ =
          std::min(block_, std::max<i64>(1, static_cast<i64>(std::sqrt(2. * static_cast<f64>(samples)))));
    slots_ = static_cast<int>(std::clamp<i64>((all - block_ - 2) / state, 0, 10'000));
  }

  i64 steps() const { return steps_; }

  /// Calls visit(j, before, now, after), fields of samples j - 1, j and j + 1, for j from samples - 1 down to
  /// 0.
  template <class Visit>
  void each(Visit visit) {
    const state zero{0, std::vector<f32>(cells_()), std::vector<f32>(cells_()), {}, {}};
    reverse(zero, 0, (samples_ + block_ - 1) / block_, slots_, visit);
  }

 private:
  static problem without_receivers(problem p) {
    p.receivers.clear();
    return p;
  }
  std::size_t cells_() const { return simulation_.of().size.count(); }
  /// The sample at whose state block b begins: its first sample has a neighbour before it.
  i64 begin(i64 b) const { return std::max<i64>(b * block_ - 1, 0); }
  void advance(i64 to_sample) {
    const i64 n = to_sample * every_ - simulation_.time();
    simulation_.run(n), steps_ += n;
  }

  // Blocks first .. last - 1, from a state at the beginning of the first. A function that calls itself, for
  // the states that are kept are a stack.
  template <class Visit>
  void reverse(const state& from, i64 first, i64 last, int slots, Visit& visit) {
    while (last - first > 1 && slots > 0) {
      const i64 middle = first + std::clamp<i64>(kept_apart(last - first, slots), 1, last - first - 1);
      simulation_.restore(from);
      advance(begin(middle));
      const state there = simulation_.save();
      reverse(there, middle, last, slots - 1, visit);
      last = middle;
    }
    for (i64 b = last; b-- > first;) {
      simulation_.restore(from);
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
    std::vector<std::vector<f32>> u;  // samples from - 1 to `to`
    if (from == 0) u.emplace_back(cells_());
    for (i64 j = begin(b);; ++j) {
      u.push_back(simulation_.field());
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
};

}  // namespace checks

/// Runs a shot for `steps` steps, gives its traces to `residual`, which returns what they are too large by
/// (as many traces, no longer), and back-propagates that. Throws std::invalid_argument if the problem, the
/// residuals or the options are wrong.
inline image migrate(const problem& p, i64 steps, const std::function<traces(const traces&)>& residual,
                     const imaging_options& o = {}) {
  if (o.every < 1 || steps < 1)
    support::bad_argument({"wave25: imaging takes at least 1 step, and a field every 1 or more steps, not ",
                           steps, " and ", o.every});
  p.check();
  const i64 samples = (steps + o.every - 1) / o.every, marched = samples * o.every;
  image result;
  traces rest;
  {
    simulation forward(p, o.how);
    forward.run(steps);
    traces synthetic;
    for (std::size_t i = 0; i < p.receivers.size(); ++i) synthetic.push_back(forward.trace(i));
    rest = residual(synthetic);
  }
  for (const auto& trace : rest)
    for (const f32 r : trace) result.misfit += 0.5 * f64{r} * f64{r};
  const problem adjoint = adjoint_of(p, rest, marched);
  problem alone = adjoint;
  alone.receivers.clear();
  simulation backward(alone, o.how);
  checks::reversed_run forward(p, samples, o);
  std::vector<f64> gradient(p.size.count()), energy(p.size.count());
  forward.each(
      [&](i64 j, const std::vector<f32>& before, const std::vector<f32>& now, const std::vector<f32>& after) {
        backward.run((samples - j) * o.every - backward.time());
        const std::vector<f32> w = backward.field();
        for (std::size_t i = 0; i < w.size(); ++i) {
          const f64 second = f64{after[i]} - 2 * f64{now[i]} + f64{before[i]};
          gradient[i] += f64{w[i]} * second, energy[i] += second * second;
        }
      });
  const f64 apart = o.every * p.time_step(), volume = p.spacing * p.spacing * p.spacing;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    result.gradient.push_back(static_cast<f32>(-volume * o.every / (apart * apart) * gradient[i]));
    result.illumination.push_back(
        static_cast<f32>(volume * o.every / (apart * apart * apart * apart) * energy[i]));
  }
  result.forward_steps = steps + forward.steps();
  return result;
}

}  // namespace wsl::wave25
