// SPDX-License-Identifier: MIT
#include "property.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <wsl/kernel/stencil/array_fingerprint.hpp>
#include <wsl/support/fingerprint.hpp>

#include "../memory.hpp"
#include "../ranks.hpp"
#include "alike.hpp"

namespace wave_app {
namespace {

using wsl::u32;
using wsl::u64;

std::optional<f64> number_in(const std::string& word) {
  f64 x = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(x)) return {};
  return x;
}

f32 swapped(f32 x) { return std::bit_cast<f32>(__builtin_bswap32(std::bit_cast<u32>(x))); }
/// Whether a number is allowed, and not so small as only bits in the wrong order make it.
bool is_meant(const property_rule& rule, f32 x) {
  return rule.is_allowed(x) && (x == 0 || std::abs(x) >= 1e-20f);
}

/// What all numbers of a property say together.
struct findings {
  f64 least = std::numeric_limits<f64>::infinity(), greatest = -least;
  u64 fingerprint = 0;
  u64 first_wrong = std::numeric_limits<u64>::max();  ///< the first number that is not allowed
  bool all_swapped = true;                            ///< all would be allowed in the other byte order

  void add(const property_rule& rule, u64 block, std::span<const f32> numbers) {
    fingerprint += wsl::support::fingerprint_of_block(block, numbers.data(), numbers.size_bytes());
    for (const f32& x : numbers) {
      if (rule.is_allowed(x)) least = std::min(least, f64{x}), greatest = std::max(greatest, f64{x});
      else first_wrong = std::min(first_wrong, block * of_block + static_cast<u64>(&x - numbers.data()));
      all_swapped = all_swapped && is_meant(rule, swapped(x));
    }
  }
  /// Those of all processes; collective.
  void agree() {
    fingerprint = app::sum(fingerprint);
    least = ordered(~app::largest(~in_order(least))), greatest = ordered(app::largest(in_order(greatest)));
    first_wrong = ~app::largest(~first_wrong);
    all_swapped = app::sum(!all_swapped) == 0;
  }

  static constexpr u64 of_block = wsl::support::bytes_of_fingerprint_block / sizeof(f32);

 private:
  static constexpr u64 sign = u64{1} << 63;
  /// Whole numbers in the order of those that they stand for: the bits of positive ones have it.
  static u64 in_order(f64 x) {
    const u64 bits = std::bit_cast<u64>(x);
    return bits & sign ? ~bits : bits | sign;
  }
  static f64 ordered(u64 bits) { return std::bit_cast<f64>(bits & sign ? bits & ~sign : ~bits); }
};

/// Throws if a file that this process has opened is not that of the first one, as far as its grid and some of
/// its numbers say; collective.
void require_same(const stored_volume& v, const std::string& option, bool stays) {
  wsl::support::fingerprint f;
  for (const int n : {v.size.x, v.size.y, v.size.z}) f.add(n);
  for (const f64 h : {v.spacing.x, v.spacing.y, v.spacing.z}) f.add(h);
  f.add(stays);
  const std::string what = "file of " + option;
  app::engine{}.require_same(f.value(), what.c_str());
  if (!stays) return;
  std::vector<f32> plane(cells{1, v.size.y, v.size.z}.count());
  do_alike(true, [&] {
    for (const int x : {0, v.size.x / 2, v.size.x - 1}) {
      v.read({{x, x + 1}, {0, v.size.y}}, plane);
      wsl::grid::add_array(f, std::span<const f32>(plane));
    }
  });
  app::engine{}.require_same(f.value(), what.c_str());
}

/// Looks at all numbers, which processes share out in runs of blocks.
findings findings_of(const property_rule& rule, const stored_volume& v, bool are_shared) {
  const u64 count = v.size.count(), blocks = (count + findings::of_block - 1) / findings::of_block;
  const u64 processes = are_shared ? static_cast<u64>(app::ranks()) : 1,
            process = are_shared ? static_cast<u64>(app::rank()) : 0;
  const u64 plane = static_cast<u64>(v.size.y) * static_cast<u64>(v.size.z);
  findings found;
  std::vector<f32> block, numbers;  // the plane that was read last
  u64 last = count;
  do_alike(are_shared, [&] {
    for (u64 b = blocks * process / processes; b < blocks * (process + 1) / processes; ++b) {
      block.clear();
      for (u64 i = b * findings::of_block; i < std::min(count, (b + 1) * findings::of_block);) {
        const u64 x = i / plane, begin = i - x * plane,
                  n = std::min({plane - begin, findings::of_block - block.size(), count - i});
        if (x != last) {
          numbers.resize(static_cast<std::size_t>(plane));
          v.read({{static_cast<int>(x), static_cast<int>(x) + 1}, {0, v.size.y}}, numbers);
          last = x;
        }
        const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
        block.insert(block.end(), from, from + static_cast<std::ptrdiff_t>(n));
        i += n;
      }
      found.add(rule, b, block);
    }
  });
  if (are_shared) found.agree();
  return found;
}

/// Throws for numbers that are not allowed. Returns what they say.
findings checked(const property_rule& rule, const stored_volume& v, const model_file& file, bool is_resampled,
                 bool are_shared) {
  const findings found = findings_of(rule, v, are_shared);
  if (found.first_wrong >= v.size.count()) return found;
  do_alike(are_shared, [&] {
    if (found.all_swapped && !is_bare_model(file))
      refuse("{}: the numbers of {} are in the other byte order than it says", file.option, file.name);
    if (found.all_swapped)
      refuse("{}: {} is big-endian: write it with little-endian numbers", file.option, file.name);
    const cells c = v.size.cell(static_cast<std::size_t>(found.first_wrong));
    std::vector<f32> line(static_cast<std::size_t>(v.size.z));
    v.read({{c.x, c.x + 1}, {c.y, c.y + 1}}, line);
    const std::string what =
        is_resampled ? fmt::format("{}: {} in cell ({}, {}, {})", file.option, file.name, c.x, c.y, c.z)
                     : fmt::format("{}: number {} of {}", file.option, found.first_wrong, file.name);
    not_allowed(rule, what, line[static_cast<std::size_t>(c.z)]);
  });
  return found;
}

/// Gives a grid that is not given the size of a model.
void take_size(run_grid& grid, const stored_volume& m) {
  if (grid.is_given) return;
  const auto cells_of = [&](int n, f64 h) {
    const f64 cells = std::floor((n - 1) * h / grid.spacing + 1e-6) + 1;
    if (cells > 1e6) refuse("--spacing: the model would be {:.0f} cells of {:g} m long", cells, grid.spacing);
    return static_cast<int>(cells);
  };
  grid.size = {cells_of(m.size.x, m.spacing.x), cells_of(m.size.y, m.spacing.y),
               cells_of(m.size.z, m.spacing.z)};
  grid.is_given = true;
  require_room(grid);
}

/// The numbers of a file for the cells of a grid.
struct numbers_on_grid {
  stored_volume of;
  bool is_resampled = false, is_line = false;  ///< is_line: one along z, which is a model for each z
};
numbers_on_grid opened_on_grid(const model_file& file, const std::vector<f64>& model_spacing,
                               run_grid& grid) {
  stored_volume m = open_model(file, grid.size, grid.spacing);
  if (!is_bare_model(file)) {
    const auto spacing = [&](f64 in_file, std::size_t axis) {
      return !model_spacing.empty() ? model_spacing[axis] : in_file > 0 ? in_file : grid.spacing;
    };
    m.spacing = {spacing(m.spacing.x, 0), spacing(m.spacing.y, 1), spacing(m.spacing.z, 2)};
  }
  take_size(grid, m);
  if (m.size == grid.size && m.spacing == extent{grid.spacing, grid.spacing, grid.spacing})
    return {std::move(m)};
  if (app::is_root())
    fmt::print("{}: {} cells of {:g} x {:g} x {:g} m, resampled to {} cells of {:g} m (trilinear)\n",
               file.option.substr(2), text(m.size), m.spacing.x, m.spacing.y, m.spacing.z, text(grid.size),
               grid.spacing);
  const std::string name = file.option + ": " + file.name;
  const bool is_line = m.size.x == 1 && m.size.y == 1 && m.size.z > 1;
  return {resampled(std::move(m), is_line ? cells{1, 1, grid.size.z} : grid.size, grid.spacing, name), true,
          is_line};
}

}  // namespace

void require_room(const run_grid& grid, int shots) {
  constexpr f64 of_model = 8;
  const f64 all = static_cast<f64>(grid.size.x) * grid.size.y * grid.size.z,
            of_process = (grid.bytes_of_cell - of_model) / grid.processes + grid.bytes_of_whole,
            wanted = of_process * shots * all;
  const f64 there = app::memory_there(grid.processes_here);
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

bool is_file(const std::vector<std::string>& words) { return words.size() == 1 && !number_in(words[0]); }

void not_allowed(const property_rule& rule, const std::string& what, f32 number) {
  refuse("{} is {:g}{}; {}", what, number, rule.unit, rule.sentence);
}

// Sound in matter: in air 330 m/s, in rubber some 50, in diamond 18000.
const property_rule velocity_rule{
    "velocity", [](f32 v) { return v >= 10 && v <= 20000; }, " m/s",
    "velocities are positive, from 10 to 20000 m/s, those of sound in matter: take metres a second"};
const property_rule density_rule{"density", [](f32 rho) { return rho >= 1e-9f && rho <= 1e9f; }, "",
                                 "densities are positive, from 1e-9 to 1e9 in any unit"};
const property_rule epsilon_rule{"epsilon", [](f32 x) { return x > -0.5f && x <= 2; }, "",
                                 "Thomsen's epsilon is above -0.5, and at most 2"};
const property_rule delta_rule{"delta", [](f32 x) { return x > -0.5f && x <= 2; }, "",
                               "Thomsen's delta is above -0.5, and at most 2"};

property of_file(const model_file& file, const property_rule& rule, const std::vector<f64>& model_spacing,
                 run_grid& grid, keeping how, bool are_shared) {
  numbers_on_grid found;
  bool stays = false;
  std::vector<f32> numbers;  // all, unless they stay
  do_alike(are_shared, [&] {
    found = opened_on_grid(file, model_spacing, grid);
    const stored_volume& m = found.of;
    stays = !found.is_line && (how == keeping::in_files || (how == keeping::in_plain_files && m.is_plain));
    if (stays) grid.bytes_of_whole += m.bytes_kept / static_cast<f64>(grid.size.count());
    else if (m.size == grid.size) grid.bytes_of_whole += 8;  // and a copy
    require_room(grid);
    if (stays) return;
    const auto all = std::make_shared<volume>(volume{m.size, m.spacing, numbers_of(m)});
    checked(rule, stored(all), file, found.is_resampled, false);
    numbers = std::move(all->numbers);
  });
  if (are_shared && app::ranks() > 1) require_same(found.of, file.option, stays);
  if (!stays) return {std::move(numbers)};
  const findings all = checked(rule, found.of, file, found.is_resampled, are_shared);
  return {{}, {all.least, all.greatest, all.fingerprint, std::move(found.of.read)}};
}

property of_words(const std::string& option, const property_rule& rule, const std::vector<std::string>& words,
                  const std::vector<f64>& model_spacing, run_grid& grid, keeping how, bool are_shared) {
  std::vector<f64> numbers;
  for (const std::string& word : words) {
    if (const auto x = number_in(word)) numbers.push_back(*x);
    else if (words.size() == 1)
      return of_file({option, word, rule.name}, rule, model_spacing, grid, how, are_shared);
    else refuse("{}: '{}' is no number; layers are given as a depth and a {} each", option, word, rule.name);
  }
  if (numbers.size() == 1) return {{static_cast<f32>(numbers[0])}};
  return {layered(option, rule.name, numbers, grid)};
}

}  // namespace wave_app
