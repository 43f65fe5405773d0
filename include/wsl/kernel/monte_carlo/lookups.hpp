// SPDX-License-Identifier: MIT
// The front end of lookups on the fabric: builds the grid for a reactor and runs XSBench's two modes on it.
//   const reactor core = xsbench_reactor();
//   lookup_fabric f{core};
//   f.events(0, 17'000'000).verification();   // 945990
// On the ranks of `mpi::world()` all functions are collective, and all ranks get the same. See
// examples/34_lookups.cpp.
#pragma once
#include <memory>

#include "../../fabric/host_gather.hpp"
#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "../pe_a_thread.hpp"
#include "lookup_pe.hpp"
#include "run_statistics.hpp"

namespace wsl::monte_carlo {

/// The grid that lookups run on. More PEs own narrower bands, whose tables fit a smaller cache.
struct lookup_grid {
  int columns = 32, rows = 1;
  int threads = 0;  ///< as threaded{.threads}; 0 leaves it to WSL_THREADS or the cores
  /// lookups in flight at once; the more there are, the more of them share an interval of a table
  u64 batch = u64{1} << 22;
};

/// Seconds that the phases of all runs took.
struct lookup_phases {
  f64 draw = 0, look_up = 0, exchange = 0;
  f64 total() const { return draw + look_up + exchange; }
};

class lookup_fabric {
 public:
  /// Throws std::invalid_argument for a grid that is empty or larger than 32 x 32, for a batch of none, and
  /// for tables that do not ascend.
  template <class Engine = threaded>
  explicit lookup_fabric(const reactor& r, const lookup_grid& grid = {}, const Engine& engine = {})
      : lookup_fabric(r, grid, nullptr, engine) {}
  /// Lookups whose energies are those of a spectrum, in 1 to 12 materials with the same probability, of which
  /// the tables have all energies of the spectrum. Throws std::invalid_argument as well for others.
  template <class Engine = threaded>
  lookup_fabric(const reactor& r, const spectrum& energies, const lookup_grid& grid = {},
                const Engine& engine = {})
      : lookup_fabric(r, grid, std::make_shared<const spectrum>(energies), engine) {}

  /// Independent lookups first .. first + count - 1.
  lookup_totals events(u64 first, u64 count) {
    processes_.require_same_call("range of lookups", "events", first, count);
    fits(2, first, count);
    for (u64 done = 0; done < count; done += grid_.batch) {
      draw(2 * (first + done), 2, std::min(grid_.batch, count - done));
      run<&lookup_pe::look_up>(spent_.look_up, false);
    }
    return collect();
  }

  /// Particles first .. first + count - 1, each of which draws its next lookup after the one before,
  /// `lookups_each` times.
  lookup_totals histories(u64 first, u64 count, int lookups_each = 34) {
    processes_.require_same_call("range of lookups", "histories", first, count, lookups_each);
    if (lookups_each < 1) support::bad_argument({"a history has at least one lookup, not ", lookups_each});
    const u64 apart = static_cast<u64>(lookups_each) * 10;
    fits(apart, first, count);
    for (u64 done = 0; done < count; done += grid_.batch) {
      draw(apart * (first + done), apart, std::min(grid_.batch, count - done));
      for (int i = 1; i < lookups_each; ++i) {
        run<&lookup_pe::look_up>(spent_.look_up, true);
        exchange();
      }
      run<&lookup_pe::look_up>(spent_.look_up, false);
    }
    return collect();
  }

  const outcome& traffic() const { return traffic_; }    ///< the counts of all runs of the fabric so far
  const lookup_phases& spent() const { return spent_; }  ///< the time of their phases
  const load& lookups_a_pe() const { return load_; }     ///< the lookups of the last run, per PE

 private:
  // The grid is divided into sixteen partitions, which can be distributed evenly over threads.
  template <class Engine>
  lookup_fabric(const reactor& r, const lookup_grid& grid, std::shared_ptr<const spectrum> energies,
                const Engine& engine)
      : grid_(checked(grid, r, energies.get())),
        spectrum_(std::move(energies)),
        processes_(engine),
        fabric_(lookup_layout(grid.columns, grid.rows),
                kernel::with_partitions(engine, grid.threads, std::max(1, grid.columns * grid.rows / 16))) {
    kernel::require_same(engine, "reactor, spectrum or grid",
                         [&] { return fingerprint_of(r, grid, spectrum_.get()); });
    each([&](lookup_pe& p, coord at) { p.load(r, at, grid.columns, grid.rows, spectrum_.get()); });
  }
  static const lookup_grid& checked(const lookup_grid& grid, const reactor& r, const spectrum* energies) {
    const auto within = [](int n) { return n >= 1 && n <= 32; };
    if (!within(grid.columns) || !within(grid.rows))
      support::bad_argument({"lookups run on 1 x 1 to 32 x 32 PEs, not on ", grid.columns, " x ", grid.rows});
    if (grid.batch == 0) support::bad_argument({"a batch has at least one lookup"});
    if (energies) {
      if (r.materials.empty() || r.materials.size() > 12)
        support::bad_argument({"lookups draw one of 1 to 12 materials, not of ", r.materials.size()});
      for (int n = 0; n < r.nuclides; ++n)
        if (const auto g = r.grid(n);
            g.size() < 2 || g.front().energy > energies->lowest() || g.back().energy < energies->highest())
          support::bad_argument({"the table of nuclide ", n + 1, " has not all energies of the spectrum"});
    } else if (r.materials.size() != 12)
      support::bad_argument({"lookups draw one of 12 materials, but the reactor has ", r.materials.size()});
    return grid;
  }
  static u64 fingerprint_of(const reactor& r, const lookup_grid& grid, const spectrum* energies) {
    support::fingerprint f;
    if (energies)
      for (int i = 0; i <= 64; ++i) f.add(energies->energy(i / 64.0));
    f.add(grid.columns), f.add(grid.rows), f.add(grid.batch), f.add(r.nuclides), f.add(r.materials.size());
    for (int n = 0; n < r.nuclides; ++n) {
      const auto points = r.grid(n);
      f.add(points.size()), f.add(points.front().energy), f.add(points.back().energy);
      for (const f64 x : points[points.size() / 2].xs) f.add(x);
    }
    return f.value();
  }
  static void fits(u64 apart, u64 first, u64 count) {
    // may be more than 64 bits
    const f64 places = static_cast<f64>(apart) * (static_cast<f64>(first) + static_cast<f64>(count));
    if (places <= static_cast<f64>(~u32{0})) return;
    support::bad_argument({"a lookup's position in the random stream fits one wavelet: ",
                           static_cast<u64>(std::min(places, 1e19)), " places are too many, the last is ",
                           ~u32{0}});
  }

  void draw(u64 first, u64 apart, u64 count) {
    run<&lookup_pe::draw>(spent_.draw, static_cast<u32>(first), static_cast<u32>(apart),
                          static_cast<u32>(count));
    turn();
  }
  void exchange() {
    run<&lookup_pe::exchange>(spent_.exchange);
    turn();
  }
  void turn() {
    if (grid_.columns > 1 && grid_.rows > 1) run<&lookup_pe::exchange>(spent_.exchange);
  }
  template <auto Task, class... Arguments>
  void run(f64& seconds, const Arguments&... arguments) {
    traffic_ = traffic_ + timed(seconds, [&] { return fabric_.launch<Task>(all, arguments...); });
  }
  /// The PEs of this process.
  template <class F>
  void each(F f) {
    for (int y = 0; y < grid_.rows; ++y)
      for (int x = 0; x < grid_.columns; ++x)
        if (const coord c{x, y}; fabric_.here(c)) f(fabric_.program_at<lookup_pe>(c), c);
  }
  lookup_totals collect() {
    lookup_totals total;
    load_ = {};
    for (const lookup_totals& found :
         gather_values(fabric_, all, [&](coord c) { return fabric_.program_at<lookup_pe>(c).collect(); })) {
      total = total + found;
      load_.add(found.lookups);
    }
    return total;
  }

  lookup_grid grid_;
  std::shared_ptr<const spectrum> spectrum_;  // the PEs point to it
  kernel::agreement processes_;
  fabric fabric_;
  outcome traffic_;
  lookup_phases spent_;
  load load_;
};

}  // namespace wsl::monte_carlo
