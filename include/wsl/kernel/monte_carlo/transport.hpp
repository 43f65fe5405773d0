// SPDX-License-Identifier: MIT
// The front end of neutron transport: tallies of a fixed source, and the multiplication factor k by power
// iteration, each with its standard error.
//   const medium plutonium(macroscopic{.total = 0.3264, .absorption = 0.101184, .fission = 0.0816, ...});
//   transport_fabric f{plutonium, {shape::sphere, 6.082547}};
//   f.criticality({.batches = 100, .inactive = 20, .particles = 10'000}).k;   // near 1
// On the ranks of `mpi::world()` all functions are collective, and all ranks get the same bits. See
// examples/121_criticality.cpp.
#pragma once
#include <functional>

#include "../../fabric/host_gather.hpp"
#include "../../support/fingerprint.hpp"
#include "../pe_a_thread.hpp"
#include "batch_statistics.hpp"
#include "run_statistics.hpp"
#include "transport_pe.hpp"

namespace wsl::monte_carlo {

struct transport_grid {
  int columns = 16;  ///< PEs of the row
  int threads = 0;   ///< as threaded{.threads}; 0 leaves it to WSL_THREADS or the cores
};

struct transport_settings {
  int batches = 100;       ///< whose tallies count
  int inactive = 0;        ///< generations before them, until the sites of fission have spread (criticality)
  u64 particles = 10'000;  ///< in each of them
  u64 seed = 1;
  int bins = 1;  ///< of the flux: layers of a slab, shells of a sphere
  source_kind source = source_kind::uniform;
  f64 source_energy = 0;  ///< in eV; 0 for the spectrum of fission; of no use in one group
  /// is told of each batch when it has ended: its number from 0 on, inactive ones first, and its k
  std::function<void(int batch, f64 k)> after_batch = {};
};

/// Means a source particle, over batches.
struct transport_tallies {
  estimate leaked_near;  ///< through the face x = 0 of a slab
  estimate leaked_far;   ///< through its other face, or out of a sphere
  estimate absorbed, collided;
  estimate track;              ///< the length of all tracks, in cm
  std::vector<estimate> flux;  ///< track length over volume, in 1/cm^2 (of a slab 1 for its area in cm^2)
};

struct criticality_result {
  estimate k;                ///< by track lengths
  estimate k_by_collision;   ///< by collisions
  std::vector<f64> history;  ///< the k of each generation by track lengths, inactive ones too
  transport_tallies tallies;
};

class transport_fabric {
 public:
  /// Throws std::invalid_argument for a row without PEs, a body without a size, and an infinite medium in
  /// which a neutron never ends. The medium must live as long as the fabric.
  template <class Engine = threaded>
  transport_fabric(const medium& material, const body& where, const transport_grid& grid = {},
                   const Engine& engine = {})
      : material_(material),
        where_(checked(where, material)),
        columns_(checked(grid)),
        processes_(engine),
        fabric_(transport_layout(grid.columns),
                kernel::with_partitions(engine, grid.threads, std::max(1, grid.columns / 16))) {
    kernel::require_same(engine, "medium, body or grid", [&] { return fingerprint(); });
  }

  /// Follows the neutrons of a source and all that they lead to by fission. Batches are independent. Throws
  /// std::invalid_argument for settings that do not fit, and fault for a chain without an end, as in a body
  /// that is not subcritical.
  transport_tallies fixed_source(const transport_settings& s) {
    require_same("fixed source", s);
    load(s, false);
    sums all(s.bins);
    for (int batch = 0; batch < s.batches; ++batch) {
      const std::vector<f64> one = generation(s, batch, 1, true);
      all.add(one);
      if (s.after_batch) s.after_batch(batch, one[born_by_track]);
    }
    return all.result(where_, s.bins);
  }

  /// Generations of neutrons, each of which begins where the one before it led to fission; the first is
  /// uniform in the body. The batches are generations, which depend on each other: the error of k is as if
  /// they did not, and is too small where a body is large. Throws std::invalid_argument for settings that do
  /// not fit, and for a medium without fission.
  criticality_result criticality(const transport_settings& s) {
    require_same("criticality", s);
    if (!material_.is_fissile())
      support::bad_argument({"k is that of a medium with fission, and this one has none"});
    if (s.inactive < 0) support::bad_argument({"there are 0 inactive generations or more, not ", s.inactive});
    if (s.batches > std::numeric_limits<int>::max() - std::max(0, s.inactive))
      support::bad_argument({s.batches, " batches after ", s.inactive,
                             " inactive generations are too many: take 2147483647 together, or fewer"});
    if (s.source == source_kind::beam)
      support::bad_argument({"the first generation of a criticality is no beam"});
    load(s, true);
    criticality_result r;
    batch_statistics by_track, by_collision;
    sums all(s.bins);
    f64 k = 1;
    for (int batch = 0; batch < s.inactive + s.batches; ++batch) {
      if (batch) next_generation(s, batch);
      const std::vector<f64> one = generation(s, batch, k, batch == 0);
      k = one[born_by_track];
      r.history.push_back(k);
      if (batch >= s.inactive) {
        by_track.add(k), by_collision.add(one[born_by_collision]);
        all.add(one);
      }
      if (s.after_batch) s.after_batch(batch, k);
    }
    r.k = by_track.result(), r.k_by_collision = by_collision.result();
    r.tallies = all.result(where_, s.bins);
    return r;
  }

  const outcome& traffic() const { return traffic_; }  ///< the counts of all runs of the fabric so far

 private:
  /// The tallies over batches.
  class sums {
   public:
    explicit sums(int bins) : each_(scores + static_cast<std::size_t>(bins)) {}
    void add(const std::vector<f64>& one) {
      for (std::size_t i = 0; i < each_.size(); ++i) each_[i].add(one[i]);
    }
    transport_tallies result(const body& where, int bins) const {
      transport_tallies t{each_[monte_carlo::leaked_near].result(), each_[monte_carlo::leaked_far].result(),
                          each_[monte_carlo::absorbed].result(),    each_[monte_carlo::collided].result(),
                          each_[monte_carlo::track].result(),       {}};
      for (int i = 0; i < bins; ++i) {
        const estimate e = each_[scores + static_cast<std::size_t>(i)].result();
        const f64 volume = where.volume(i, bins);
        t.flux.push_back({e.mean / volume, e.error / volume});
      }
      return t;
    }

   private:
    std::vector<batch_statistics> each_;
  };

  static const body& checked(const body& where, const medium& material) {
    where.require();
    const bool absorbs = material.is_one_group() ? material.at(0).absorption > 0 : material.absorbs_at_last();
    if (where.form == shape::infinite && !absorbs)
      support::bad_argument({"in an infinite medium without absorption neutrons never end"});
    return where;
  }
  static int checked(const transport_grid& grid) {
    if (grid.columns < 1) support::bad_argument({"neutrons run on at least one PE, not on ", grid.columns});
    return grid.columns;
  }
  /// Of what all processes must have: of tables their cross sections at some energies.
  u64 fingerprint() const {
    constexpr int energies = 64;
    support::fingerprint f;
    f.add(where_.form), f.add(where_.size), f.add(columns_);
    for (int i = 0; i <= energies; ++i) {
      const macroscopic m = material_.at(
          material_.lowest() * std::pow(material_.highest() / material_.lowest(), i / f64{energies}));
      f.add(m.total), f.add(m.absorption), f.add(m.fission), f.add(m.nu_fission);
    }
    return f.value();
  }

  /// A run of several processes with different settings would mix their random numbers.
  void require_same(std::string_view call, const transport_settings& s) const {
    processes_.require_same(
        "kind, size or seed of a transport run",
        [&](support::fingerprint& f) {
          f.add(call.data(), call.size()), f.add(s.batches), f.add(s.inactive), f.add(s.particles);
          f.add(s.seed), f.add(s.bins), f.add(s.source), f.add(s.source_energy);
        },
        [&](kernel::named_values& all) {
          constexpr const char* sources[] = {"uniform", "centre", "beam"};
          all.add("kind of a transport run", call);
          all.add("number of batches of a transport run", s.batches);
          all.add("number of inactive generations of a transport run", s.inactive);
          all.add("number of particles of a batch of a transport run", s.particles);
          all.add("seed of a transport run", s.seed);
          all.add("number of bins of a transport run", s.bins);
          all.add("source of a transport run", sources[static_cast<std::size_t>(s.source)]);
          all.add("energy of the source of a transport run", s.source_energy);
        });
  }
  void load(const transport_settings& s, bool keeps_sites) {
    if (s.batches < 1) support::bad_argument({"there is at least one batch, not ", s.batches});
    if (s.particles < 1 || s.particles > u64{1} << 30)
      support::bad_argument({"a batch has 1 to 1073741824 particles, not ", s.particles});
    if (s.bins < 1 || s.bins > 1'000'000)
      support::bad_argument({"the flux has 1 to 1000000 bins, not ", s.bins});
    if (s.bins > 1 && where_.form == shape::infinite)
      support::bad_argument({"an infinite medium has one bin of the flux, not ", s.bins});
    if (s.source == source_kind::beam && where_.form != shape::slab)
      support::bad_argument({"a beam is a source of a slab"});
    if (!(s.source_energy >= 0) || !std::isfinite(s.source_energy))
      support::bad_argument({"the energy of a source is finite and not negative"});
    const transport_run run{.material = &material_,
                            .where = where_,
                            .bins = s.bins,
                            .particles = s.particles,
                            .seed = s.seed,
                            .source = s.source,
                            .source_energy = s.source_energy,
                            .keeps_sites = keeps_sites};
    each([&](transport_pe& p, int x) { p.load(run, x, columns_); });
  }

  /// One batch: its tallies a particle, added up block by block in their order.
  std::vector<f64> generation(const transport_settings& s, int batch, f64 k, bool at_source) {
    each([&](transport_pe& p, int) { p.begin(static_cast<u64>(batch) * s.particles, k, at_source); });
    traffic_ = traffic_ + fabric_.launch<&transport_pe::run>(all);
    std::vector<f64> total(scores + static_cast<std::size_t>(s.bins));
    for (const std::vector<f64>& blocks :
         gather_lists<f64>(fabric_, all, [&](coord c) { return program_of(c.x).tallies(); }))
      for (std::size_t i = 0; i < blocks.size(); ++i) total[i % total.size()] += blocks[i];
    for (f64& x : total) x /= static_cast<f64>(s.particles);
    return total;
  }
  void next_generation(const transport_settings& s, int batch) {
    u64 sites = 0;
    for (const u64 n : gather_values(fabric_, all, [&](coord c) { return program_of(c.x).sites(); }))
      sites += n;
    if (sites == 0)
      support::bad_argument({"generation ", batch, " has no neutrons, as none of the ", s.particles,
                             " before led to fission: take more particles in a batch, or a larger body"});
    if (sites > u64{1} << 31)
      support::bad_argument({sites, " sites of fission are too many: take fewer particles"});
    // a stream of its own, which no particle draws from
    const f64 offset = numbers_of(~s.seed, static_cast<u64>(batch)).next();
    each([&](transport_pe& p, int) { p.choose(offset); });
    traffic_ = traffic_ + fabric_.launch<&transport_pe::count>(all);
    traffic_ = traffic_ + fabric_.launch<&transport_pe::deal>(all);
  }
  transport_pe& program_of(int x) { return fabric_.program_at<transport_pe>({x, 0}); }
  /// The PEs of this process.
  template <class F>
  void each(F f) {
    for (int x = 0; x < columns_; ++x)
      if (fabric_.here({x, 0})) f(program_of(x), x);
  }

  const medium& material_;
  body where_;
  int columns_;
  kernel::agreement processes_;
  fabric fabric_;
  outcome traffic_;
};

}  // namespace wsl::monte_carlo
