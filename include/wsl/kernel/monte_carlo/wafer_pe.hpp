// SPDX-License-Identifier: MIT
// Cross sections on a wafer (Tramm et al., see fuel.hpp): a column of PEs owns some nuclides and a row one
// band of energies, so that the tables fit into the PEs' memories. Particles are sorted into their rows by
// exchanges with the neighbours above and below, balanced along the rows by a fixed number of exchanges with
// the next PE (diffusion), and then travel once around their row and collect contributions from every column.
// A PE knows no more than its neighbours' messages, each of which is a count and that many particles. What a
// PE computes is charged as a wafer would do it, particle after particle: scalar instructions to sort, and to
// find the interval of an energy, descriptor operations for its channels and for copies. The front end is
// wafer_fabric; see examples/35_particles.cpp.
#pragma once
#include <utility>

#include "../../collective/lane.hpp"
#include "../vector_work.hpp"
#include "bounded_list.hpp"
#include "fuel.hpp"
#include "sweep.hpp"

namespace wsl::monte_carlo {

/// Lanes to the neighbours above and below, and a ring along each row: seven colors, one less than a PE of
/// the wafer has input queues.
inline constexpr lane<f32> upward{0, north}, downward{2, south},
    around{.first = 4, .toward = east, .ends = lane_ends::ring};

/// A block of particles that travels: their number, their energies, which ascend in the last phase, and
/// their sums channel by channel.
template <int capacity>
class particle_block {
 public:
  list<f32, capacity, 1 + channels, 1> words;

  std::size_t size() const { return words.empty() ? 0 : static_cast<std::size_t>(words[0]); }
  std::span<f32> energies() { return std::span(words).subspan(1, size()); }
  std::span<f32> sums(int channel) {
    return std::span(words).subspan(1 + (1 + static_cast<std::size_t>(channel)) * size(), size());
  }
  /// Makes space for n particles, whose sums are zero.
  void resize(std::size_t n) {
    words.clear();
    words.resize(1 + (1 + channels) * n);
    words[0] = static_cast<f32>(n);
  }
};

template <wafer_capacity capacity>
class wafer_pe {
 public:
  /// The host gives the PE the tables of nuclides first .. last - 1 in its band. `low` and `high` are the
  /// band's edges.
  void load(const fuel& m, int first, int last, f32 low, f32 high) {
    low_ = low, high_ = high;
    std::vector<std::size_t> starts;
    table_.clear(), own_.clear();
    for (int n = first; n < last; ++n) {
      const nuclide_grid<f32> grid = m.grid(n);
      const auto from = static_cast<std::size_t>(interval_of(grid, low)),
                 to = static_cast<std::size_t>(interval_of(grid, high)) + 2;
      starts.push_back(table_.size());
      table_.resize(table_.size() + to - from);
      fill_rows(std::span(table_).subspan(starts.back()), grid.subspan(from, to - from));
    }
    for (std::size_t i = 0; i < starts.size(); ++i)
      own_.push_back({table_.data() + starts[i], m.densities[static_cast<std::size_t>(first) + i]});
  }
  /// Particles that start here.
  void put(std::span<const f32> energies) {
    home_.clear();
    arrived_.clear();
    append(arrived_, energies);
  }
  std::size_t held() const { return home_.size(); }
  /// The particles on this PE after the last phase.
  particle_block<capacity.particles>& finished() { return block_; }

  // ---- phase 1: each exchange moves a particle one row towards its band -------------------------

  void sort(pe& me) {
    rounds_ = me.height();
    me.activate<&wafer_pe::exchange>();
  }
  task exchange(pe& me) {
    me.spend(cycles_of_split(me.machine()));
    split(me);
    if (rounds_-- == 0) co_return;
    pending_ = 1;
    if (!me.north_edge())
      ++pending_, me.async(mov(upward.fabout(me), mem(std::span(above_))), then<&wafer_pe::sent_north>());
    if (!me.south_edge())
      ++pending_, me.async(mov(downward.fabout(me), mem(std::span(below_))), then<&wafer_pe::sent_south>());
    arrived_.clear();
    for (port side : {north, south}) {
      if (me.edge(side)) continue;
      const lane<f32>& comes = side == north ? downward : upward;
      co_await mov(&count_, comes.fabin(me, 1));
      co_await mov(arriving(arrived_), comes.fabin(me));
    }
    if (ended()) me.activate<&wafer_pe::exchange>();
  }
  void sent_north(pe& me) {
    if (ended()) me.activate<&wafer_pe::exchange>();
  }
  void sent_south(pe& me) {
    if (ended()) me.activate<&wafer_pe::exchange>();
  }

  // ---- phase 2: each round gives half of what is here to the next PE of the ring ----------------

  void diffuse(pe& me, int rounds) {
    rounds_ = me.width() > 1 ? rounds : 0;
    arrived_.clear();
    me.activate<&wafer_pe::spread>();
  }
  task spread(pe& me) {
    me.spend(kernel::vector_work(me.machine()).sums(1, static_cast<i64>(arrived_.size())).cycles());
    append(home_, arrived_);
    arrived_.clear();
    if (rounds_-- == 0) co_return;
    const std::size_t kept = home_.size() - home_.size() / 2;
    me.spend(kernel::vector_work(me.machine()).sums(1, static_cast<i64>(home_.size() - kept)).cycles());
    begin_message(above_);
    append(above_, std::span(home_).subspan(kept));
    finish_message(above_);
    home_.resize(kept);
    pending_ = 2;
    me.async(mov(around.fabout(me), mem(std::span(above_))), then<&wafer_pe::sent_half>());
    co_await mov(&count_, around.fabin(me, 1));
    co_await mov(arriving(arrived_), around.fabin(me));
    if (ended()) me.activate<&wafer_pe::spread>();
  }
  void sent_half(pe& me) {
    if (ended()) me.activate<&wafer_pe::spread>();
  }

  // ---- phase 3: every block of particles visits every PE of its row -----------------------------

  /// With a seed other than 0 points are chosen at random instead of interpolated.
  void circulate(pe& me, u32 seed) {
    seed_ = seed ? seed + static_cast<u32>(me.y() * me.width() + me.x()) * 2654435761u : 0;
    rounds_ = me.width();
    block_.resize(home_.size());
    me.spend(cycles_of_sort(me.machine()));
    std::sort(home_.begin(), home_.end());
    std::copy(home_.begin(), home_.end(), block_.energies().begin());
    me.activate<&wafer_pe::visit>();
  }
  task visit(pe& me) {
    add_own();
    me.spend(cycles_of_lookups(me.machine()));
    if (--rounds_ == 0) co_return;
    pending_ = 2;
    me.async(mov(around.fabout(me), mem(std::span(block_.words))), then<&wafer_pe::sent_block>());
    co_await mov(&count_, around.fabin(me, 1));
    next_.resize(static_cast<std::size_t>(count_));
    co_await mov(mem(std::span(next_.words).subspan(1)), around.fabin(me));
    if (ended()) take_block(me);
  }
  void sent_block(pe& me) {
    if (ended()) take_block(me);
  }

  using tasks = task_list<launch<&wafer_pe::sort>, launch<&wafer_pe::diffuse>, launch<&wafer_pe::circulate>,
                          local<&wafer_pe::exchange>, local<&wafer_pe::sent_north>,
                          local<&wafer_pe::sent_south>, local<&wafer_pe::spread>, local<&wafer_pe::sent_half>,
                          local<&wafer_pe::visit>, local<&wafer_pe::sent_block>,
                          sends<upward, downward, around>, reads<upward, downward, around>>;

 private:
  using particles = list<f32, capacity.particles>;
  using message = list<f32, capacity.particles, 1, 1>;

  static void append(auto& to, std::span<const f32> energies) {
    for (f32 e : energies) to.push_back(e);
  }
  static void begin_message(message& m) {
    m.clear();
    m.push_back(0);
  }
  static void finish_message(message& m) { m[0] = static_cast<f32>(m.size() - 1); }
  /// Makes space for count_ more particles at the end of a list.
  memory<f32> arriving(particles& some) const {
    const std::size_t had = some.size();
    some.resize(had + static_cast<std::size_t>(count_));
    return mem(std::span(some).subspan(had));
  }
  /// One part of an exchange has ended; returns whether it was the last.
  bool ended() { return --pending_ == 0; }

  /// Each particle that has arrived stays here or goes on. The first and the last band also hold the
  /// energies beyond them.
  void split(pe& me) {
    begin_message(above_), begin_message(below_);
    for (f32 e : arrived_) {
      if (e < low_ && !me.north_edge()) above_.push_back(e);
      else if (e >= high_ && !me.south_edge()) below_.push_back(e);
      else home_.push_back(e);
    }
    finish_message(above_), finish_message(below_);
  }

  void take_block(pe& me) {
    std::swap(block_, next_);
    me.activate<&wafer_pe::visit>();
  }
  void add_own() {
    nuclides_ = own_;
    f32* sum[channels];
    for (int k = 0; k < channels; ++k) sum[k] = block_.sums(k).data();
    const auto add = [&](std::size_t first, int count, const lane_sums<f32>& xs)
                         __attribute__((always_inline)) {
                           for (int k = 0; k < channels; ++k)
                             for (int i = 0; i < count; ++i)
                               sum[k][first + static_cast<std::size_t>(i)] += xs.of[k][i];
                         };
    const std::span<const f32> energies = block_.energies();
    if (seed_) sweep(energies, std::span(nuclides_), add, chosen_at_random(seed_++));
    else sweep(energies, std::span(nuclides_), add);
  }

  // ---- the time on a wafer ------------------------------------------------------------------------

  /// Each particle is compared with both edges of the band, stored and counted.
  u64 cycles_of_split(const machine& m) const {
    const auto each = static_cast<u64>(4 * m.instructions.simple + 3 * m.instructions.branch);
    return each * arrived_.size();
  }
  /// A merge sort: each of its comparisons is followed by a move, and by the next turn of a loop. Then the
  /// energies are copied and the sums set to zero.
  u64 cycles_of_sort(const machine& m) const {
    const u64 n = home_.size(),
              each = static_cast<u64>(3 * m.instructions.simple + 2 * m.instructions.branch);
    u64 passes = 0;
    while (u64{1} << passes < n) ++passes;
    return each * n * passes + kernel::vector_work(m).sums(1 + channels, static_cast<i64>(n)).cycles();
  }
  /// After add_own: a comparison for each particle and for each row that the sweep has passed. Then two
  /// weights, of four instructions, and for each of the two points a multiply-add of all channels, whose
  /// descriptor is loaded; those of the sums are a third load. A point that is chosen at random needs one
  /// multiply-add, and an instruction and a branch to choose.
  u64 cycles_of_lookups(const machine& m) const {
    const u64 n = block_.size(), step = static_cast<u64>(2 * m.instructions.simple + m.instructions.branch);
    const int points = seed_ ? 1 : 2;
    const u64 weights = static_cast<u64>(4 * m.instructions.simple + (seed_ ? m.instructions.branch : 0)),
              loads = static_cast<u64>((points + 1) * m.descriptor_load),
              sums = kernel::vector_work(m).products(points, channels).cycles();
    u64 cycles = 0;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto passed = static_cast<u64>(nuclides_[i].at - own_[i].at);
      cycles += step * (n + passed) + n * (weights + loads + sums);
    }
    return cycles;
  }

  f32 low_ = 0, high_ = 1;                       ///< its band
  list<table_row<f32>, capacity.points> table_;  ///< the tables of its nuclides in order
  list<ingredient<f32>, capacity.nuclides> own_, nuclides_;
  /// the energies of particles that are in their band, and of particles that have not been examined yet
  particles home_, arrived_;
  message above_, below_;  ///< the particles that leave this PE
  particle_block<capacity.particles> block_, next_;
  f32 count_ = 0;
  int rounds_ = 0, pending_ = 0;
  u32 seed_ = 0;
};

template <wafer_capacity capacity = wafer_capacity{}>
constexpr layout wafer_layout(const machine& target, int columns_of_pes, int rows_of_pes) {
  layout l{target, columns_of_pes, rows_of_pes};
  l.place<wafer_pe<capacity>>(all);
  return l.wire(upward, downward, around);
}

}  // namespace wsl::monte_carlo
