// SPDX-License-Identifier: MIT
#include "nuclide.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <wsl/kernel/monte_carlo/reference.hpp>
#include <wsl/support/file_error.hpp>

#include "../files.hpp"
#include "ace.hpp"
#include "openmc.hpp"

namespace mc_app {

using namespace wsl;
using monte_carlo::channels;
using monte_carlo::grid_point;
using support::file_error;

namespace {

/// The channels and, behind them, the capture of a nuclide at an energy within its table.
struct values {
  std::array<f64, channels> xs{};
  f64 capture = 0;
};
values values_at(const nuclide& n, f64 energy) {
  const auto low =
      static_cast<std::size_t>(monte_carlo::interval_of(monte_carlo::nuclide_grid<f64>(n.points), energy));
  const grid_point<f64>&a = n.points[low], &b = n.points[low + 1];
  const f64 f = std::clamp((energy - a.energy) / (b.energy - a.energy), 0.0, 1.0);
  values v;
  for (std::size_t k = 0; k < channels; ++k) v.xs[k] = (1 - f) * a.xs[k] + f * b.xs[k];
  if (!n.capture.empty()) v.capture = (1 - f) * n.capture[low] + f * n.capture[low + 1];
  return v;
}

nuclide between(const nuclide& cold, const nuclide& hot, f64 temperature) {
  const f64 root = std::sqrt(cold.temperature),
            part = (std::sqrt(temperature) - root) / (std::sqrt(hot.temperature) - root);
  const f64 lowest = std::max(cold.lowest(), hot.lowest()), highest = std::min(cold.highest(), hot.highest());
  std::vector<f64> energies;
  for (const nuclide* n : {&cold, &hot})
    for (const grid_point<f64>& p : n->points)
      if (p.energy >= lowest && p.energy <= highest) energies.push_back(p.energy);
  std::sort(energies.begin(), energies.end());
  energies.erase(std::unique(energies.begin(), energies.end()), energies.end());
  if (energies.size() < 2)
    throw std::invalid_argument(
        fmt::format("wsl: the tables of {} at {:.1f} K and {:.1f} K have no energies in common: take files "
                    "of one library",
                    cold.name, cold.temperature, hot.temperature));
  nuclide n{.name = cold.name,
            .weight_ratio = cold.weight_ratio,
            .temperature = temperature,
            .file = cold.file == hot.file ? cold.file : cold.file + " and " + hot.file,
            .points = {},
            .capture = {}};
  const bool captures = !cold.capture.empty() && !hot.capture.empty();
  for (const f64 energy : energies) {
    const values a = values_at(cold, energy), b = values_at(hot, energy);
    grid_point<f64>& p = n.points.emplace_back();
    p.energy = energy;
    for (std::size_t k = 0; k < channels; ++k) p.xs[k] = (1 - part) * a.xs[k] + part * b.xs[k];
    if (captures) n.capture.push_back((1 - part) * a.capture + part * b.capture);
  }
  return n;
}

std::string temperatures_of(const std::vector<nuclide>& tables) {
  std::string all;
  for (const nuclide& n : tables) all += fmt::format("{}{:.1f} K", all.empty() ? "" : ", ", n.temperature);
  return all;
}

}  // namespace

void check_points(nuclide& n) {
  const auto bad = [&](std::size_t i, const std::string& what) {
    throw file_error(fmt::format("wsl: {}, table {}, point {}: {}", n.file, n.name, i + 1, what));
  };
  if (n.points.size() < 2)
    throw file_error(fmt::format("wsl: {}, table {}: {} points are too few to interpolate between", n.file,
                                 n.name, n.points.size()));
  constexpr const char* names[channels] = {"total", "elastic", "absorption", "fission", "nu-fission"};
  for (std::size_t i = 0; i < n.points.size(); ++i) {
    grid_point<f64>& p = n.points[i];
    if (!(p.energy > 0) || !std::isfinite(p.energy)) bad(i, fmt::format("{} eV is no energy", p.energy));
    if (i) {
      const f64 before = n.points[i - 1].energy;
      if (p.energy < before && p.energy != std::nextafter(before, 0.0))
        bad(i, fmt::format("its energy, {} eV, is below that of the point before, {} eV: energies ascend",
                           p.energy, before));
      if (p.energy <= before) p.energy = std::nextafter(before, std::numeric_limits<f64>::max());
    }
    for (std::size_t k = 0; k < channels; ++k)
      if (!(p.xs[k] >= 0) || !std::isfinite(p.xs[k]))
        bad(i,
            fmt::format("its {} cross section is {}: they are finite and not negative", names[k], p.xs[k]));
  }
}

nuclide at_temperature(std::vector<nuclide> tables, f64 temperature) {
  if (tables.empty()) throw std::invalid_argument("wsl: a nuclide has at least one table");
  std::sort(tables.begin(), tables.end(),
            [](const nuclide& a, const nuclide& b) { return a.temperature < b.temperature; });
  const auto stem = [](const nuclide& n) { return n.name.substr(0, n.name.find('.')); };
  for (std::size_t i = 1; i < tables.size(); ++i) {
    const nuclide &a = tables[i - 1], &b = tables[i];
    if (stem(a) != stem(b))
      throw std::invalid_argument(
          fmt::format("wsl: {} has {} and {} has {}: the files of one line of a material are those of one "
                      "nuclide at several temperatures",
                      a.file, a.name, b.file, b.name));
    if (b.temperature - a.temperature < 0.5)
      throw std::invalid_argument(fmt::format("wsl: {} and {} both have {} at {:.1f} K: leave one out",
                                              a.file, b.file, a.name, a.temperature));
  }
  const auto names = [&] {
    return fmt::format("wsl: {} has tables at {}", tables[0].name, temperatures_of(tables));
  };
  if (temperature == 0) {
    if (tables.size() == 1) return std::move(tables[0]);
    throw std::invalid_argument(names() + ": name a temperature of the material");
  }
  for (nuclide& n : tables)
    if (std::abs(n.temperature - temperature) <= 0.5) return std::move(n);
  if (temperature < tables.front().temperature || temperature > tables.back().temperature)
    throw std::invalid_argument(
        names() +
        fmt::format(", none of them on the other side of {:.1f} K: nothing is extrapolated, so take "
                    "another temperature or add a file",
                    temperature));
  std::size_t hot = 1;
  while (tables[hot].temperature < temperature) ++hot;
  return between(tables[hot - 1], tables[hot], temperature);
}

std::vector<nuclide> read_nuclide(const std::string& file) {
  std::error_code why;
  if (!std::filesystem::is_regular_file(file, why))
    throw file_error("wsl: cannot read " + file + ": it is no file");
  std::ifstream in(file, std::ios::binary);
  char begin[4] = {};
  in.read(begin, sizeof begin);
  if (std::string_view(begin, 4) == "\x89HDF") return read_openmc(file);
  return read_ace(app::read_file(file), file);
}

}  // namespace mc_app
