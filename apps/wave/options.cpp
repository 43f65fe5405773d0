// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include <wsl/kernel/wave25/stations.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "../memory.hpp"
#include "../ranks.hpp"
#include "alike.hpp"
#include "film.hpp"
#include "hdf5_volume.hpp"
#include "property.hpp"
#include "segy.hpp"
#include "wavelet_file.hpp"

namespace wave_app {
namespace {

using namespace wsl::wave25;
using wsl::f32;
using wsl::f64;
using wsl::i64;

/// The words of the command line as they are given, before they become a problem.
struct words {
  std::vector<int> grid{101, 101, 101}, source;
  f64 spacing = 20, step = 0, velocity = 2000, frequency = 10, amplitude = 1, delay = -1;
  std::vector<f64> layers;  ///< depth and velocity of each, in turn
  std::vector<f64> model_spacing, source_at;
  std::vector<std::string> density, epsilon, delta;  ///< a number, layers, or a file
  std::string model, dataset = "velocity", edge = "pml", formats = "svg", records = "csv,svg", slice,
                     wavelet = "ricker", wavelet_file, kind = "added", shots;
  f64 wavelet_interval = 0, gigabytes = 1;
  int edge_width = 20;
  bool free_surface = false, has_grid = false, has_border = false;
  std::vector<std::vector<int>> receivers, receiver_lines;
  std::vector<std::vector<f64>> receivers_at, receiver_lines_at;
};

template <class... X>
[[noreturn]] void bad_argument(fmt::format_string<X...> sentence, X&&... x) {
  refuse(sentence, std::forward<X>(x)...);
}

/// Accepts the whole numbers of a cell. Places have an option of their own.
CLI::Validator of_cell(const char* in_metres) {
  const auto check = [=](std::string& text) -> std::string {
    int x = 0;
    const char *const begin = text.data() + text.starts_with('+'), *const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(begin, end, x);
    if (error == std::errc{} && last == end) return {};
    return fmt::format("a cell is given in whole numbers, not '{}'; a place in m goes to {}", text,
                       in_metres);
  };
  return CLI::Validator(check, "");
}

void declare_outputs(CLI::App& app, words& w, options& o) {
  app.add_option("--snapshot-every", o.snapshot_every, "steps between two snapshots; 0 for none")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_option(
         "--snapshot-format", w.formats,
         "with commas: svg (a figure of a slice), png (a picture of it), vtk, vti and h5 (the field); "
         "both is svg,vtk")
      ->capture_default_str();
  app.add_option("--clip", o.clip, "amplitude at which pictures have full colours; 0 chooses it for each")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_flag("--film", o.film, "snapshots in png, and all of them as an animated file, film.webp");
  app.add_option("--record-format", w.records, "with commas: csv, svg (the seismogram), npy, segy")
      ->capture_default_str();
  app.add_option(
         "--sample-interval", o.sample_interval,
         "s between two samples of SEG-Y, in whole microseconds; by default the time step, rounded down")
      ->check(app::at_least(0, true));
  app.add_option("--checkpoint-every", o.checkpoint_every, "steps between two checkpoints; 0 for none")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_flag("--resume", o.resume,
               "go on from the checkpoint in the folder, bit by bit as if nothing had happened; from the "
               "start if there is none");
}

void declare_migration(CLI::App& app, words& w, options& o) {
  app.add_option(
         "--data", o.data,
         "folder with the recorded traces, shot.sgy or, where there is none, shot.npy, or with a folder for "
         "each of --shots")
      ->required();
  app.add_option("--data-interval", o.data_interval,
                 "s between two samples of arrays of NumPy, the first at one; SEG-Y says its own")
      ->check(app::at_least(0, true));
  app.add_option("--memory", w.gigabytes,
                 "GB for checkpoints and fields of the forward run of a shot, of each process")
      ->check(app::at_least(0, true))
      ->capture_default_str();
  app.add_option("--image-every", o.every, "steps between two fields that are correlated")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--laplacian", o.laplacian,
               "take the negative Laplacian of the image, which removes what changes slowly in it");
}

void declare(CLI::App& app, words& w, options& o) {
  app.allow_extras()->allow_config_extras(false);
  app.set_config("--config", "", "a file of these options: one `name = value` a line");
  app.add_option("--grid", w.grid,
                 "cells along x, y and z (z points down); without it, those of a --model that says its size")
      ->expected(3)
      ->capture_default_str();
  app.add_option("--spacing", w.spacing, "size of a cell in m")->capture_default_str();
  app.add_option("--steps", o.steps, "time steps to march in all")->required()->check(app::at_least(0));
  app.add_option("--time-step", w.step, "s; 0 takes 0.8 of the largest stable one")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_option("--velocity", w.velocity, "m/s, the same in all cells")->capture_default_str();
  app.add_option("--layers", w.layers,
                 "depth in m and velocity in m/s of each layer from the top: 0 1500 800 2500")
      ->excludes("--velocity");
  app.add_option(
         "--model", w.model,
         "file of velocities in m/s: SEG-Y (.sgy, .segy), an array of NumPy, HDF5, raw f32 with a header "
         "of text, or bare little-endian f32, one for each cell, z fastest, then y")
      ->excludes("--velocity")
      ->excludes("--layers");
  app.add_option("--model-dataset", w.dataset, "dataset of a model in HDF5")->capture_default_str();
  app.add_option("--model-spacing", w.model_spacing,
                 "size of the model's cells along x, y and z in m, where its file does not say it; that of "
                 "--spacing by default")
      ->expected(3)
      ->check(app::at_least(0, true));
  app.add_option("--density", w.density,
                 "density in any unit: a number, a depth in m and a density of each layer from the top, or a "
                 "file as of --model");
  app.add_option(
      "--epsilon", w.epsilon,
      "Thomsen's epsilon of vertical transverse isotropy, given as --density; --velocity, --layers "
      "and --model are then those along z");
  app.add_option("--delta", w.delta, "Thomsen's delta, at most epsilon, given as --density");
  app.add_option("--source", w.source, "cell of the source; the middle of the grid by default")
      ->expected(3)
      ->check(of_cell("--source-at"));
  app.add_option("--source-at", w.source_at, "place of the source in m, also between cells: x y z")
      ->expected(3)
      ->excludes("--source");
  app.add_option(
         "--source-kind", w.kind,
         "added: the wavelet is added to the field; point: it is the s of Lap u - u_tt / c^2 = -s delta, "
         "so that the field does not depend on the grid")
      ->check(CLI::IsMember({"added", "point"}))
      ->capture_default_str();
  app.add_option(
         "--wavelet", w.wavelet,
         "of the source: a Ricker wavelet, or that of the Minimod proxy application (arXiv 2007.06048)")
      ->check(CLI::IsMember({"ricker", "minimod"}))
      ->capture_default_str();
  app.add_option("--frequency", w.frequency,
                 "Hz: the peak of a Ricker wavelet, the highest frequency of minimod")
      ->check(app::at_least(0, true))
      ->capture_default_str();
  app.add_option("--amplitude", w.amplitude,
                 "of a Ricker wavelet; that of minimod follows from its frequency")
      ->capture_default_str();
  app.add_option("--delay", w.delay, "s until the peak of a Ricker wavelet; 1.2 periods by default");
  app.add_option(
         "--wavelet-file", w.wavelet_file,
         "file with the wavelet: text, a number or a time in s and a number a line, or an array of NumPy")
      ->excludes("--wavelet");
  app.add_option("--wavelet-interval", w.wavelet_interval,
                 "s between two numbers of --wavelet-file; a time step by default")
      ->check(app::at_least(0, true));
  app.add_option("--receiver", w.receivers, "cell of a receiver: x y z; may be repeated")
      ->expected(3)
      ->check(of_cell("--receiver-at"))
      ->allow_extra_args(false);
  app.add_option("--receiver-line", w.receiver_lines,
                 "receivers along x: first x, last x, distance, y, z; may be repeated")
      ->expected(5)
      ->check(of_cell("--receiver-line-at"))
      ->allow_extra_args(false);
  app.add_option("--receiver-at", w.receivers_at,
                 "place of a receiver in m, also between cells; may be repeated")
      ->expected(3)
      ->allow_extra_args(false);
  app.add_option("--receiver-line-at", w.receiver_lines_at,
                 "receivers along x: first x, last x, distance, y, z in m; may be repeated")
      ->expected(5)
      ->allow_extra_args(false);
  app.add_option("--shots", w.shots,
                 "list of shots: a table of sources and receivers in m; each has a folder in --out. Several "
                 "processes with the same command share the work")
      ->excludes("--source")
      ->excludes("--source-at");
  app.add_option("--shots-at-a-time", o.shots_at_a_time, "shots that this process runs at the same time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--free-surface", w.free_surface,
               "cell 0 of z is a free surface, which reflects as a mirror of the other sign");
  app.add_option("--border", w.edge, "what the border does; cpml by default with densities or anisotropy")
      ->check(CLI::IsMember({"reflects", "sponge", "pml", "cpml"}))
      ->capture_default_str();
  app.add_option("--border-width", w.edge_width, "cells of a sponge, a pml or a cpml on each side")
      ->capture_default_str();
  app.add_option("--out", o.out, "folder for all that is written")->required();
  if (!o.migrates) declare_outputs(app, w, o);
  app.add_option("--slice", w.slice, "the slice to draw, as y=50; through the source by default");
  if (o.migrates) declare_migration(app, w, o);
  app.add_option("--threads", o.how.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--pes", o.how.wide, "PEs along x; 0 leaves the choice to the program")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_option("--depth", o.how.depth, "steps between two exchanges; 0 leaves the choice to the program")
      ->check(app::at_least(0))
      ->capture_default_str();
}

cells cell(const std::vector<int>& xyz) { return {xyz[0], xyz[1], xyz[2]}; }

/// Two time steps of each field, coefficients, the model and a copy of it, and arrays on their way out.
f64 bytes_of_cell(const words& w) {
  return !w.density.empty() ? 44 : !w.epsilon.empty() || !w.delta.empty() ? 64 : 24;
}

void add_line(problem& p, const receiver_line& line) {
  for (i64 i = 0; i < line.count; ++i) p.receivers.push_back(line.at(i));
}

void receivers(const words& w, problem& p) {
  for (const auto& r : w.receivers) p.receivers.push_back(cell(r));
  for (const auto& l : w.receiver_lines) {
    if (l[2] < 1) bad_argument("--receiver-line: receivers are at least one cell apart, not {}", l[2]);
    if (l[1] < l[0]) bad_argument("--receiver-line: the last x, {}, is before the first, {}", l[1], l[0]);
    if (l[1] >= p.size.x)
      bad_argument("--receiver-line: the last x, {}, is outside the grid of {} cells", l[1], text(p.size));
    for (int x = l[0]; x <= l[1]; x += l[2]) p.receivers.push_back({x, l[3], l[4]});
  }
  for (const auto& r : w.receivers_at) p.receivers.push_back(point{r[0], r[1], r[2]});
  for (const auto& l : w.receiver_lines_at) {
    if (!(l[2] > 0)) bad_argument("--receiver-line-at: receivers are {:g} m apart; take more than 0", l[2]);
    if ((l[1] - l[0]) / l[2] > 1e6)
      bad_argument("--receiver-line-at: {:.0f} receivers; take at most 1000000", (l[1] - l[0]) / l[2]);
    if (l[1] < l[0])
      bad_argument("--receiver-line-at: the last x, {:g} m, is before the first, {:g} m", l[1], l[0]);
    if (const f64 end = (p.size.x - 1) * p.spacing; l[1] > end)
      bad_argument("--receiver-line-at: the last x, {:g} m, is outside the grid, which ends at {:g} m", l[1],
                   end);
    add_line(p, line_of_receivers(l[0], l[1], l[2], l[3], l[4]));
  }
}

/// The words of a list with commas, each of which is one of the allowed.
std::vector<std::string> list_of(const std::string& option, const std::string& list,
                                 const std::vector<std::string>& allowed) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    words.push_back(list.substr(from, to - from));
    if (std::find(allowed.begin(), allowed.end(), words.back()) == allowed.end())
      bad_argument("{}: '{}' is none of {}", option, words.back(), fmt::join(allowed, ", "));
    from = to + 1;
  }
  return words;
}

void read_formats(const words& w, options& o) {
  o.snapshots = {.svg = false}, o.records = {false, false, false, false};
  for (const std::string& f :
       list_of("--snapshot-format", w.formats, {"svg", "png", "vtk", "vti", "h5", "both"})) {
    o.snapshots.svg |= f == "svg" || f == "both", o.snapshots.vtk |= f == "vtk" || f == "both";
    o.snapshots.vti |= f == "vti", o.snapshots.h5 |= f == "h5", o.snapshots.png |= f == "png";
  }
  for (const std::string& f : list_of("--record-format", w.records, {"csv", "svg", "npy", "segy"}))
    o.records.csv |= f == "csv", o.records.svg |= f == "svg", o.records.npy |= f == "npy",
        o.records.segy |= f == "segy";
  if (o.snapshots.h5) require_hdf5("--snapshot-format h5");
  if (o.records.segy) {
    require_segy("--record-format segy");
    require_segy_holds(o.problem, o.steps, o.sample_interval);
  }
  if (!o.film) return;
  require_film();
  if (o.snapshot_every == 0) bad_argument("--film: it is made of snapshots: give --snapshot-every");
  o.snapshots.png = true;
}

void read_slice(const words& w, options& o) {
  if (w.slice.empty()) return;
  const cells& size = o.problem.size;
  const std::size_t axis = std::string("xyz").find(w.slice[0]);
  const int n = axis == 0 ? size.x : axis == 1 ? size.y : size.z;
  char* end = nullptr;
  const long at = w.slice.size() > 2 ? std::strtol(w.slice.c_str() + 2, &end, 10) : -1;
  if (axis > 2 || w.slice[1] != '=' || !end || *end)
    bad_argument("--slice: a slice is an axis and a cell, as y=50, not {}", w.slice);
  if (at < 0 || at >= n) bad_argument("--slice: {} is outside the grid of {} cells", w.slice, text(size));
  o.drawn = {w.slice[0], static_cast<int>(at)}, o.slice_is_given = true;
}

source wavelet(const words& w, const cells& at, f64 step) {
  if (!w.wavelet_file.empty()) {
    if (w.delay >= 0) bad_argument("--delay: the wavelet of --wavelet-file has its own");
    signal s = read_wavelet(w.wavelet_file, w.wavelet_interval);
    source own{.at = at, .peak_hz = w.frequency, .amplitude = w.amplitude};
    if (s.interval == 0) own.wavelet = std::move(s.samples);
    else {
      const f64 end = s.first + static_cast<f64>(s.samples.size() + most_taps) * s.interval;
      if (end / step > 1e9)
        bad_argument("--wavelet-file: {} lasts {:g} s, more than 1e9 time steps", w.wavelet_file, end);
      own.wavelet = at_times(s, 0, step, static_cast<std::size_t>(std::max(0., end / step)) + 1);
    }
    return own;
  }
  if (w.wavelet == "ricker")
    return {.at = at,
            .peak_hz = w.frequency,
            .amplitude = w.amplitude,
            .delay = w.delay >= 0 ? w.delay : 1.2 / w.frequency};
  if (w.amplitude != 1 || w.delay >= 0)
    bad_argument("--wavelet minimod: its amplitude and delay follow from --frequency");
  return minimod_source(at, w.frequency);
}

void read_shots(const words& w, options& o) {
  if (w.shots.empty()) return;
  std::error_code why;
  if (const auto size = std::filesystem::file_size(w.shots, why); why || size > 1'000'000'000)
    bad_argument("--shots: cannot read {}: {}", w.shots, why ? why.message() : "it has more than 1 GB");
  o.shots = shots_from_text(app::read_file(w.shots), w.shots);
  // The check of a shot needs no velocity but the largest.
  std::vector<f32> model = std::exchange(o.problem.velocity, {f32(o.problem.fastest())});
  for (std::size_t k = 0; k < o.shots.size(); ++k) try {
      const problem p = o.problem_of(k);
      if (p.receivers.empty()) bad_argument("it has no receivers, and the command line gives none");
      p.check();
    } catch (const std::invalid_argument& e) {
      bad_argument("--shots: shot {} of {}: {}", k + 1, w.shots, sentence_of(e));
    }
  o.problem.velocity = std::move(model);
}

/// How this run keeps the numbers of files. The shots of a list read them again and again, and migration once
/// more.
keeping keeping_of(const words& w, const options& o, const run_grid& grid) {
  const bool is_list = !w.shots.empty();
  if (!is_list && grid.processes > 1) return keeping::in_files;
  return is_list && o.migrates ? keeping::in_memory : keeping::in_plain_files;
}

/// The velocities: those of a file, of layers, or the same everywhere.
void read_velocities(const words& w, options& o, run_grid& grid) {
  problem& p = o.problem;
  p.velocity = {};
  if (!w.model.empty()) {
    const model_file file{"--model", w.model, w.dataset};
    property found =
        of_file(file, velocity_rule, w.model_spacing, grid, keeping_of(w, o, grid), w.shots.empty());
    p.velocity = std::move(found.numbers), p.model = std::move(found.source);
    return;
  }
  do_alike(w.shots.empty(), [&] { require_room(grid); });
  if (!w.layers.empty()) p.velocity = layered("--layers", "velocity", w.layers, grid);
  else p.velocity = {static_cast<f32>(w.velocity)};
  for (const f32 v : p.velocity)
    if (!velocity_rule.is_allowed(v))
      not_allowed(velocity_rule, w.layers.empty() ? "--velocity: it" : "--layers: a velocity", v);
}

/// What the medium has besides its velocity. Schemes other than that of wave25 have less to choose from.
void read_medium(const words& w, options& o, run_grid& grid) {
  const auto read = [&](const char* option, const property_rule& rule,
                        const std::vector<std::string>& given) -> wsl::seismic::cell_values {
    if (given.empty()) return 0.f;
    property found =
        of_words(option, rule, given, w.model_spacing, grid, keeping_of(w, o, grid), w.shots.empty());
    if (found.source) return std::move(found.source);
    return std::move(found.numbers);
  };
  const bool anisotropic = !w.epsilon.empty() || !w.delta.empty();
  if (w.density.empty() && !anisotropic) return;
  const char* option = !w.density.empty() ? "--density" : !w.epsilon.empty() ? "--epsilon" : "--delta";
  if (!w.density.empty() && anisotropic)
    bad_argument("--density: the scheme with densities has no anisotropy: leave out --epsilon and --delta");
  if (w.edge == "pml") {
    if (w.has_border)
      bad_argument("--border: a pml does not go with {}: take --border cpml, sponge, or reflects", option);
    o.problem.edge = border::cpml;
  }
  if (anisotropic)
    o.medium =
        wsl::seismic::vti{read("--epsilon", epsilon_rule, w.epsilon), read("--delta", delta_rule, w.delta)};
  else o.medium = wsl::seismic::variable_density{read("--density", density_rule, w.density)};
}

/// What all cells of a medium say; with `are_shared` each process looks at a part of them, and all agree.
template <class Medium>
wsl::seismic::survey survey_of_all(const Medium& m, const problem& p, bool are_shared) {
  if (!are_shared) return wsl::seismic::survey_of(m, p);
  wsl::seismic::survey found;
  do_alike(true, [&] {
    found =
        wsl::seismic::survey_of(m, p, {wsl::grid::share(p.size.x, app::ranks(), app::rank()), {0, p.size.y}});
  });
  // The bits of positive numbers have their order.
  const auto largest = [](f64 x) { return std::bit_cast<f64>(app::largest(std::bit_cast<wsl::u64>(x))); };
  found.eigenvalue = largest(found.eigenvalue), found.fastest = largest(found.fastest);
  found.first_wrong = ~app::largest(~found.first_wrong);
  return found;
}

/// Makes the time step a number, which is found once and not for each use. Throws for one that is unstable.
void find_time_step(const words& w, options& o, bool are_shared) try {
  std::visit(
      [&](const auto& m) {
        if constexpr (std::is_same_v<std::decay_t<decltype(m)>, isotropic>) {
          checks::time_step(o.problem);
          o.problem.step = o.problem.time_step();
        } else {
          using of_medium = wsl::seismic::problem<std::decay_t<decltype(m)>>;
          const of_medium surveyed{o.problem, m, survey_of_all(m, o.problem, are_shared)};
          do_alike(are_shared, [&] {
            const of_medium found = surveyed.checked();
            o.problem.step = found.shot.step, o.found = found.found;
          });
        }
      },
      o.medium);
} catch (const std::invalid_argument& e) {
  const std::string sentence = sentence_of(e);
  if (w.step > 0 && sentence.starts_with("a time step")) bad_argument("--time-step: {}", sentence);
  throw;
}

/// How the PEs share the grid.
void check_resources(const options& o) {
  const cells& n = o.problem.size;
  if (o.how.wide > n.x)
    bad_argument(
        "--pes: {} PEs along x, and the grid has {} cells there: there is no block for each; take {} or "
        "fewer",
        o.how.wide, n.x, n.x);
  if (o.how.depth > most_steps_a_launch)
    bad_argument("--depth: PEs exchange lines after 1 to {} steps, not after {}", most_steps_a_launch,
                 o.how.depth);
}

/// A run whose results nobody would see.
void require_outputs(const options& o) {
  if (o.steps == 0) bad_argument("nothing would be written: --steps asks for 0 steps");
  const auto is_due = [&](i64 every) { return every > 0 && every <= o.steps; };
  if (o.migrates || !o.shots.empty() || !o.problem.receivers.empty() || is_due(o.snapshot_every) ||
      is_due(o.checkpoint_every))
    return;
  bad_argument(
      "nothing would be written: {}",
      o.snapshot_every > 0 || o.checkpoint_every > 0
          ? fmt::format("--snapshot-every and --checkpoint-every give more than the {} --steps", o.steps)
          : "give receivers (--receiver, --receiver-line), --snapshot-every or --checkpoint-every");
}

/// Refuses a source that stays silent until the run ends: its records would be zeros.
void require_sound(const words& w, const options& o) {
  const source& s = o.problem.sources[0];
  const f64 step = o.problem.time_step(), end = static_cast<f64>(o.steps) * step;
  if (!s.wavelet.empty()) {
    const auto last = s.wavelet.begin() + std::min<std::ptrdiff_t>(std::ssize(s.wavelet), o.steps);
    if (std::all_of(s.wavelet.begin(), last, [](f32 x) { return x == 0; }))
      bad_argument("--wavelet-file: {} is zero until the run ends after {:g} s ({} steps): give more --steps",
                   w.wavelet_file, end, o.steps);
    return;
  }
  const f64 rise = 1.2 / s.peak_hz, begin = s.delay - rise;  // before that it has no digit of f32
  if (w.wavelet == "ricker" && begin > end)
    bad_argument(
        "--delay: the wavelet, whose peak is at {:g} s, begins after {:g} s, and the run ends after "
        "{:g} s ({} steps): give --steps {:.0f} or more, which hold all of it, or a smaller --delay",
        s.delay, begin, end, o.steps, std::ceil((s.delay + rise) / step));
}

/// Reads what the time step and the grid decide about.
void finish(const words& w, options& o, const run_grid& grid, const cells& at) {
  problem& p = o.problem;
  p.sources = {wavelet(w, at, p.step)};
  p.sources[0].kind = w.kind == "point" ? wsl::wave25::source_term::point : wsl::wave25::source_term::added;
  if (!w.source_at.empty()) p.sources[0].place = point{w.source_at[0], w.source_at[1], w.source_at[2]};
  receivers(w, p);
  p.check();
  if (o.steps > 0) require_sound(w, o);
  check_resources(o);
  if (w.shots.empty() && o.shots_at_a_time > 1)
    bad_argument("--shots-at-a-time: there is one shot: give a list (--shots), or leave it out");
  read_shots(w, o);
  read_slice(w, o);
  read_formats(w, o);
  o.memory = 1e9 * w.gigabytes;
  // Two runs, two sums of 64 bits, and what is kept of the forward one.
  const f64 of_cell = (24 + 2 * bytes_of_cell(w)) / grid.processes +
                      (grid.processes > 1 ? 2 * grid.bytes_of_whole : 0),
            wanted = o.shots_at_a_time * (of_cell * static_cast<f64>(p.size.count()) + o.memory),
            there = app::memory_there(grid.processes_here);
  if (o.migrates && wanted > there) {
    if (grid.processes > 1)
      bad_argument("--memory: the migration takes about {} in each of {} processes, which can have {}",
                   app::size_text(wanted), grid.processes, app::size_text(there));
    bad_argument(
        "--memory: the migration of {} shots at a time takes about {:.0f} GB; this computer has {:.0f}",
        o.shots_at_a_time, std::ceil(wanted / 1e9), there / 1e9);
  }
  if (o.migrates && o.shots.empty() && p.receivers.empty())
    bad_argument(
        "rtm: there are no receivers: give those of the data, with --receiver-at, --receiver-line-at or "
        "--shots");
  require_outputs(o);
}

void assemble(words& w, options& o) {
  problem& p = o.problem;
  p.size = cell(w.grid), p.spacing = w.spacing, p.step = w.step, p.edge_width = w.edge_width;
  p.free_surface = w.free_surface;
  p.edge = w.edge == "pml"      ? border::pml
           : w.edge == "cpml"   ? border::cpml
           : w.edge == "sponge" ? border::sponge
                                : border::reflects;
  if (p.size.x < 1 || p.size.y < 1 || p.size.z < 1)
    bad_argument("--grid: a grid has at least one cell along each axis, not {}", text(p.size));
  if (!(p.spacing > 0) || !std::isfinite(p.spacing))
    bad_argument("--spacing: it is {} m; it is positive", p.spacing);
  run_grid grid{p.size, p.spacing, bytes_of_cell(w), w.has_grid};
  // Of a shot that is alone each process has its part of the cells only.
  const bool is_shared = w.shots.empty();
  if (is_shared) grid.processes = app::ranks();
  if (grid.processes > 1) grid.processes_here = app::ranks_here();
  read_velocities(w, o, grid);
  grid.is_given = true, p.size = grid.size;
  read_medium(w, o, grid);
  const bool are_shared = is_shared && grid.processes > 1;
  do_alike(are_shared, [&] { require_room(grid, o.shots_at_a_time); });
  const cells at = w.source.empty() ? cells{p.size.x / 2, p.size.y / 2, p.size.z / 2} : cell(w.source);
  // The wavelet of a file follows the time steps, which a wrong one must not reach.
  find_time_step(w, o, are_shared);
  do_alike(are_shared, [&] { finish(w, o, grid, at); });
}

/// Refuses an option that is given twice, if it may not be repeated: CLI11 takes the numbers of both for
/// those of one.
void refuse_twice(const CLI::App& app, int argc, char** argv) {
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_lnames().empty()) continue;
    const std::string name = "--" + o->get_lnames().front();
    const auto times = std::count_if(argv, argv + argc, [&](const char* word) {
      return word == name || std::string_view(word).starts_with(name + "=");
    });
    if (times > 1 && !name.starts_with("--receiver"))
      bad_argument("{} is given {} times: leave out all but one", name, times);
  }
}

/// Throws if the file of --config cannot be read, before CLI11 says so without its name.
void require_config(int argc, char** argv) {
  constexpr std::string_view option = "--config", begins = "--config=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_next = word == option && i + 1 < argc;
    if (!is_next && !word.starts_with(begins)) continue;
    const std::string name(is_next ? std::string_view(argv[i + 1]) : word.substr(begins.size()));
    std::ifstream in(name);
    if (!in) bad_argument("--config: cannot read {}: {}", name, std::strerror(errno));
    if (std::error_code why; std::filesystem::is_directory(name, why))
      bad_argument("--config: cannot read {}: it is a folder", name);
  }
}

}  // namespace

problem options::problem_of(std::size_t which) const {
  wsl::wave25::problem p = problem;
  if (shots.empty()) return p;
  p.sources[0].place = shots[which].source;
  if (!shots[which].receivers.empty()) {
    p.receivers.clear();
    for (const receiver_line& line : shots[which].receivers) add_line(p, line);
  }
  return p;
}

wsl::u64 options::fingerprint_of(std::size_t which) const {
  return std::visit(
      [&](const auto& m) {
        if constexpr (std::is_same_v<std::decay_t<decltype(m)>, isotropic>)
          return wsl::wave25::fingerprint_of(problem_of(which));
        else return wsl::seismic::fingerprint_of(in_medium(problem_of(which), m));
      },
      medium);
}

slice options::slice_of(const wsl::wave25::problem& p) const {
  return slice_is_given ? drawn : slice{'y', nearest_cell(p.sources[0].position(p.spacing), p).y};
}

std::optional<options> parse(int argc, char** argv, int& status) {
  options o;
  o.migrates = argc > 1 && std::string_view(argv[1]) == "rtm";
  CLI::App app(
      o.migrates ? "Reverse-time migration: the image of a model's reflectors, from recorded traces.\n"
                   "wsl-wave rtm --model smooth.npy --spacing 10 --shots shots.csv --data survey --steps 700 "
                   "--out image"
                 : "The acoustic wave equation on a wafer: a source shakes a model of the earth, receivers "
                   "record it.\n"
                   "wsl-wave --grid 241 141 141 --spacing 10 --layers 0 1500 600 2500 --source 120 70 25 "
                   "--receiver-line 24 216 4 70 25 --steps 700 --snapshot-every 100 --out shot\n"
                   "wsl-wave rtm --help tells of reverse-time migration.",
      o.migrates ? "wsl-wave rtm" : "wsl-wave");
  words w;
  declare(app, w, o);
  if (o.migrates) --argc, ++argv;
  refuse_twice(app, argc, argv);
  do_alike(true, [&] { require_config(argc, argv); });
  const auto tells = [](const char* word) {
    return std::string_view(word) == "--help" || std::string_view(word) == "-h" ||
           std::string_view(word) == "--version";
  };
  if (std::any_of(argv, argv + argc, tells)) app::let_one_print();
  const bool goes_on = app::parse(app, argc, argv, "option", status);
  if (app::largest(!goes_on)) {  // one that has said why, as for another file of --config, ends the others
    if (goes_on) status = 1;
    return {};
  }
  w.has_grid = app.get_option("--grid")->count() > 0;
  w.has_border = app.get_option("--border")->count() > 0;
  try {
    if (w.shots.empty()) assemble(w, o);
    else do_alike(true, [&] { assemble(w, o); });
  } catch (const std::invalid_argument& e) { bad_argument("{}", sentence_of(e)); }
  return o;
}

}  // namespace wave_app
