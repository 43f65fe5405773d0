// SPDX-License-Identifier: MIT
// The front end of wave25: a problem in, fields and traces out.
//   wave25::simulation s{problem};   // checks the problem, lays it out, starts a fabric
//   s.run(1000);
//   s.field(), s.trace(0)
// `simulation` runs blocks of lines on this computer, and `wafer_simulation<nz>` one line a PE within the
// limits of a machine, with the same PE program. Their results depend neither on the partition of the grid
// nor on threads, bit for bit.
#pragma once
#include <tuple>

#include "../../host/device.hpp"
#include "../../support/bad_argument.hpp"
#include "wave_pe.hpp"

namespace wsl::wave25 {

/// The resources of this computer for a simulation; 0 leaves a choice to the library.
struct options {
  int wide = 0, high = 1;  ///< PEs
  int depth = 0;           ///< steps between two exchanges
  int threads = 0;         ///< as threaded{.threads}
};

/// A state from which a simulation can continue. Arrays of x * y * z cells, z fastest, then y. `phi` is what
/// the border remembers: a number a cell of a pml, what the lines of a cpml have, one after the other, and
/// nothing of others.
struct state {
  i64 time = 0;  ///< steps done
  std::vector<f32> now, before, phi;
  std::vector<std::vector<f32>> traces;
};

namespace checks {

/// The numbers that the border of a problem remembers: where those of each line begin, in the order of the
/// lines, and their end.
inline std::vector<std::size_t> begins_of_memory(const problem& p) {
  std::vector<std::size_t> begins{0};
  if (p.edge != border::pml && p.edge != border::cpml) return begins;
  const frame_memory::arrays of(p);
  for (int x = 0; x < p.size.x; ++x)
    for (int y = 0; y < p.size.y; ++y)
      begins.push_back(begins.back() +
                       (p.edge == border::pml ? static_cast<std::size_t>(p.size.z) : of.words(x, y)));
  return begins;
}

}  // namespace checks

template <class Storage, class Program = wave_pe<Storage>>
class simulation_on {
 public:
  using program = Program;

  /// Throws std::invalid_argument if the problem or its partition is invalid, and fault if the machine is
  /// too small for it.
  template <class Engine>
  simulation_on(const problem& p, const partition& cut, const machine& target, const Engine& engine)
      : problem_(checked(p, cut)),
        step_(p.time_step()),
        cut_(cut),
        fabric_(plan<Storage, Program>(target, cut.wide, cut.high), engine),
        memory_begins_(checks::begins_of_memory(p)),
        traces_(p.receivers.size()) {
    each_tile([&](tile<Storage>& t, coord pe) {
      t.prepare(problem_, cut_, pe);
      for (station& s : t.stations()) (s.gives ? givers_ : takers_).push_back({pe, &s});
    });
    // A receiver that lies in several lines sums them in an order that no partition changes.
    std::sort(takers_.begin(), takers_.end(), [](const at_pe& a, const at_pe& b) {
      const station &s = *a.where, &t = *b.where;
      return std::tuple(s.number, s.at.x, s.at.y) < std::tuple(t.number, t.at.x, t.at.y);
    });
  }

  const problem& of() const { return problem_; }
  const partition& cut() const { return cut_; }
  /// Steps done.
  i64 time() const { return time_; }

  /// The fabric on which it runs: its time_report says where the cycles of an engine that counts them go.
  fabric& wafer() { return fabric_; }

  /// Marches `steps` time steps. Returns the cycles that they took on an engine that counts them, with the
  /// arithmetic of a wafer's lines; that of blocks, which are for this computer, is not charged.
  u64 run(i64 steps) {
    u64 cycles = 0;
    while (steps > 0) {
      const int now = static_cast<int>(std::min<i64>(steps, most_steps_a_launch));
      give(now);
      cycles += fabric_.template launch<&program::march>(all, now).cycles;
      time_ += now;
      take(now);
      steps -= now;
    }
    return cycles;
  }

  /// The field after the last step: x * y * z cells, z fastest, then y.
  std::vector<f32> field() { return gather(&tile<Storage>::now); }
  /// The trace of receiver i, one sample a step.
  const std::vector<f32>& trace(std::size_t i) const { return traces_[i]; }

  state save() {
    std::vector<f32> remembered(memory_begins_.back());
    each_memory([&](std::span<f32> line, std::size_t at, coord pe) {
      fabric_.bring(pe, line);
      std::copy(line.begin(), line.end(), remembered.data() + at);
    });
    return {time_, gather(&tile<Storage>::now), gather(&tile<Storage>::before), std::move(remembered),
            traces_};
  }
  /// Continues from a state of the same problem, or from any field and the one before it: then phi and
  /// traces may be empty. Throws std::invalid_argument for a state of another size.
  void restore(const state& s) {
    const std::size_t n = problem_.size.count();
    if (s.time < 0 || s.now.size() != n || s.before.size() != n ||
        (!s.phi.empty() && s.phi.size() != memory_begins_.back()) ||
        (!s.traces.empty() && s.traces.size() != traces_.size()))
      support::bad_argument({"wave25: the state is not one of this problem: it has ", s.now.size(),
                             " cells and ", s.traces.size(), " traces, the problem ", n, " and ",
                             traces_.size()});
    time_ = s.time;
    each_tile([&](tile<Storage>& t, coord) { t.set_time(time_); });
    scatter(s.now, &tile<Storage>::now);
    scatter(s.before, &tile<Storage>::before);
    each_memory([&](std::span<f32> line, std::size_t at, coord) {
      if (s.phi.empty()) std::fill(line.begin(), line.end(), 0.f);
      else std::copy_n(s.phi.data() + at, line.size(), line.data());
    });
    traces_ = s.traces.empty() ? std::vector<std::vector<f32>>(traces_.size()) : s.traces;
  }

 private:
  static const problem& checked(const problem& p, const partition& cut) {
    p.check();
    if (cut.wide < 1 || cut.high < 1 || cut.wide > p.size.x || cut.high > p.size.y)
      support::bad_argument({"wave25: ", text(p.size), " cells have no block for each of ", cut.wide, " x ",
                             cut.high, " PEs; take at most one PE for each line along z"});
    if (cut.depth < 1 || cut.depth > most_steps_a_launch)
      support::bad_argument(
          {"wave25: PEs exchange lines after 1 to ", most_steps_a_launch, " steps, not after ", cut.depth});
    if (const char* why = Storage::misfit(cut)) support::bad_argument({"wave25: ", why});
    if (!Storage::has_frame && p.edge != border::reflects)
      support::bad_argument(
          {"wave25: the PEs' program has no frame, which a border that absorbs needs: take one_line<nz>"});
    if (!Storage::has_stretching && p.edge == border::cpml)
      support::bad_argument({"wave25: a PE of a wafer has no memory for a cpml: take a pml"});
    return p;
  }

  tile<Storage>& tile_of(coord pe) { return fabric_.template program_at<program>(pe).here; }
  template <class F>
  void each_tile(F f) {
    for (int y = 0; y < cut_.high; ++y)
      for (int x = 0; x < cut_.wide; ++x) f(tile_of({x, y}), coord{x, y});
  }

  void give(int steps) {
    std::vector<std::array<f32, most_steps_a_launch>> emitted(problem_.sources.size());
    for (std::size_t k = 0; k < emitted.size(); ++k)
      for (int i = 0; i < steps; ++i)
        emitted[k][static_cast<std::size_t>(i)] = f32(problem_.sources[k].sample(time_ + i, step_));
    for (const at_pe& s : givers_) s.where->samples = emitted[static_cast<std::size_t>(s.where->number)];
  }
  void take(int steps) {
    const auto n = static_cast<std::size_t>(steps);
    for (std::size_t k = 0; k < takers_.size();) {
      const int number = takers_[k].where->number;
      std::array<f64, most_steps_a_launch> sum{};
      for (; k < takers_.size() && takers_[k].where->number == number; ++k) {
        const std::span<f32> samples = std::span(takers_[k].where->samples).first(n);
        fabric_.bring(takers_[k].pe, samples);
        for (std::size_t i = 0; i < n; ++i) sum[i] += f64{samples[i]};
      }
      std::vector<f32>& to = traces_[static_cast<std::size_t>(number)];
      for (std::size_t i = 0; i < n; ++i) to.push_back(f32(sum[i]));
    }
  }

  /// What the border remembers of each line, and where that is among the numbers of all lines.
  template <class F>
  void each_memory(F f) {
    if (memory_begins_.back() == 0) return;
    each_tile([&](tile<Storage>& t, coord pe) {
      const lines own = cut_.own(pe);
      for (int x = own.x.from; x < own.x.to; ++x)
        for (int y = own.y.from; y < own.y.to; ++y)
          f(t.memory(x, y),
            memory_begins_[problem_.size.index({x, y, 0}) / static_cast<std::size_t>(problem_.size.z)], pe);
    });
  }

  using line_of = f32* (tile<Storage>::*)(int, int);
  template <class F>
  void each_line(line_of which, F f) {
    each_tile([&](tile<Storage>& t, coord pe) {
      const lines own = cut_.own(pe);
      for (int x = own.x.from; x < own.x.to; ++x)
        for (int y = own.y.from; y < own.y.to; ++y) f((t.*which)(x, y), problem_.size.index({x, y, 0}), pe);
    });
  }
  std::vector<f32> gather(line_of which) {
    std::vector<f32> cells(problem_.size.count());
    each_line(which, [&](f32* line, std::size_t at, coord pe) {
      fabric_.bring(pe, std::span(line, static_cast<std::size_t>(problem_.size.z)));
      std::copy_n(line, problem_.size.z, cells.data() + at);
    });
    return cells;
  }
  void scatter(const std::vector<f32>& cells, line_of which) {
    each_line(which, [&](f32* line, std::size_t at, coord) {
      std::copy_n(cells.data() + at, problem_.size.z, line);
    });
  }

  problem problem_;
  f64 step_;  ///< s
  partition cut_;
  fabric fabric_;
  i64 time_ = 0;
  struct at_pe {
    coord pe;
    station* where;
  };
  std::vector<at_pe> givers_, takers_;
  std::vector<std::size_t> memory_begins_;
  std::vector<std::vector<f32>> traces_;
};

/// On this computer: blocks of many lines, one for each thread unless `how` chooses otherwise.
class simulation : public simulation_on<block> {
 public:
  explicit simulation(const problem& p, const options& how = {})
      : simulation_on(p, choose(p, how), host, threaded{.threads = how.threads, .pes_per_partition = 1}) {}

 private:
  static partition choose(const problem& p, const options& how) {
    const int threads = how.threads > 0 ? how.threads : default_threads();
    const int wide = how.wide ? how.wide : std::clamp(p.size.x / 32, 1, threads);
    // Deeper exchanges save memory traffic inside a block and compute more cells twice at its ends.
    const int depth = how.depth                    ? how.depth
                      : wide == 1 && how.high == 1 ? 8
                                                   : std::clamp(p.size.x / wide / 16, 1, 8);
    return {p.size, wide, how.high, depth};
  }
};

/// One line of nz cells a PE, within the limits of a machine, on any engine.
template <int nz, class Program = wave_pe<one_line<nz>>>
class wafer_simulation : public simulation_on<typename Program::storage, Program> {
 public:
  template <class Engine = threaded>
  explicit wafer_simulation(const problem& p, const machine& target = wse2, const Engine& engine = {})
      : simulation_on<typename Program::storage, Program>(p, {p.size, p.size.x, p.size.y, 1}, target,
                                                          engine) {}
};

}  // namespace wsl::wave25
