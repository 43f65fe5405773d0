// SPDX-License-Identifier: MIT
#include <wsl/kernel/monte_carlo/transport.hpp>

#include <memory>
#include <wsl/support/progress.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "../ranks.hpp"
#include "command.hpp"
#include "material.hpp"

namespace mc_app {
namespace {

using namespace wsl;
using namespace wsl::monte_carlo;

struct options {
  std::string material, form, source = "fission", out;
  f64 size = 0;
  transport_settings run;
  transport_grid grid;
};

/// One batch has a mean and no error, which is not one of 0.
std::string text(const estimate& e, int batches) {
  return batches > 1 ? fmt::format("{:.6g} +- {:.2g}", e.mean, e.error) : fmt::format("{:.6g}", e.mean);
}

/// A name, a range in cm where it has one, a mean and its standard error a line.
std::string csv_of(const options& o, const body& where, const transport_tallies& t,
                   const std::vector<std::pair<const char*, estimate>>& more) {
  std::string all = "tally,from_cm,to_cm,mean,standard_error\n";
  const auto add = [&](const std::string& name, const estimate& e) {
    all += fmt::format("{},{:.9g},", name, e.mean);
    all += o.run.batches > 1 ? fmt::format("{:.9g}\n", e.error) : "\n";
  };
  for (const auto& [name, e] : more) add(fmt::format("{},,", name), e);
  if (where.form == shape::slab) add("leakage_near,,", t.leaked_near);
  if (where.form != shape::infinite)
    add(where.form == shape::slab ? "leakage_far,," : "leakage,,", t.leaked_far);
  add("absorption,,", t.absorbed), add("collisions,,", t.collided), add("track_length,,", t.track);
  for (int i = 0; i < o.run.bins; ++i) {
    const std::string range =
        where.form == shape::infinite
            ? ","
            : fmt::format("{:.9g},{:.9g}", where.size * i / o.run.bins, where.size * (i + 1) / o.run.bins);
    add("flux," + range, t.flux[static_cast<std::size_t>(i)]);
  }
  return all;
}

void print_tallies(const body& where, const transport_tallies& t, int batches) {
  const auto shown = [&](const estimate& e) { return text(e, batches); };
  if (where.form == shape::slab)
    print("leakage", shown(t.leaked_near) + " near, " + shown(t.leaked_far) + " far");
  if (where.form == shape::sphere) print("leakage", shown(t.leaked_far));
  print("absorption", shown(t.absorbed));
  print("collisions", shown(t.collided));
  print("track length", shown(t.track) + " cm");
}

int go(const options& o) {
  if (!o.out.empty()) app::require_free(o.out, "--out");
  app::together([&] {
    if (app::is_root()) app::require_place(o.out, "--out");
  });
  const material_file file = read_material(o.material);
  const medium m = file.medium();
  const body where{o.form == "sphere" ? shape::sphere
                   : o.form == "slab" ? shape::slab
                                      : shape::infinite,
                   o.size};
  if (file.one_group && o.run.source_energy > 0)
    throw std::invalid_argument("--energy is of a material with nuclides: one group has no energies");
  if (!file.one_group && o.run.source_energy > 0 &&
      (o.run.source_energy < m.lowest() || o.run.source_energy > m.highest()))
    throw std::invalid_argument(
        fmt::format("--energy {:g} eV is outside of the tables, which reach from {:g} to {:g} eV",
                    o.run.source_energy, m.lowest(), m.highest()));
  const bool fixed = o.source != "fission";
  if (!fixed && !m.is_fissile())
    throw std::invalid_argument(o.material +
                                " has no fission, without which there is no k: take a fixed --source");
  transport_fabric f{m, where, o.grid, app::engine{}};
  transport_settings s = o.run;
  if (o.source == "centre") s.source = source_kind::centre;
  if (o.source == "beam") s.source = source_kind::beam;
  if (file.one_group) print("material", o.material + ", one group");
  else
    print("material", fmt::format("{}, {} nuclides, tables from {:.3g} to {:.3g} eV", o.material,
                                  file.nuclides.size(), m.lowest(), m.highest()));
  for (std::size_t i = 0; i < file.nuclides.size(); ++i)
    print("nuclide",
          fmt::format("{} at {:.1f} K, {} points, {:.6g} atoms/(barn cm)", file.nuclides[i].name,
                      file.nuclides[i].temperature, file.nuclides[i].points.size(), file.densities[i]));
  print("body", where.form == shape::infinite ? "infinite" : fmt::format("a {}, {:.9g} cm", o.form, o.size));
  print("work", fmt::format("{} batches of {} particles{}, on {} PEs", s.batches, s.particles,
                            fixed ? ", a fixed source" : fmt::format(" after {} inactive ones", s.inactive),
                            o.grid.columns));
  if (s.batches == 1) print("errors", "not known, as one batch has none: take more --batches");
  support::progress shown("batches", static_cast<u64>(s.batches + s.inactive));
  s.after_batch = [&](int, f64) { shown.tick(); };
  f64 seconds = 0;
  std::string csv;
  if (fixed) {
    const transport_tallies t = monte_carlo::timed(seconds, [&] { return f.fixed_source(s); });
    print_tallies(where, t, s.batches);
    csv = csv_of(o, where, t, {});
  } else {
    const criticality_result r = monte_carlo::timed(seconds, [&] { return f.criticality(s); });
    print("k", text(r.k, s.batches) + ", by track lengths");
    print("k", text(r.k_by_collision, s.batches) + ", by collisions");
    print_tallies(where, r.tallies, s.batches);
    csv = csv_of(o, where, r.tallies, {{"k_by_track", r.k}, {"k_by_collision", r.k_by_collision}});
  }
  print("time", fmt::format("{:.4g} s", seconds));
  print("rate",
        fmt::format("{:.4g} million particles/s",
                    static_cast<f64>(s.particles) * (s.batches + (fixed ? 0 : s.inactive)) / seconds / 1e6));
  if (!o.out.empty()) {
    if (app::is_root()) app::write_file(o.out, csv);
    print("written", o.out);
  }
  return 0;
}

/// Refuses options that another shape or source has.
void refuse_ineffective(const CLI::App& app, const options& o) {
  const auto only = [&](const char* option, bool fits, const char* of) {
    if (!fits && app.count(option))
      throw std::invalid_argument(fmt::format("{} is of {}: leave it out, or take that", option, of));
  };
  only("--size", o.form != "infinite", "a sphere or a slab");
  only("--bins", o.form != "infinite", "a sphere or a slab");
  only("--inactive", o.source == "fission", "--source fission, which is for k");
  only("--energy", o.source != "fission", "--source uniform, centre or beam");
  if (o.form != "infinite" && !app.count("--size"))
    throw std::invalid_argument(fmt::format("a {} has a --size: {}", o.form,
                                            o.form == "slab" ? "its width in cm" : "its radius in cm"));
  if (o.source == "beam" && o.form != "slab") throw std::invalid_argument("--source beam is of --shape slab");
}

}  // namespace

std::function<int()> declare_transport(CLI::App& app) {
  const auto o = std::make_shared<options>();
  o->run.inactive = 20;
  app.add_option("--material", o->material,
                 "a file: one group, or nuclides with densities and files of tables")
      ->required();
  app.add_option("--shape", o->form, "of the body, around which is a vacuum")
      ->required()
      ->check(CLI::IsMember({"sphere", "slab", "infinite"}));
  app.add_option("--size", o->size, "the radius of a sphere, or the width of a slab, in cm")
      ->check(app::at_least(0, true));
  app.add_option(
         "--source", o->source,
         "fission, which computes k by generations; or a fixed source: uniform in the body, in its centre, "
         "or a beam on the face of a slab")
      ->check(CLI::IsMember({"fission", "uniform", "centre", "beam"}))
      ->capture_default_str();
  app.add_option("--energy", o->run.source_energy,
                 "of a fixed source's neutrons in eV, instead of the spectrum of fission")
      ->check(app::at_least(0, true));
  app.add_option("--batches", o->run.batches, "whose tallies count")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--inactive", o->run.inactive, "generations before them")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  app.add_option("--particles", o->run.particles, "in a batch")
      ->check(CLI::Range(u64{1}, u64{1} << 30))
      ->capture_default_str();
  app.add_option("--bins", o->run.bins, "of the flux: layers or shells of equal width")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--seed", o->run.seed, "of the random numbers")
      ->check(app::whole_at_least<u64>(0))
      ->capture_default_str();
  app.add_option("--columns", o->grid.columns, "PEs of the row")
      ->check(CLI::Range(1, 32'767))
      ->capture_default_str();
  app.add_option("--threads", o->grid.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--out", o->out, "a table of the tallies as CSV; nothing is written over");
  return [o, &app] {
    refuse_ineffective(app, *o);
    return go(*o);
  };
}

}  // namespace mc_app
