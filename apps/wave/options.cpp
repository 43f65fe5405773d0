// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "../command_line.hpp"
#include "../files.hpp"
#include "../memory.hpp"

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
  std::string model, edge = "pml", formats = "svg", slice, wavelet = "ricker";
  int edge_width = 20;
  std::vector<std::vector<int>> receivers, receiver_lines;
};

template <class... X>
[[noreturn]] void bad_argument(fmt::format_string<X...> sentence, X&&... x) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<X>(x)...));
}

void declare(CLI::App& app, words& w, options& o) {
  app.allow_extras()->allow_config_extras(false);
  app.set_config("--config", "", "a file of these options: one `name = value` a line");
  app.add_option("--grid", w.grid, "cells along x, y and z (z points down)")
      ->expected(3)
      ->capture_default_str();
  app.add_option("--spacing", w.spacing, "size of a cell in m")->capture_default_str();
  app.add_option("--steps", o.steps, "time steps to march in all")->required()->check(app::at_least(0));
  app.add_option("--time-step", w.step, "s; 0 takes 0.8 of the largest stable one")->capture_default_str();
  app.add_option("--velocity", w.velocity, "m/s, the same in all cells")->capture_default_str();
  app.add_option("--layers", w.layers,
                 "depth in m and velocity in m/s of each layer from the top: 0 1500 800 2500")
      ->excludes("--velocity");
  app.add_option("--model", w.model, "file of little-endian f32, m/s, one for each cell, z fastest, then y")
      ->excludes("--velocity")
      ->excludes("--layers");
  app.add_option("--source", w.source, "cell of the source; the middle of the grid by default")->expected(3);
  app.add_option(
         "--wavelet", w.wavelet,
         "of the source: a Ricker wavelet, or that of the Minimod proxy application (arXiv 2007.06048)")
      ->check(CLI::IsMember({"ricker", "minimod"}))
      ->capture_default_str();
  app.add_option("--frequency", w.frequency,
                 "Hz: the peak of a Ricker wavelet, the highest frequency of minimod")
      ->capture_default_str();
  app.add_option("--amplitude", w.amplitude,
                 "of a Ricker wavelet; that of minimod follows from its frequency")
      ->capture_default_str();
  app.add_option("--delay", w.delay, "s until the peak of a Ricker wavelet; 1.2 periods by default");
  app.add_option("--receiver", w.receivers, "cell of a receiver: x y z; may be repeated")
      ->expected(3)
      ->allow_extra_args(false);
  app.add_option("--receiver-line", w.receiver_lines,
                 "receivers along x: first x, last x, distance, y, z; may be repeated")
      ->expected(5)
      ->allow_extra_args(false);
  app.add_option("--border", w.edge, "what the border does")
      ->check(CLI::IsMember({"reflects", "sponge", "pml"}))
      ->capture_default_str();
  app.add_option("--border-width", w.edge_width, "cells of a sponge or a pml on each side")
      ->capture_default_str();
  app.add_option("--out", o.out, "folder for all that is written")->required();
  app.add_option("--snapshot-every", o.snapshot_every, "steps between two snapshots; 0 for none")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_option("--snapshot-format", w.formats, "svg (a figure of a slice), vtk (the field), or both")
      ->check(CLI::IsMember({"svg", "vtk", "both"}))
      ->capture_default_str();
  app.add_option("--slice", w.slice, "the slice to draw, as y=50; through the source by default");
  app.add_option("--checkpoint-every", o.checkpoint_every, "steps between two checkpoints; 0 for none")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_flag("--resume", o.resume,
               "go on from the checkpoint in the folder, bit by bit as if nothing had happened; from the "
               "start if there is none");
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

std::vector<f32> layered(const words& w) {
  std::vector<f32> v(static_cast<std::size_t>(w.grid[2]));
  if (w.layers.size() % 2)
    bad_argument(
        "--layers: each layer has a depth and a velocity; of {} numbers the last, {:g}, has no other",
        w.layers.size(), w.layers.back());
  if (w.layers.front() != 0)
    bad_argument("--layers: the first layer begins at a depth of 0 m, not {:g} m", w.layers.front());
  for (std::size_t i = 2; i < w.layers.size(); i += 2)
    if (!(w.layers[i] > w.layers[i - 2])) bad_argument("--layers: depths grow from layer to layer");
  for (std::size_t z = 0; z < v.size(); ++z)
    for (std::size_t i = 0; i < w.layers.size(); i += 2)
      if (static_cast<f64>(z) * w.spacing >= w.layers[i]) v[z] = static_cast<f32>(w.layers[i + 1]);
  return v;
}

/// Sound in matter: in air 330 m/s, in rubber some 50, in diamond 18000. Other numbers come from another unit
/// or another byte order, and a field computed with them means nothing.
constexpr f64 least_velocity = 10, most_velocity = 20000;
bool is_velocity(f32 v) { return f64{v} >= least_velocity && f64{v} <= most_velocity; }

void check_velocities(const words& w, const std::vector<f32>& v) {
  const auto wrong = std::find_if_not(v.begin(), v.end(), &is_velocity);
  if (wrong == v.end()) return;
  const bool swapped = !w.model.empty() && std::all_of(v.begin(), v.end(), [](f32 x) {
    return is_velocity(std::bit_cast<f32>(__builtin_bswap32(std::bit_cast<wsl::u32>(x))));
  });
  if (swapped) bad_argument("--model: {} is big-endian: write it with little-endian numbers", w.model);
  const std::string option = !w.model.empty()
                                 ? fmt::format("--model: number {} of {}", wrong - v.begin(), w.model)
                             : !w.layers.empty() ? "--layers: a velocity"
                                                 : "--velocity: it";
  bad_argument(
      "{} is {:g} m/s; velocities are positive, from {:g} to {:g} m/s, those of sound in matter: take "
      "metres a second",
      option, *wrong, least_velocity, most_velocity);
}

// The size is known before the file is read.
std::vector<f32> model(const words& w, const cells& size) {
  const std::uintmax_t wanted = size.count() * sizeof(f32);
  std::error_code unreadable;
  const std::uintmax_t there = std::filesystem::file_size(w.model, unreadable);
  if (unreadable) bad_argument("--model: cannot read {}: {}", w.model, unreadable.message());
  if (there != wanted)
    bad_argument("--model: {} has {} bytes; a grid of {} cells takes {} (4 a cell)", w.model, there,
                 text(size), wanted);
  const std::string bytes = app::read_file(w.model);
  std::vector<f32> v(size.count());
  std::memcpy(v.data(), bytes.data(), bytes.size());
  return v;
}

// Two fields, the velocity factor, phi, and arrays on their way out.
void fits_in_memory(const cells& size) {
  const f64 wanted = 24. * static_cast<f64>(size.count());
  const f64 there = app::memory_there();
  if (wanted > there)
    bad_argument("--grid: {} cells take about {:.0f} GB; this computer has {:.0f}", text(size),
                 std::ceil(wanted / 1e9), there / 1e9);
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
}

void read_slice(const words& w, options& o) {
  const source& s = o.problem.sources.front();
  o.drawn.at = s.at.y;
  if (w.slice.empty()) return;
  const cells& size = o.problem.size;
  const std::size_t axis = std::string("xyz").find(w.slice[0]);
  const int n = axis == 0 ? size.x : axis == 1 ? size.y : size.z;
  char* end = nullptr;
  const long at = w.slice.size() > 2 ? std::strtol(w.slice.c_str() + 2, &end, 10) : -1;
  if (axis > 2 || w.slice[1] != '=' || !end || *end)
    bad_argument("--slice: a slice is an axis and a cell, as y=50, not {}", w.slice);
  if (at < 0 || at >= n) bad_argument("--slice: {} is outside the grid of {} cells", w.slice, text(size));
  o.drawn = {w.slice[0], static_cast<int>(at)};
}

source wavelet(const words& w, const cells& at) {
  if (w.wavelet == "ricker")
    return {at, w.frequency, w.amplitude, w.delay >= 0 ? w.delay : 1.2 / w.frequency};
  if (w.amplitude != 1 || w.delay >= 0)
    bad_argument("--wavelet minimod: its amplitude and delay follow from --frequency");
  return minimod_source(at, w.frequency);
}

void assemble(const words& w, options& o) {
  problem& p = o.problem;
  p.size = cell(w.grid), p.spacing = w.spacing, p.step = w.step, p.edge_width = w.edge_width;
  p.edge = w.edge == "pml" ? border::pml : w.edge == "sponge" ? border::sponge : border::reflects;
  if (p.size.x < 1 || p.size.y < 1 || p.size.z < 1)
    bad_argument("--grid: a grid has at least one cell along each axis, not {}", text(p.size));
  fits_in_memory(p.size);
  p.velocity = !w.model.empty()    ? model(w, p.size)
               : !w.layers.empty() ? layered(w)
                                   : std::vector<f32>{static_cast<f32>(w.velocity)};
  check_velocities(w, p.velocity);
  const cells at = w.source.empty() ? cells{p.size.x / 2, p.size.y / 2, p.size.z / 2} : cell(w.source);
  p.sources = {wavelet(w, at)};
  receivers(w, p);
  p.check();
  read_slice(w, o);
  o.svg = w.formats != "vtk", o.vtk = w.formats != "svg";
}

}  // namespace

std::optional<options> parse(int argc, char** argv, int& status) {
  CLI::App app(
      "The acoustic wave equation on a wafer: a source shakes a model of the earth, receivers record it.\n"
      "wsl-wave --grid 241 141 141 --spacing 10 --layers 0 1500 600 2500 --source 120 70 25 "
      "--receiver-line 24 216 4 70 25 --steps 700 --snapshot-every 100 --out shot",
      "wsl-wave");
  words w;
  options o;
  declare(app, w, o);
  if (!app::parse(app, argc, argv, "option", status)) return {};
  assemble(w, o);
  return o;
}

}  // namespace wave_app
