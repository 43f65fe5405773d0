// SPDX-License-Identifier: MIT
#include <cmath>
#include <memory>
#include <optional>
#include <wsl/kernel/monte_carlo/wafer.hpp>

#include "../command_line.hpp"
#include "../memory.hpp"
#include "../ranks.hpp"
#include "command.hpp"
#include "nuclear_problem.hpp"

namespace mc_app {
namespace {

using namespace wsl;
using namespace wsl::monte_carlo;

struct options {
  u64 particles = 100'000, sample = 2'000;
  int nuclides = 250, points = 10'000;
  u32 seed = 0;
  std::optional<u64> expect;
  std::vector<std::string> materials;  ///< one file; none for the publication's problem
  std::string energies = lethargy;
  wafer_grid grid;
};

std::optional<u64> known(const options& o) {
  if (o.expect) return o.expect;
  if (o.materials.empty() && o.particles == 100'000 && o.nuclides == 250 && o.points == 10'000 && !o.seed)
    return 199'178;
  return {};
}

/// Some particles, compared with lookups in double precision: how many agree to 1e-5 of their largest
/// channel.
verdict compare(const options& o, const fuel_problem& p, const std::vector<cross_sections<f32>>& found) {
  u64 right = 0, compared = 0;
  for (u64 i = 0; i < o.particles; i += o.particles / std::min(o.particles, o.sample)) {
    const auto expected = look_up<f64>(p.material, p.energies[i]);
    f64 largest = 0, error = 0;
    for (std::size_t k = 0; k < channels; ++k)
      largest = std::max(largest, std::abs(expected[k])),
      error = std::max(error, std::abs(found[i][k] - expected[k]));
    ++compared, right += error <= 1e-5 * largest;
  }
  return {right, compared, "the number of particles compared with double precision"};
}

/// For points chosen at random only the mean is known: over all particles it is within four standard
/// deviations.
verdict compare_means(const options& o, const fuel_problem& p,
                      const std::vector<cross_sections<f32>>& found) {
  f64 sum = 0, squares = 0;
  const u64 stride = o.particles / std::min(o.particles, o.sample),
            compared = (o.particles + stride - 1) / stride;
  for (u64 i = 0; i < o.particles; i += stride) {
    const f64 difference = found[i][0] / look_up<f64>(p.material, p.energies[i])[0] - 1;
    sum += difference, squares += difference * difference;
  }
  const f64 n = static_cast<f64>(compared), mean = sum / n,
            sigma = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
  print("mean error", fmt::format("{:.2e}, with a standard deviation of {:.2e}", mean, sigma));
  return {static_cast<u64>(std::abs(mean) <= 4 * sigma), 1,
          "a mean within four standard deviations (1 for yes)"};
}

/// Throws std::invalid_argument if the tables, and the PEs' copies of them, do not fit into the memory.
void check_memory(const options& o) {
  const f64 needs = 2 * f64(sizeof(grid_point<f32>)) * o.nuclides * o.points, has = app::memory_there();
  if (o.materials.empty() && needs > has)
    throw std::invalid_argument(
        fmt::format("the tables of {} nuclides of {} points take {}; this computer has {}", o.nuclides,
                    o.points, app::size_text(needs), app::size_text(has)));
}

int go(const options& o) {
  check_memory(o);
  f64 setup = 0;
  std::string problem = fmt::format("{} nuclides of {} points", o.nuclides, o.points);
  const fuel_problem p = monte_carlo::timed(setup, [&] {
    if (o.materials.empty()) return make_fuel_problem(o.particles, o.nuclides, o.points);
    const nuclear_problem data = read_problem(o.materials, o.energies);
    problem = text(data);
    fuel_problem q{.material = fuel_of(data.materials.at(0)), .energies = {}};
    random_stream numbers{lookup_origin};
    for (u64 i = 0; i < o.particles; ++i)
      q.energies.push_back(static_cast<f32>(data.energies.energy(numbers.next())));
    return q;
  });
  std::optional<wafer_fabric<>> w;
  monte_carlo::timed(setup, [&] { return w.emplace(p.material, o.grid, host, app::engine{}), 0; });
  print("problem", problem + ", 6 numbers a point in single precision");
  print("work",
        fmt::format("{} particles, {}", o.particles, o.seed ? "points chosen at random" : "interpolated"));
  print("grid", fmt::format("{} columns for nuclides x {} rows for energies, {} rounds of diffusion",
                            o.grid.columns, o.grid.rows, o.grid.diffusion_rounds));
  print("setup", fmt::format("{:.3g} s", setup));
  const wafer_result r = w->look_up(p.energies, o.seed);
  const f64 all = r.seconds();
  print("phases",
        fmt::format("sort {:.1f} %, diffuse {:.1f} %, circulate {:.1f} %", 100 * r.sort_seconds / all,
                    100 * r.diffuse_seconds / all, 100 * r.circulate_seconds / all));
  print("after sorting", text(r.sorted) + " particles a PE");
  print("spread out", text(r.spread) + " particles a PE");
  print("wavelets", fmt::format("{}: {} to sort, {} to diffuse, {} to circulate",
                                r.sort.wavelets + r.diffuse.wavelets + r.circulate.wavelets, r.sort.wavelets,
                                r.diffuse.wavelets, r.circulate.wavelets));
  const checksum sum = checksum_of(std::span<const cross_sections<f32>>(r.found));
  print("checksum", std::to_string(sum.value));
  print("near-ties",
        fmt::format(
            "{} particles have two largest channels that differ by rounding only, so checksums from {} to {} "
            "are valid",
            sum.near_ties, sum.smallest, sum.largest));
  if (o.seed && !o.expect) return compare_means(o, p, r.found).report(o.particles, all);
  if (const auto expected = known(o))
    return verdict{sum.value, *expected, o.expect ? "--expect" : "the publication's code",
                   sum.agrees_with(*expected)}
        .report(o.particles, all);
  return compare(o, p, r.found).report(o.particles, all);
}

}  // namespace

std::function<int()> declare_particles(CLI::App& app) {
  const auto o = std::make_shared<options>();
  app.add_option("--particles", o->particles, "how many")
      ->check(CLI::Range(u64{1}, u64{wafer_fabric<>::most_particles}))
      ->capture_default_str();
  app.add_option("--nuclides", o->nuclides, "of the material")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--points", o->points, "in each nuclide's table")
      ->check(CLI::Range(2, 1'000'000))
      ->capture_default_str();
  declare_problem(app, o->materials, o->energies, 1);
  app.add_option("--columns", o->grid.columns, "columns of PEs, which share the nuclides")
      ->check(CLI::Range(1, 32'767))
      ->capture_default_str();
  app.add_option("--rows", o->grid.rows, "rows of PEs, which share the energies")
      ->check(CLI::Range(1, 32'767))
      ->capture_default_str();
  app.add_option("--diffusion-rounds", o->grid.diffusion_rounds,
                 "exchanges that spread the particles along the rows")
      ->check(app::whole_at_least(0))
      ->capture_default_str();
  app.add_option("--at-random", o->seed, "a seed: choose one of two points instead of interpolating")
      ->check(app::whole_at_least<u32>(1));
  app.add_option("--threads", o->grid.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--expect", o->expect, "the checksum that the run must give")
      ->check(app::whole_at_least<u64>(0));
  app.add_option("--sample", o->sample,
                 "particles to compare with double precision where no checksum is known")
      ->check(app::whole_at_least<u64>(1))
      ->capture_default_str();
  return [o, &app] {
    for (const char* option : {"--nuclides", "--points"})
      if (!o->materials.empty() && app.count(option))
        throw std::invalid_argument(
            fmt::format("{} is of the publication's problem: leave it out, or --material", option));
    if (o->materials.empty() && app.count("--spectrum"))
      throw std::invalid_argument("--spectrum is of --material: leave it out, or take that");
    return go(*o);
  };
}

}  // namespace mc_app
