// SPDX-License-Identifier: MIT
// The front end of particles on a wafer: gives the PEs their tables and particles, runs the three phases, and
// returns the cross sections in the order in which the particles were given.
//   const fuel_problem p = make_fuel_problem(100'000);
//   wafer_fabric w{p.material, {.columns = 2, .rows = 25}};
//   const wafer_result r = w.look_up(p.energies);
// On the ranks of `mpi::world()` look_up is collective, and all ranks get the same bits. See
// examples/35_particles.cpp.
#pragma once
#include <cmath>
#include <numeric>

#include "../../fabric/host_gather.hpp"
#include "../../support/bad_argument.hpp"
#include "../pe_a_thread.hpp"
#include "run_statistics.hpp"
#include "wafer_pe.hpp"

namespace wsl::monte_carlo {

/// The grid that particles run on: nuclides over its columns, energies over its rows.
struct wafer_grid {
  int columns = 2, rows = 25;
  int threads = 0;            ///< as threaded{.threads}; 0 leaves it to WSL_THREADS or the cores
  int diffusion_rounds = 16;  ///< enough for a few columns; the publication takes 100 for 90
};

struct wafer_result {
  std::vector<cross_sections<f32>> found;  ///< the cross sections in the order of the energies
  load sorted, spread;                     ///< particles a PE after the first two phases
  f64 sort_seconds = 0, diffuse_seconds = 0, circulate_seconds = 0;
  outcome sort, diffuse, circulate;

  f64 seconds() const { return sort_seconds + diffuse_seconds + circulate_seconds; }
};

/// With a capacity, on a machine, it runs within that machine's limits: wafer_fabric<wafer_capacity{2, 240,
/// 90}> w{m, grid, wse2}.
template <wafer_capacity capacity = wafer_capacity{}>
class wafer_fabric {
  using program = wafer_pe<capacity>;

 public:
  /// Throws std::invalid_argument for an empty grid, for a negative number of rounds and for tables that do
  /// not ascend; fault where a PE has too little room, here or later.
  explicit wafer_fabric(const fuel& m, const wafer_grid& grid = {}, const machine& target = host)
      : wafer_fabric(m, grid, target, threaded{}) {}
  /// The same on any engine: `timed{}` counts the cycles of the three phases.
  template <class Engine>
  wafer_fabric(const fuel& m, const wafer_grid& grid, const machine& target, const Engine& engine)
      : grid_(checked(grid)),
        processes_(engine),
        fabric_(wafer_layout<capacity>(target, grid.columns, grid.rows),
                kernel::with_partitions(engine, grid.threads, std::max(1, grid.columns * grid.rows / 16))) {
    if (m.points.empty()) support::bad_argument({"a wafer looks up nuclides, and this material has none"});
    const std::vector<f32> edge = edges(m, grid.rows);
    processes_.require_same("material or grid", [&](support::fingerprint& f) {
      f.add(grid.columns), f.add(grid.rows), f.add(grid.diffusion_rounds), f.add(m.nuclides());
      f.add(edge.data(), edge.size() * sizeof(f32));
    });
    each([&](program& p, int x, int y) {
      const auto share = [&](int i) { return static_cast<int>(i64{i} * m.nuclides() / grid.columns); };
      p.load(m, share(x), share(x + 1), edge[static_cast<std::size_t>(y)],
             edge[static_cast<std::size_t>(y) + 1]);
    });
  }

  /// The bytes that a PE takes of its memory.
  static constexpr int bytes = program_v<program>.bytes;

  /// A message counts particles in f32, which is exact up to this number.
  static constexpr std::size_t most_particles = std::size_t{1} << 24;

  /// Looks up all energies, interpolated; or with a seed other than 0 with points chosen at random. Throws
  /// std::invalid_argument for too many particles and for energies that are not finite, and a fault if a
  /// particle has been lost on the way.
  wafer_result look_up(std::span<const f32> energies, u32 seed = 0) {
    processes_.require_same("seed or energy of lookups", [&](support::fingerprint& f) {
      f.add(seed), f.add(energies.data(), energies.size_bytes());
    });
    const auto strange =
        std::find_if(energies.begin(), energies.end(), [](f32 e) { return !std::isfinite(e); });
    if (strange != energies.end())
      support::bad_argument({"energy ", strange - energies.begin(), " of a particle is not finite"});
    if (energies.size() > most_particles)
      support::bad_argument(
          {"a wafer takes ", most_particles, " particles at a time, not ", energies.size()});
    const std::size_t pes = static_cast<std::size_t>(grid_.columns) * static_cast<std::size_t>(grid_.rows);
    each([&](program& p, int x, int y) {
      const std::size_t i = static_cast<std::size_t>(y * grid_.columns + x);
      const std::size_t first = i * energies.size() / pes, last = (i + 1) * energies.size() / pes;
      p.put(energies.subspan(first, last - first));
    });
    wafer_result r;
    r.sort = timed(r.sort_seconds, [&] { return fabric_.template launch<&program::sort>(all); });
    r.sorted = load_of_pes();
    r.diffuse = timed(r.diffuse_seconds, [&] {
      return fabric_.template launch<&program::diffuse>(all, grid_.diffusion_rounds);
    });
    r.spread = load_of_pes();
    r.circulate =
        timed(r.circulate_seconds, [&] { return fabric_.template launch<&program::circulate>(all, seed); });
    r.found = collect(energies);
    return r;
  }

 private:
  static const wafer_grid& checked(const wafer_grid& grid) {
    if (grid.columns < 1 || grid.rows < 1)
      support::bad_argument({"particles run on at least one PE, not on ", grid.columns, " x ", grid.rows});
    if (grid.diffusion_rounds < 0)
      support::bad_argument({"diffusion takes 0 rounds or more, not ", grid.diffusion_rounds});
    return grid;
  }
  /// Edges of bands that hold equally many points of all nuclides together.
  static std::vector<f32> edges(const fuel& m, int rows) {
    std::vector<f32> energies;
    for (const auto& p : m.points) energies.push_back(p.energy);
    std::sort(energies.begin(), energies.end());
    std::vector<f32> edge;
    for (std::size_t y = 0; y <= static_cast<std::size_t>(rows); ++y)
      edge.push_back(
          energies[std::min(energies.size() - 1, y * energies.size() / static_cast<std::size_t>(rows))]);
    return edge;
  }

  program& program_of(coord c) { return fabric_.template program_at<program>(c); }
  /// The PEs of this process.
  template <class F>
  void each(F f) {
    for (int y = 0; y < grid_.rows; ++y)
      for (int x = 0; x < grid_.columns; ++x)
        if (fabric_.here({x, y})) f(program_of({x, y}), x, y);
  }
  load load_of_pes() {
    load l;
    for (const u64 n : gather_values(fabric_, all, [&](coord c) { return u64{program_of(c).held()}; }))
      l.add(n);
    return l;
  }

  // The fabric returns particles where they ended. Their energies identify them, and equal energies have
  // equal results.
  std::vector<cross_sections<f32>> collect(std::span<const f32> energies) {
    struct particle {
      f32 energy;
      cross_sections<f32> xs;
    };
    std::vector<std::vector<particle>> here(static_cast<std::size_t>(grid_.columns * grid_.rows));
    each([&](program& p, int x, int y) {
      auto& b = p.finished();
      std::vector<particle>& to = here[static_cast<std::size_t>(y * grid_.columns + x)];
      for (std::size_t i = 0; i < b.size(); ++i) {
        particle& one = to.emplace_back(particle{b.energies()[i], {}});
        for (int k = 0; k < channels; ++k) one.xs[static_cast<std::size_t>(k)] = b.sums(k)[i];
      }
    });
    std::vector<particle> ended;
    for (const std::vector<particle>& some : gather_lists<particle>(fabric_, all, [&](coord c) {
           return std::span<const particle>(here[static_cast<std::size_t>(c.y * grid_.columns + c.x)]);
         }))
      ended.insert(ended.end(), some.begin(), some.end());
    std::sort(ended.begin(), ended.end(),
              [](const particle& a, const particle& b) { return a.energy < b.energy; });
    std::vector<std::size_t> order(energies.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return energies[a] != energies[b] ? energies[a] < energies[b] : a < b;
    });
    if (ended.size() != energies.size())
      throw fault(
          support::joined({"wsl: ", energies.size(), " particles went in, ", ended.size(), " came out"}));
    std::vector<cross_sections<f32>> found(energies.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (ended[i].energy != energies[order[i]]) throw fault("wsl: a particle came out with another energy");
      found[order[i]] = ended[i].xs;
    }
    return found;
  }

  wafer_grid grid_;
  kernel::agreement processes_;
  fabric fabric_;
};

}  // namespace wsl::monte_carlo
