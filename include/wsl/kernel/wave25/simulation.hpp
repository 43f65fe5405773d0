// SPDX-License-Identifier: MIT
// The front end of wave25: a problem in, fields and traces out.
//   wave25::simulation s{problem};   // checks the problem, lays it out, starts a fabric
//   s.run(1000);
//   s.field(), s.trace(0)
// `simulation` runs blocks of lines on this computer, and `wafer_simulation<nz>` one line a PE within the
// limits of a machine, with the same PE program. Their results depend neither on the partition of the grid
// nor on threads, nor on the ranks of `mpi::world()`, bit for bit. A rank has the cells of its own PEs only;
// then all functions of a simulation are collective, and all ranks get the same.
#pragma once
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "../../fabric/host_gather.hpp"
#include "../../host/device.hpp"
#include "../../support/bad_argument.hpp"
#include "../fail_together.hpp"
#include "../pe_a_thread.hpp"
#include "../stencil/array_fingerprint.hpp"
#include "../stencil/state_on_pes.hpp"
#include "problem_fingerprint.hpp"
#include "wave_pe.hpp"

namespace wsl::wave25 {

/// The resources of this computer for a simulation; 0 leaves a choice to the library.
struct options {
  int wide = 0, high = 0;  ///< PEs
  int depth = 0;           ///< steps between two exchanges
  int threads = 0;         ///< as threaded{.threads}
};

/// A state from which a simulation can continue. Arrays of x * y * z cells, z fastest, then y. `phi` is what
/// the border remembers: a number a cell of a pml, what the lines of a cpml have, one after the other, and
/// nothing of others.
struct state {
  i64 time = 0;  ///< steps done
  std::vector<f32> now, before, phi;
  std::vector<std::vector<f32>> traces;  ///< one number a step, since the run began or went on without traces
};

namespace checks {

/// Throws std::invalid_argument for a part of a state that is not as long as the problem's.
inline void length(const char* maker, const std::string& part, std::size_t has, std::size_t belong) {
  if (has != belong)
    support::bad_argument({maker, ": the state is not one of this problem: its ", part, " has ", has,
                           " numbers, and that of the problem has ", belong});
}
/// Throws std::invalid_argument for traces of a state after so many steps that no run has left. There is one
/// for each receiver, or none. They may be shorter than the run, which may have begun without them.
inline void traces(const char* maker, i64 time, const std::vector<std::vector<f32>>& all,
                   std::size_t receivers) {
  if (time < 0)
    support::bad_argument({maker, ": the state is after ", time, " steps; a run has done at least 0"});
  if (!all.empty() && all.size() != receivers)
    support::bad_argument({maker, ": the state is after ", time, " steps and has ", all.size(),
                           " traces; the problem has ", receivers, " receivers"});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].size() != all[0].size() || static_cast<i64>(all[i].size()) > time)
      support::bad_argument({maker, ": the state is after ", time, " steps, its trace 0 has ", all[0].size(),
                             " numbers and its trace ", i, " has ", all[i].size(),
                             "; traces have one a step, or leave out all of them"});
}
inline void finite(const char* maker, const char* what, const std::vector<f32>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      support::bad_argument(
          {maker, ": ", what, " of the state is not a finite number at index ", i, " of ", numbers.size()});
}

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
      : problem_(checked(p, cut, engine)),
        step_(p.time_step()),
        cut_(cut),
        fabric_(plan<Storage, Program>(target, cut.wide, cut.high), engine),
        processes_(engine),
        memory_begins_(checks::begins_of_memory(p)),
        traces_(p.receivers.size()) {
    problem_.step = step_;  // found once, and not by each PE in all velocities
    kernel::require_same(engine, "problem or partition", [&] {
      support::fingerprint f;
      f.add(fingerprint_of(problem_)), f.add(cut_.wide), f.add(cut_.high), f.add(cut_.depth);
      return f.value();
    });
    kernel::each_own_pe<program>(fabric_,
                                 [&](program& one, coord pe) { one.here.prepare(problem_, cut_, pe); });
    each_subdomain([&](subdomain<Storage>& t, coord pe) {
      for (station& s : t.stations()) {
        if (s.gives) givers_.push_back(&s);
        else takers_.push_back({pe, s.at, s.number, &s});
      }
    });
    each_pe([&](coord pe) {
      if (!fabric_.here(pe)) note_takers(pe);
    });
    // A receiver that lies in several lines sums them in an order that no partition changes.
    std::sort(takers_.begin(), takers_.end(), [](const taker& s, const taker& t) {
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
  /// arithmetic of a wafer's lines; that of blocks, which are for this computer, is not charged. Throws
  /// std::invalid_argument for fewer than 0 steps; and fault, on all ranks, if they do not ask for the same.
  u64 run(i64 steps) {
    require_same_call("run", steps);
    if (steps < 0) support::bad_argument({"wave25: run(", steps, ") asks for fewer than 0 steps"});
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
  std::vector<f32> field() {
    require_same_call("field");
    return cells_of(&subdomain<Storage>::now);
  }
  /// Its cells with one position along an axis, 0 for x, 1 for y and 2 for z, in the order of the other axes.
  /// Throws std::invalid_argument if there is no such axis or position.
  std::vector<f32> slice(int axis, int at) {
    require_same_call("slice", axis, at);
    const int n[] = {problem_.size.x, problem_.size.y, problem_.size.z};
    if (axis < 0 || axis > 2 || at < 0 || at >= n[axis])
      support::bad_argument({"wave25: there is no slice ", at, " along axis ", axis, " of a grid of ",
                             text(problem_.size), " cells, whose axes count from 0"});
    return cells_of(&subdomain<Storage>::now, axis, at);
  }
  /// Calls f(block, line) for the blocks of lines that this process has: line(x, y) is the field after the
  /// last step in the cells of one of these lines, until the next one is asked for, or the next run; `line`
  /// may be kept as long as the simulation. For fields that are larger than the memory of a process.
  template <class F>
  void each_own_block(F f) {
    grid::each_own_block(on_pes(), f);
  }
  /// The trace of receiver i, one sample a step; throws std::invalid_argument if there is no such receiver.
  const std::vector<f32>& trace(std::size_t i) const {
    if (i >= traces_.size())
      support::bad_argument(
          {"wave25: there is no receiver ", i, "; the problem has ", traces_.size(), ", which count from 0"});
    return traces_[i];
  }

  state save() {
    require_same_call("save");
    auto remembered = kernel::room_for<f32>(fabric_, memory_begins_.back());
    host_gather all(fabric_);
    each_memory([&](const f32* line, std::size_t n, std::size_t at, coord pe) {
      all.add(pe, line, remembered.data() + at, n);
    });
    all.run();
    return {time_, cells_of(&subdomain<Storage>::now), cells_of(&subdomain<Storage>::before),
            std::move(remembered), traces_};
  }
  /// Continues from a state of the same problem, or from any field and the one before it: then phi and
  /// traces may be empty. Throws std::invalid_argument for a state of another size, with traces that differ
  /// in length or are longer than its run, or with a number that is not finite, and fault, on all ranks, if
  /// they give different ones; then the simulation is what it was.
  void restore(const state& s) {
    processes_.require_same("state of a wave25 simulation", [&](support::fingerprint& f) {
      f.add(s.time), grid::add_arrays(f, s.traces);
      for (const auto* all : {&s.now, &s.before, &s.phi}) grid::add_array(f, std::span(*all));
    });
    const std::size_t n = problem_.size.count();
    checks::length("wave25", "field `now`", s.now.size(), n);
    checks::length("wave25", "field `before`", s.before.size(), n);
    if (!s.phi.empty())
      checks::length("wave25", "`phi`, what the border remembers,", s.phi.size(), memory_begins_.back());
    checks::traces("wave25", s.time, s.traces, traces_.size());
    checks::finite("wave25", "the field", s.now), checks::finite("wave25", "the field before", s.before);
    checks::finite("wave25", "what the border remembers", s.phi);
    time_ = s.time;
    each_subdomain([&](subdomain<Storage>& t, coord) { t.set_time(time_); });
    scatter(s.now, &subdomain<Storage>::now);
    scatter(s.before, &subdomain<Storage>::before);
    each_memory([&](f32* line, std::size_t words, std::size_t at, coord) {
      if (!line) return;
      if (s.phi.empty()) std::fill_n(line, words, 0.f);
      else std::copy_n(s.phi.data() + at, words, line);
    });
    traces_ = s.traces.empty() ? std::vector<std::vector<f32>>(traces_.size()) : s.traces;
  }

  /// The numbers of a state where they are.
  grid::state_on_pes<f32> on_pes() {
    const auto begin = [size = problem_.size](int x, int y) { return size.index({x, y, 0}); };
    const auto field = [&](line_of which) {
      return grid::line_array<f32>{begin, [this, which](coord pe, int x, int y) {
                                     return std::span<f32>((subdomain_of(pe).*which)(x, y),
                                                           static_cast<std::size_t>(problem_.size.z));
                                   }};
    };
    grid::state_on_pes<f32> all;
    all.on = &fabric_, all.size = problem_.size;
    all.now = {field(&subdomain<Storage>::now)}, all.before = {field(&subdomain<Storage>::before)};
    all.border = {[this](int x, int y) { return begin_of_memory(x, y); },
                  [this](coord pe, int x, int y) { return subdomain_of(pe).memory(x, y); }};
    all.field = {begin, all.now[0].line};
    for (int x = 0; x < cut_.wide; ++x)
      for (int y = 0; y < cut_.high; ++y)
        all.blocks.push_back({{x, y}, cut_.own({x, y}), fabric_.here({x, y})});
    return all;
  }
  /// Continues after so many steps, with a trace for each receiver or none, from the numbers that
  /// `fill(on_pes())` sets: all of those of this process, finite, which nothing checks. Throws as the other
  /// one does for steps and traces.
  template <class F>
  void restore(i64 time, std::vector<std::vector<f32>> traces, F fill) {
    processes_.require_same("time or traces of a wave25 simulation's state",
                            [&](support::fingerprint& f) { f.add(time), grid::add_arrays(f, traces); });
    checks::traces("wave25", time, traces, traces_.size());
    if (traces.empty()) traces.resize(traces_.size());
    time_ = time, traces_ = std::move(traces);
    each_subdomain([&](subdomain<Storage>& t, coord) { t.set_time(time_); });
    fill(on_pes());
  }

 private:
  /// Throws fault, on all ranks, if they call another function, with other numbers or after other steps.
  template <class... Number>
  void require_same_call(std::string_view call, const Number&... arguments) const {
    constexpr const char* what = "call of a wave25 simulation";
    processes_.require_same(
        what,
        [&](support::fingerprint& f) {
          f.add(call.data(), call.size()), f.add(time_), (f.add(arguments), ...);
        },
        [&](kernel::named_values& all) {
          all.add(what, kernel::agreement::text_of_call(call, arguments...));
          all.add("number of steps of a wave25 simulation", time_);
        });
  }
  template <class Engine>
  static const problem& checked(const problem& p, const partition& cut, const Engine& engine) {
    kernel::check_alike(engine, "problem or partition", [&] { check(p, cut); });
    return p;
  }
  static void check(const problem& p, const partition& cut) {
    p.check();
    if (cut.wide < 1 || cut.high < 1 || cut.wide > p.size.x || cut.high > p.size.y)
      support::bad_argument({"wave25: ", text(p.size), " cells have no block for each of ", cut.wide, " x ",
                             cut.high, " PEs; take at most ", p.size.x, " x ", p.size.y,
                             " of them, one for each line along z"});
    if (cut.depth < 1 || cut.depth > most_steps_a_launch)
      support::bad_argument(
          {"wave25: PEs exchange lines after 1 to ", most_steps_a_launch, " steps, not after ", cut.depth});
    if (const char* why = Storage::misfit(cut)) support::bad_argument({"wave25: ", why});
    if (!Storage::has_frame && p.edge != border::reflects)
      support::bad_argument(
          {"wave25: the PEs' program has no frame, which a border that absorbs needs: take one_line<nz>"});
    if (!Storage::has_stretching && p.edge == border::cpml)
      support::bad_argument({"wave25: a PE of a wafer has no memory for a cpml: take a pml"});
  }

  subdomain<Storage>& subdomain_of(coord pe) { return fabric_.template program_at<program>(pe).here; }
  template <class F>
  void each_pe(F f) {
    for (int y = 0; y < cut_.high; ++y)
      for (int x = 0; x < cut_.wide; ++x) f(coord{x, y});
  }
  /// Those of this process.
  template <class F>
  void each_subdomain(F f) {
    each_pe([&](coord pe) {
      if (fabric_.here(pe)) f(subdomain_of(pe), pe);
    });
  }

  /// The receivers on a PE of another process.
  void note_takers(coord pe) {
    for (std::size_t i = 0; i < problem_.receivers.size(); ++i)
      each_station(problem_, problem_.receivers[i], 0, false, i, cut_.ever_own(pe),
                   [&](const station& s) { takers_.push_back({pe, s.at, s.number, nullptr}); });
  }

  void give(int steps) {
    std::vector<std::array<f32, most_steps_a_launch>> emitted(problem_.sources.size());
    for (std::size_t k = 0; k < emitted.size(); ++k)
      for (int i = 0; i < steps; ++i)
        emitted[k][static_cast<std::size_t>(i)] = f32(problem_.sources[k].sample(time_ + i, step_));
    for (station* s : givers_) s->samples = emitted[static_cast<std::size_t>(s->number)];
  }
  void take(int steps) {
    const auto n = static_cast<std::size_t>(steps);
    std::vector<std::array<f32, most_steps_a_launch>> taken(takers_.size());
    host_gather all(fabric_);
    for (std::size_t k = 0; k < takers_.size(); ++k)
      all.add(takers_[k].pe, takers_[k].here ? takers_[k].here->samples.data() : nullptr, taken[k].data(), n);
    all.run();
    for (std::size_t k = 0; k < takers_.size();) {
      const int number = takers_[k].number;
      std::array<f64, most_steps_a_launch> sum{};
      for (; k < takers_.size() && takers_[k].number == number; ++k)
        for (std::size_t i = 0; i < n; ++i) sum[i] += f64{taken[k][i]};
      std::vector<f32>& to = traces_[static_cast<std::size_t>(number)];
      for (std::size_t i = 0; i < n; ++i) to.push_back(f32(sum[i]));
    }
  }

  /// Calls f(subdomain, x, y, PE) for all lines; the subdomain is null on another process.
  template <class F>
  void each_line(F f) {
    each_pe([&](coord pe) {
      subdomain<Storage>* const t = fabric_.here(pe) ? &subdomain_of(pe) : nullptr;
      const lines own = cut_.own(pe);
      for (int x = own.x.from; x < own.x.to; ++x)
        for (int y = own.y.from; y < own.y.to; ++y) f(t, x, y, pe);
    });
  }
  /// Of what the border remembers of a line, among the numbers of all lines.
  std::size_t begin_of_memory(int x, int y) const {
    if (memory_begins_.back() == 0) return 0;
    return memory_begins_[problem_.size.index({x, y, 0}) / static_cast<std::size_t>(problem_.size.z)];
  }
  /// What the border remembers of each line, null on another process; how many numbers that are, and where
  /// among those of all lines.
  template <class F>
  void each_memory(F f) {
    if (memory_begins_.back() == 0) return;
    each_line([&](subdomain<Storage>* t, int x, int y, coord pe) {
      const std::size_t at = begin_of_memory(x, y), words = begin_of_memory(x, y + 1) - at;
      f(t ? t->memory(x, y).data() : nullptr, words, at, pe);
    });
  }

  using line_of = f32* (subdomain<Storage>::*)(int, int);
  /// All cells, or those with one position along an axis.
  std::vector<f32> cells_of(line_of which, int axis = -1, int at = 0) {
    const cells& all = problem_.size;
    const grid::range x = axis == 0 ? grid::range{at, at + 1} : grid::range{0, all.x},
                      y = axis == 1 ? grid::range{at, at + 1} : grid::range{0, all.y},
                      z = axis == 2 ? grid::range{at, at + 1} : grid::range{0, all.z};
    const cells part{x.size(), y.size(), z.size()};
    auto found = kernel::room_for<f32>(fabric_, part.count());
    host_gather from(fabric_);
    each_line([&](subdomain<Storage>* t, int cx, int cy, coord pe) {
      if (x.has(cx) && y.has(cy))
        from.add(pe, t ? (t->*which)(cx, cy) + z.from : nullptr,
                 found.data() + part.index({cx - x.from, cy - y.from, 0}),
                 static_cast<std::size_t>(z.size()));
    });
    from.run();
    return found;
  }
  void scatter(const std::vector<f32>& cells, line_of which) {
    each_line([&](subdomain<Storage>* t, int x, int y, coord) {
      if (t) std::copy_n(cells.data() + problem_.size.index({x, y, 0}), problem_.size.z, (t->*which)(x, y));
    });
  }

  problem problem_;
  f64 step_;  ///< s
  partition cut_;
  fabric fabric_;
  kernel::agreement processes_;
  i64 time_ = 0;
  struct taker {
    coord pe;
    cells at;
    int number;
    station* here;  ///< null on another process
  };
  std::vector<station*> givers_;  ///< of this process
  std::vector<taker> takers_;     ///< of all
  std::vector<std::size_t> memory_begins_;
  std::vector<std::vector<f32>> traces_;
};

/// On this computer: blocks of many lines, one for each thread unless `how` chooses otherwise.
class simulation : public simulation_on<block> {
 public:
  /// On the threads of this computer; or `simulation(p, how, mpi::world())`, on those of all ranks.
  template <class Engine = threaded>
  explicit simulation(const problem& p, const options& how = {}, const Engine& engine = {})
      : simulation_on(p, choose(p, how, kernel::threads_in_all(engine, how.threads)), host,
                      kernel::with_partitions(engine, how.threads)) {}

 private:
  /// The quickest partition with a PE for each thread, of those that `how` leaves open.
  static partition choose(const problem& p, const options& how, int threads) {
    constexpr int narrowest = 16;
    const auto open = [&](int given, int cells, int taken) {
      const int most = std::clamp(cells / narrowest, 1, std::max(1, threads / std::max(1, taken)));
      return given ? grid::range{given, given + 1} : grid::range{1, most + 1};
    };
    partition best{p.size, how.wide, how.high, how.depth};
    f64 least = std::numeric_limits<f64>::infinity();
    const grid::range high = open(how.high, p.size.y, how.wide);
    for (int h = high.from; h < high.to; ++h) {
      const grid::range wide = open(how.wide, p.size.x, h);
      for (int w = wide.from; w < wide.to; ++w)
        for (const auto& [depth, time_of_cell] : times_of_cells) {
          const partition cut{p.size, w, h, how.depth ? how.depth : depth};
          if (const f64 time = time_of_step(cut, time_of_cell); time < least) least = time, best = cut;
        }
    }
    return best;
  }

  /// How long a cell takes with so many steps between exchanges. The unit of these times is that of a cell
  /// that comes from a neighbour in x; they were measured with 1 to 16 PEs of 256^3 cells, one at a time, on
  /// a computer with AVX-512. With depths between these the last round of a run would more often be short.
  static constexpr std::pair<int, f64> times_of_cells[] = {{1, 2.3}, {2, 1.65}, {4, 1.1}, {8, 0.95}};
  static f64 time_of_step(const partition& cut, f64 time_of_cell) {
    constexpr f64 from_y = 2.5;    // its lines come one plane at a time
    constexpr f64 in_a_drift = 2;  // and what comes is read once more, as a block is computed in two parts
    const int x_sides = cut.drifts() ? 0 : std::min(cut.wide - 1, 2), y_sides = std::min(cut.high - 1, 2);
    // The means of a step: planes or lines that are computed twice at a side, and those that come from it.
    const f64 twice = 0.5 * reach * (cut.depth - 1), come = reach * (2 - 1.0 / cut.depth);
    const f64 planes = static_cast<f64>(cut.size.x) / cut.wide + x_sides * twice,
              rows = static_cast<f64>(cut.size.y) / cut.high + y_sides * twice;
    const f64 drifting = cut.drifts() ? in_a_drift * reach * (2 + 1.0 / cut.depth) : 0;
    return time_of_cell * planes * rows + (come * x_sides + drifting) * rows +
           come * from_y * y_sides * planes;
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
