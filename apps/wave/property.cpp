// SPDX-License-Identifier: MIT
#include "property.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "../files.hpp"
#include "../memory.hpp"
#include "../ranks.hpp"

namespace wave_app {
namespace {

std::optional<f64> number_in(const std::string& word) {
  f64 x = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(x)) return {};
  return x;
}

std::vector<f32> shaped_model(const model_file& file, const std::vector<f64>& model_spacing, run_grid& grid) {
  volume m = read_model(file);
  const auto spacing = [&](f64 in_file, std::size_t axis) {
    return !model_spacing.empty() ? model_spacing[axis] : in_file > 0 ? in_file : grid.spacing;
  };
  m.spacing = {spacing(m.spacing.x, 0), spacing(m.spacing.y, 1), spacing(m.spacing.z, 2)};
  if (!grid.is_given) {
    const auto cells_of = [&](int n, f64 h) {
      const f64 cells = std::floor((n - 1) * h / grid.spacing + 1e-6) + 1;
      if (cells > 1e6)
        refuse("--spacing: the model would be {:.0f} cells of {:g} m long", cells, grid.spacing);
      return static_cast<int>(cells);
    };
    grid.size = {cells_of(m.size.x, m.spacing.x), cells_of(m.size.y, m.spacing.y),
                 cells_of(m.size.z, m.spacing.z)};
    grid.is_given = true;
    require_room(grid);
  }
  const extent ours{grid.spacing, grid.spacing, grid.spacing};
  if (m.size == grid.size && m.spacing == ours) return std::move(m.numbers);
  fmt::print("{}: {} cells of {:g} x {:g} x {:g} m, resampled to {} cells of {:g} m (trilinear)\n",
             file.option.substr(2), text(m.size), m.spacing.x, m.spacing.y, m.spacing.z, text(grid.size),
             grid.spacing);
  const std::string name = file.option + ": " + file.name;
  // One line along z is a model for each z.
  if (m.size.x == 1 && m.size.y == 1 && m.size.z > 1)
    return resampled(m, {1, 1, grid.size.z}, grid.spacing, name);
  return resampled(m, grid.size, grid.spacing, name);
}

// The size is known before the file is read.
std::vector<f32> bare_model(const model_file& file, const cells& size) {
  const std::uintmax_t wanted = size.count() * sizeof(f32);
  std::error_code unreadable;
  const std::uintmax_t there = std::filesystem::file_size(file.name, unreadable);
  if (unreadable) refuse("{}: cannot read {}: {}", file.option, file.name, unreadable.message());
  if (there != wanted)
    refuse("{}: {} has {} bytes; a grid of {} cells takes {} (4 a cell)", file.option, file.name, there,
           text(size), wanted);
  const std::string bytes = app::read_file(file.name);
  std::vector<f32> v(size.count());
  std::memcpy(v.data(), bytes.data(), bytes.size());
  return v;
}

}  // namespace

void require_room(const run_grid& grid, int shots) {
  constexpr f64 of_model = 8;
  const f64 all = static_cast<f64>(grid.size.x) * grid.size.y * grid.size.z,
            of_process = (grid.bytes_of_cell - of_model) / grid.processes + grid.bytes_of_whole,
            wanted = of_process * shots * all;
  const f64 there = app::memory_there(grid.processes > 1 ? app::ranks_here() : 1);
  if (wanted <= there) return;
  if (grid.processes > 1)
    refuse("--grid: {} cells take about {} in each of {} processes, which can have {}: start more of them",
           text(grid.size), app::size_text(wanted), grid.processes, app::size_text(there));
  refuse("{}: {} cells take about {}; this computer has {}", shots > 1 ? "--shots-at-a-time" : "--grid",
         text(grid.size), app::size_text(wanted), app::size_text(there));
}

std::vector<f32> layered(const std::string& option, const char* what, const std::vector<f64>& layers,
                         const run_grid& grid) {
  std::vector<f32> v(static_cast<std::size_t>(grid.size.z));
  if (layers.size() % 2)
    refuse("{}: each layer has a depth and a {}; of {} numbers the last, {:g}, has no other", option, what,
           layers.size(), layers.back());
  if (layers.front() != 0)
    refuse("{}: the first layer begins at a depth of 0 m, not {:g} m", option, layers.front());
  for (std::size_t i = 2; i < layers.size(); i += 2)
    if (!(layers[i] > layers[i - 2])) refuse("{}: depths grow from layer to layer", option);
  for (std::size_t z = 0; z < v.size(); ++z)
    for (std::size_t i = 0; i < layers.size(); i += 2)
      if (static_cast<f64>(z) * grid.spacing >= layers[i]) v[z] = static_cast<f32>(layers[i + 1]);
  return v;
}

std::vector<f32> of_file(const model_file& file, const std::vector<f64>& model_spacing, run_grid& grid) {
  return is_bare_model(file) ? bare_model(file, grid.size) : shaped_model(file, model_spacing, grid);
}

bool is_file(const std::vector<std::string>& words) { return words.size() == 1 && !number_in(words[0]); }

std::vector<f32> of_words(const std::string& option, const char* what, const std::vector<std::string>& words,
                          const std::vector<f64>& model_spacing, run_grid& grid) {
  std::vector<f64> numbers;
  for (const std::string& word : words) {
    if (const auto x = number_in(word)) numbers.push_back(*x);
    else if (words.size() == 1) return of_file({option, word, what}, model_spacing, grid);
    else refuse("{}: '{}' is no number; layers are given as a depth and a {} each", option, word, what);
  }
  if (numbers.size() == 1) return {static_cast<f32>(numbers[0])};
  return layered(option, what, numbers, grid);
}

}  // namespace wave_app
