// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <wsl/kernel/monte_carlo/lookups.hpp>
#include <wsl/support/progress.hpp>

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
  std::string size = "small", mode = "event", search = "fabric";
  int nuclides = 0, points = 11'303, lookups_each = 34, bins = 10'000;
  u64 lookups = 17'000'000, particles = 500'000, sample = 20'000;
  std::optional<u64> expect;
  std::vector<std::string> materials;  ///< files; none for XSBench's reactor
  std::string energies = lethargy;
  lookup_grid grid;

  bool is_of_data() const { return !materials.empty(); }
  bool histories() const { return mode == "history"; }
  u64 things() const { return histories() ? particles : lookups; }
  u64 each() const { return histories() ? static_cast<u64>(lookups_each) : 1; }
};

/// The numbers that XSBench prints for its own sizes.
std::optional<u64> published(const options& o) {
  if (o.is_of_data() || o.points != 11'303 ||
      (o.histories() ? o.particles != 500'000 || o.lookups_each != 34 : o.lookups != 17'000'000))
    return {};
  if (o.nuclides == 68) return o.histories() ? 941'535 : 945'990;
  if (o.nuclides == 355) return o.histories() ? 954'318 : 952'131;
  return {};
}

template <class Search>
monte_carlo::lookup_totals serial(const options& o, const reactor& r, const Search& search, u64 first,
                                  u64 count, const spectrum* energies) {
  return o.histories() ? histories(r, search, first, count, o.lookups_each, energies)
                       : events(r, search, first, count, energies);
}

/// Does things first .. first + count - 1.
using runner = std::function<monte_carlo::lookup_totals(u64 first, u64 count)>;

template <class Search>
runner loop(const options& o, const reactor& r, std::shared_ptr<Search> search, const spectrum* energies) {
  return [&o, &r, search, energies](u64 first, u64 count) {
    return serial(o, r, *search, first, count, energies);
  };
}

runner on_fabric(const options& o, lookup_fabric& f) {
  return [&o, &f](u64 first, u64 count) {
    return o.histories() ? f.histories(first, count, o.lookups_each) : f.events(first, count);
  };
}

void check_places(const options& o) {
  const f64 places = static_cast<f64>(o.things()) * (o.histories() ? 10.0 * o.lookups_each : 2.0);
  if (places > 4294967295.0)
    throw std::invalid_argument(fmt::format(
        "a lookup's place in the random stream fits one wavelet: {:.0f} places are more than 4294967295",
        places));
}

void check(options& o) {
  if (!o.nuclides) o.nuclides = o.size == "small" ? 68 : 355;
  if (o.is_of_data()) return check_places(o);
  const f64 gigabyte = 1e9, points = static_cast<f64>(o.nuclides) * o.points;
  const f64 needs = (points * (48 + (o.search == "fabric" ? 64 : 0)) +
                     (o.search == "unionized" ? points * (8 + 4.0 * o.nuclides) : 0)) /
                    gigabyte;
  const f64 has = app::memory_there() / gigabyte;
  if (needs > has)
    throw std::invalid_argument(
        fmt::format("the tables take {:.1f} GB; this computer has {:.1f} GB", needs, has));
  check_places(o);
}

/// In parts, so that the user sees it go on; fewer than a batch would be slow.
monte_carlo::lookup_totals in_parts(const options& o, const runner& run) {
  const u64 part = std::max(o.grid.batch, o.things() / 50 + 1);
  support::progress shown(o.histories() ? "histories" : "lookups", o.things());
  monte_carlo::lookup_totals total;
  for (u64 first = 0; first < o.things(); first += part) {
    const u64 count = std::min(part, o.things() - first);
    total = total + run(first, count);
    shown.tick(count);
  }
  return total;
}

verdict judge(const options& o, const reactor& r, const runner& run, const monte_carlo::lookup_totals& total,
              const spectrum* energies) {
  if (o.expect) return {total.verification(), *o.expect, "--expect"};
  if (const auto known = published(o)) return {total.verification(), *known, "XSBench"};
  const u64 count = std::min(o.things(), std::max<u64>(1, o.sample / o.each()));
  const u64 expected = serial(o, r, nuclide_search{r}, 0, count, energies).largest,
            found = run(0, count).largest;
  return {found, expected, fmt::format("a serial search of the first {} lookups", count * o.each())};
}

int go(options o) {
  check(o);
  if (o.search != "fabric") app::require_one_process("a serial loop (--search)");
  f64 setup = 0, seconds = 0;
  std::optional<nuclear_problem> data;
  if (o.is_of_data()) data = monte_carlo::timed(setup, [&] { return read_problem(o.materials, o.energies); });
  const spectrum* energies = data ? &data->energies : nullptr;
  const reactor r = monte_carlo::timed(
      setup, [&] { return data ? reactor_of(data->materials) : xsbench_reactor(o.nuclides, o.points); });
  std::optional<lookup_fabric> f;
  const runner run = monte_carlo::timed(setup, [&]() -> runner {
    if (o.search == "nuclide") return loop(o, r, std::make_shared<nuclide_search>(r), energies);
    if (o.search == "unionized") return loop(o, r, std::make_shared<unionized_search>(r), energies);
    if (o.search == "hash") return loop(o, r, std::make_shared<hash_search>(r, o.bins), energies);
    const app::engine engine;
    return on_fabric(o, energies ? f.emplace(r, *energies, o.grid, engine) : f.emplace(r, o.grid, engine));
  });
  if (data) print("problem", text(*data) + ", in double precision");
  else
    print("problem",
          fmt::format("{} nuclides of {} points, 12 materials, 6 numbers a point in double precision",
                      o.nuclides, o.points));
  print("work",
        fmt::format("{} {} of {} lookups", o.things(), o.histories() ? "histories" : "events", o.each()));
  print("search", f ? fmt::format("sorted on {} x {} PEs", o.grid.columns, o.grid.rows)
                    : o.search + " grid, a serial loop");
  print("setup", fmt::format("{:.3g} s", setup));
  const monte_carlo::lookup_totals total = monte_carlo::timed(seconds, [&] { return in_parts(o, run); });
  if (f) {
    const lookup_phases& p = f->spent();
    print("phases", fmt::format("draw {:.1f} %, look up {:.1f} %, exchange {:.1f} %", 100 * p.draw / seconds,
                                100 * p.look_up / seconds, 100 * p.exchange / seconds));
    print("lookups a PE", text(f->lookups_a_pe()) + ", in the last part");
    print("wavelets", fmt::format("{} over {} links", f->traffic().wavelets, f->traffic().hops));
  }
  return judge(o, r, run, total, energies).report(total.lookups, seconds);
}

/// Refuses options of another mode or search than that of the run.
void refuse_ineffective(const CLI::App& app, const options& o) {
  const auto only = [&](const char* option, bool fits, const char* of) {
    if (!fits && app.count(option))
      throw std::invalid_argument(fmt::format("{} is of {}: leave it out, or take that", option, of));
  };
  only("--lookups", !o.histories(), "--mode event; --particles is how many histories there are");
  only("--particles", o.histories(), "--mode history; --lookups is how many events there are");
  only("--lookups-each", o.histories(), "--mode history");
  for (const char* option : {"--size", "--nuclides", "--points"})
    only(option, !o.is_of_data(), "XSBench's reactor, and --material of tables in files");
  only("--spectrum", o.is_of_data(), "--material");
  if (o.is_of_data() && o.search == "hash")
    throw std::invalid_argument("--search hash has bins of XSBench's energies: take another with --material");
  only("--hash-bins", o.search == "hash", "--search hash");
  for (const char* option : {"--columns", "--rows", "--threads"})
    only(option, o.search == "fabric", "--search fabric");
}

}  // namespace

std::function<int()> declare_lookups(CLI::App& app) {
  const auto o = std::make_shared<options>();
  app.add_option("--size", o->size, "the reactor: 68 nuclides (small) or 355 (large)")
      ->check(CLI::IsMember({"small", "large"}))
      ->capture_default_str();
  app.add_option("--nuclides", o->nuclides, "another number of nuclides, at least 68")
      ->excludes("--size")
      ->check(CLI::Range(68, 100'000));
  app.add_option("--points", o->points, "points in each nuclide's table")
      ->check(CLI::Range(2, 10'000'000))
      ->capture_default_str();
  declare_problem(app, o->materials, o->energies);
  app.add_option("--mode", o->mode, "independent lookups (event) or particles that go on (history)")
      ->check(CLI::IsMember({"event", "history"}))
      ->capture_default_str();
  app.add_option("--lookups", o->lookups, "how many, in event mode")
      ->check(app::whole_at_least<u64>(1))
      ->capture_default_str();
  app.add_option("--particles", o->particles, "how many, in history mode")
      ->check(app::whole_at_least<u64>(1))
      ->capture_default_str();
  app.add_option("--lookups-each", o->lookups_each, "lookups of a history")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--search", o->search,
                 "on the fabric, or a serial loop that searches each nuclide's grid, a hash grid or the "
                 "unionized grid")
      ->check(CLI::IsMember({"fabric", "nuclide", "hash", "unionized"}))
      ->capture_default_str();
  app.add_option("--hash-bins", o->bins, "bins of the hash grid")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--columns", o->grid.columns, "PEs along x")
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  app.add_option("--rows", o->grid.rows, "PEs along y")->check(CLI::Range(1, 32))->capture_default_str();
  app.add_option("--batch", o->grid.batch, "lookups, or histories, in flight at once")
      ->check(app::whole_at_least<u64>(1))
      ->capture_default_str();
  app.add_option("--threads", o->grid.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--expect", o->expect, "the verification number that the run must give")
      ->check(app::whole_at_least<u64>(0));
  app.add_option("--sample", o->sample, "lookups to compare with a serial search where no number is known")
      ->check(app::whole_at_least<u64>(1))
      ->capture_default_str();
  return [o, &app] {
    refuse_ineffective(app, *o);
    return go(*o);
  };
}

}  // namespace mc_app
