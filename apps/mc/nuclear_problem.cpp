// SPDX-License-Identifier: MIT
#include "nuclear_problem.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <sstream>
#include <wsl/support/file_error.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "material.hpp"

namespace mc_app {

using namespace wsl;
using namespace wsl::monte_carlo;
using support::file_error;

namespace {

spectrum read_spectrum(const std::string& file) {
  std::error_code why;
  if (!std::filesystem::is_regular_file(file, why))
    throw file_error(
        fmt::format("wsl: cannot read the spectrum {}: it is neither {} nor a file", file, lethargy));
  std::istringstream lines(app::read_file(file));
  std::vector<f64> edges, weights;
  std::size_t number = 0;
  const auto bad = [&](const std::string& what) {
    throw file_error(fmt::format("wsl: {}, line {}: {}", file, number, what));
  };
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream in(line.substr(0, line.find('#')));
    std::vector<f64> values;
    for (std::string word; in >> word;) {
      f64& x = values.emplace_back();
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), x);
      if (error != std::errc{} || stop != word.data() + word.size())
        bad(fmt::format("'{}' is no number", word.substr(0, 40)));
    }
    if (values.empty()) continue;
    if (edges.size() > weights.size())
      bad("a line before has no weight, which only the last one may leave out");
    if (values.size() > 2) bad("a line has an energy in eV and the weight of the bin that begins there");
    edges.push_back(values[0]);
    if (values.size() == 2) weights.push_back(values[1]);
  }
  try {
    return {std::move(edges), weights};
  } catch (const std::invalid_argument& e) {
    throw file_error(fmt::format("wsl: {}: {}", file, std::string(e.what()).substr(5)));
  }
}

}  // namespace

void declare_problem(CLI::App& app, std::vector<std::string>& materials, std::string& energies,
                     int most_materials) {
  app.add_option("--material", materials, "files of materials with nuclides from tables in files")
      ->expected(1, most_materials);
  app.add_option(
         "--spectrum", energies,
         "of the energies in these tables: lethargy, or a file with an energy in eV and a weight a line")
      ->capture_default_str();
}

nuclear_problem read_problem(const std::vector<std::string>& materials, const std::string& energies) {
  std::vector<std::vector<medium_nuclide>> all;
  f64 lowest = 0, highest = std::numeric_limits<f64>::max();
  std::string first, last;
  for (const std::string& file : materials) {
    const material_file m = read_material(file);
    if (m.one_group) throw file_error("wsl: " + file + " has one group and no tables to look up in");
    auto& some = all.emplace_back();
    for (std::size_t i = 0; i < m.nuclides.size(); ++i) {
      const nuclide& n = m.nuclides[i];
      some.push_back({n.points, m.densities[i], n.weight_ratio});
      if (n.lowest() > lowest) lowest = n.lowest(), first = n.file;
      if (n.highest() < highest) highest = n.highest(), last = n.file;
    }
  }
  if (!(lowest < highest))
    throw file_error(
        fmt::format("wsl: {} begins at {} eV, and {} ends at {} eV: the tables have no energies in common",
                    first, lowest, last, highest));
  if (energies == lethargy) return {std::move(all), spectrum::by_lethargy(lowest, highest)};
  const spectrum s = read_spectrum(energies);
  if (s.lowest() < lowest || s.highest() > highest)
    throw file_error(
        fmt::format("wsl: {} has energies from {} to {} eV, and the tables ({} and {}) from {} to {} eV",
                    energies, s.lowest(), s.highest(), first, last, lowest, highest));
  return {std::move(all), s};
}

std::string text(const nuclear_problem& p) {
  std::size_t nuclides = 0, points = 0;
  for (const auto& m : p.materials) {
    nuclides += m.size();
    for (const medium_nuclide& n : m) points += n.points.size();
  }
  return fmt::format("{} materials, {} nuclides, {} points, energies from {:.3g} to {:.3g} eV",
                     p.materials.size(), nuclides, points, p.energies.lowest(), p.energies.highest());
}

}  // namespace mc_app
