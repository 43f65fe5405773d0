// SPDX-License-Identifier: MIT
#include "material.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <wsl/support/file_error.hpp>

#include "../files.hpp"

namespace mc_app {

using namespace wsl;
using monte_carlo::medium_nuclide;
using support::file_error;

namespace {

/// The largest file that is taken for one of a material.
constexpr std::uintmax_t most_bytes = 1'000'000;

class reader {
 public:
  explicit reader(const std::string& file) : file_(file) {
    std::error_code why;
    if (!std::filesystem::is_regular_file(file, why))
      throw file_error("wsl: cannot read the material " + file + ": it is no file");
    if (std::filesystem::file_size(file) > most_bytes)
      throw file_error("wsl: " + file +
                       " is too large for the file of a material: that names the files of nuclides");
    std::istringstream lines(app::read_file(file));
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      std::istringstream in(line.substr(0, line.find('#')));
      std::vector<std::string> words;
      for (std::string word; in >> word;) words.push_back(word);
      if (!words.empty()) take(words);
    }
  }

  material_file result() {
    material_file m{
        .name = file_, .one_group = {}, .nuclides = {}, .densities = densities_, .spectrum = spectrum_};
    if (group_.empty() == lines_.empty())
      throw file_error(fmt::format(
          "wsl: {}: a material has {}: lines `scatter`, `capture`, `fission` and `nu` of one group, or lines "
          "`nuclide DENSITY FILE`",
          file_, group_.empty() ? "something to collide with" : "one of both"));
    if (!group_.empty()) {
      if (temperature_ != 0) throw file_error("wsl: " + file_ + ": one group has no temperature");
      if (has_spectrum_)
        throw file_error("wsl: " + file_ + ": one group has no energies, so no spectrum `watt` of them");
      const auto of = [&](const char* name) { return group_.contains(name) ? group_[name] : 0; };
      if (of("fission") > 0 && !group_.contains("nu"))
        throw file_error("wsl: " + file_ + ": with fission there is `nu`, the number of its neutrons");
      const f64 absorption = of("capture") + of("fission");
      m.one_group = {.total = of("scatter") + absorption,
                     .absorption = absorption,
                     .fission = of("fission"),
                     .nu_fission = of("nu") * of("fission")};
      if (!(m.one_group->total > 0)) throw file_error("wsl: " + file_ + ": all its cross sections are 0");
    }
    for (const auto& [line, files] : lines_) {
      number_ = line;
      std::vector<nuclide> tables;
      for (const std::string& one : files) {
        const auto path = std::filesystem::path(file_).parent_path() / one;
        if (std::error_code why; !std::filesystem::is_regular_file(path, why))
          bad("there is no file " + path.string());
        for (nuclide& n : read_nuclide(path.string())) tables.push_back(std::move(n));
      }
      try {
        m.nuclides.push_back(at_temperature(std::move(tables), temperature_));
      } catch (const file_error&) { throw; } catch (const std::invalid_argument& e) {
        bad(std::string(e.what()).substr(5));
      }
    }
    return m;
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw file_error(fmt::format("wsl: {}, line {}: {}", file_, number_, what));
  }
  f64 number(const std::string& word, bool may_be_zero) const {
    f64 x = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    if (error != std::errc{} || stop != word.data() + word.size() || !std::isfinite(x) || x < 0 ||
        (x == 0 && !may_be_zero))
      bad(fmt::format("'{}' is no number {}", word.substr(0, 40), may_be_zero ? "from 0 on" : "above 0"));
    return x;
  }
  void take(const std::vector<std::string>& words) {
    const std::string& name = words[0];
    const auto has = [&](std::size_t values) {
      if (words.size() != 1 + values)
        bad(fmt::format("`{}` has {} and not {} values", name, values, words.size() - 1));
    };
    const auto once = [&](bool before) {
      if (before) bad(fmt::format("`{}` is given twice", name));
    };
    if (name == "scatter" || name == "capture" || name == "fission" || name == "nu") {
      has(1), once(group_.contains(name));
      group_[name] = number(words[1], true);
    } else if (name == "temperature") {
      has(1), once(temperature_ != 0);
      temperature_ = number(words[1], false);
    } else if (name == "watt") {
      has(2), once(has_spectrum_);
      spectrum_ = {number(words[1], false), number(words[2], true)}, has_spectrum_ = true;
    } else if (name == "nuclide") {
      if (words.size() < 3) bad("a nuclide has a density in atoms/(barn cm) and at least one file");
      densities_.push_back(number(words[1], false));
      lines_.push_back({number_, {words.begin() + 2, words.end()}});
    } else {
      bad(fmt::format("'{}' is none of nuclide, temperature, watt, scatter, capture, fission and nu",
                      name.substr(0, 40)));
    }
  }

  const std::string& file_;
  std::size_t number_ = 0;
  std::map<std::string, f64> group_;
  f64 temperature_ = 0;
  monte_carlo::watt_spectrum spectrum_;
  bool has_spectrum_ = false;
  std::vector<f64> densities_;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> lines_;  ///< of nuclides, and their files
};

}  // namespace

monte_carlo::medium material_file::medium() const {
  if (one_group) return monte_carlo::medium(*one_group);
  std::vector<medium_nuclide> all;
  for (std::size_t i = 0; i < nuclides.size(); ++i)
    all.push_back({nuclides[i].points, densities[i], nuclides[i].weight_ratio});
  return monte_carlo::medium(std::move(all), spectrum);
}

material_file read_material(const std::string& file) { return reader(file).result(); }

}  // namespace mc_app
