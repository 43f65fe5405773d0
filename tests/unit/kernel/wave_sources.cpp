// SPDX-License-Identifier: MIT
// Densities and parameters of anisotropy that are read where they are needed give what those in memory give.
#include "wave_media.hpp"

#include <catch2/catch.hpp>
#include <wsl/kernel/wave.hpp>
#include <wsl/kernel/wave/imaging.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

/// Numbers between two for all cells of a grid.
std::vector<f32> numbers_between(const grid::cells& size, f32 least, f32 greatest, std::size_t seed) {
  std::vector<f32> all(size.count());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = least + (greatest - least) * static_cast<f32>((i * 7919 + seed) % 1000) / 999;
  return all;
}
/// A source of numbers, which outlive it; it counts the cells that it gave.
grid::cell_source source_of(const std::vector<f32>& all, const grid::cells& size,
                            std::size_t* given = nullptr) {
  const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
  return {f64{*least}, f64{*greatest}, support::fingerprint_of_blocks(all.data(), all.size() * sizeof(f32)),
          [&all, size, given](const grid::lines& some, std::span<f32> to) {
            if (given) *given += to.size();
            auto next = to.begin();
            for (int x = some.x.from; x < some.x.to; ++x)
              for (int y = some.y.from; y < some.y.to; ++y)
                next = std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(size.index({x, y, 0})), size.z,
                                   next);
            CHECK(next == to.end());
          }};
}

wave25::problem shot_of(const grid::cells& size, wave25::border sides) {
  return {.size = size,
          .spacing = 10,
          .edge = sides,
          .edge_width = 5,
          .free_surface = sides == wave25::border::cpml,
          .sources = {{.at = {8, 9, 7}, .peak_hz = 12, .delay = 0.02},
                      {.peak_hz = 9,
                       .delay = 0.02,
                       .place = wave25::point{102.5, 97, 81},
                       .kind = wave25::source_term::point}},
          .receivers = {{3, 10, 5}, wave25::point{121, 101, 60}}};
}

template <class Medium>
void give_the_same(const wave25::problem& in_memory, const wave25::problem& read, const Medium& whole,
                   const Medium& parts) {
  const seismic::problem expected{in_memory, whole}, found{read, parts};
  CHECK(found.time_step() == expected.time_step());
  CHECK(seismic::fingerprint_of(found) == seismic::fingerprint_of(expected));
  // what parts of the cells say together is what all say
  seismic::survey sum;
  for (int i = 0; i < 3; ++i)
    sum.add(seismic::survey_of(parts, read, {grid::share(read.size.x, 3, i), {0, read.size.y}}));
  const seismic::survey all = seismic::survey_of(whole, in_memory);
  CHECK(
      (sum.eigenvalue == all.eigenvalue && sum.fastest == all.fastest && sum.first_wrong == all.first_wrong));

  const seismic::options how{.wide = 3, .high = 2, .depth = 2, .threads = 2};
  seismic::simulation a{expected, how}, b{found, how};
  a.run(30), b.run(30);
  CHECK((a.field() == b.field()));
  CHECK((a.trace(0) == b.trace(0)));
  CHECK((a.trace(1) == b.trace(1)));
  CHECK(*std::max_element(a.trace(1).begin(), a.trace(1).end()) > 0);

  const auto residual = [](const wave25::traces& synthetic) { return synthetic; };
  const wave25::image one = wave25::migrate(expected, 12, residual),
                      other = wave25::migrate(found, 12, residual);
  CHECK((one.gradient == other.gradient));
  CHECK((one.illumination == other.illumination));
}

}  // namespace

TEST_CASE("seismic: properties that are read give the waves and the image of those in memory") {
  const grid::cells size{16, 18, 15};
  const auto sides = GENERATE(wave25::border::sponge, wave25::border::cpml);
  const std::vector<f32> v = numbers_between(size, 1800, 2600, 1), rho = numbers_between(size, 900, 2700, 2),
                         epsilon = numbers_between(size, 0.1f, 0.3f, 3),
                         delta = numbers_between(size, -0.1f, 0.1f, 4);
  wave25::problem in_memory = shot_of(size, sides), read = in_memory;
  in_memory.velocity = v, read.velocity = {}, read.model = source_of(v, size);
  give_the_same(in_memory, read, seismic::variable_density{rho},
                seismic::variable_density{source_of(rho, size)});
  give_the_same(in_memory, read, seismic::vti{epsilon, delta},
                seismic::vti{source_of(epsilon, size), source_of(delta, size)});
  // one of them alone is read, too
  give_the_same(in_memory, in_memory, seismic::vti{epsilon, 0.05f},
                seismic::vti{source_of(epsilon, size), 0.05f});
}

TEST_CASE("seismic: a process reads the properties of its own cells once, and not those of others") {
  const grid::cells size{40, 9, 8};
  const std::vector<f32> rho = numbers_between(size, 900, 2700, 5);
  std::size_t given = 0;
  const wave25::problem shot{.size = size, .spacing = 10};
  seismic::problem p{shot, seismic::variable_density{source_of(rho, size, &given)}};
  p.found = seismic::survey_of(p.medium, shot);
  CHECK(given == size.count());  // whose neighbours are kept
  given = 0;
  const seismic::problem checked = p.checked();
  CHECK(given == 0);
  seismic::simulation s{checked, {.wide = 4, .high = 1, .depth = 1, .threads = 1}};
  // and the 4 cells at each side of a PE's
  CHECK(given >= size.count());
  CHECK(given <= size.count() + 2 * 4 * 4 * 9 * 8);
}

TEST_CASE("wave25: a model that gives other velocities than it says is refused with the cell") {
  wave25::problem p{.size = {8, 7, 9}};
  for (const f32 wrong : {9000.f, -2000.f, std::numeric_limits<f32>::quiet_NaN()}) {
    p.model = {1500, 2000, 1, [=](const grid::lines& l, std::span<f32> to) {
                 std::fill(to.begin(), to.end(), 1800.f);
                 if (l.x.has(5)) to[9 * static_cast<std::size_t>(3 - l.y.from) + 4] = wrong;
               }};
    CHECK_THROWS_WITH(wave25::simulation{p}, Catch::Contains("in cell (5, 3, 4), and its `least` and"));
  }
}

TEST_CASE("seismic: a source of numbers that are not allowed is refused with the cell or the range") {
  const grid::cells size{6, 7, 8};
  const wave25::problem shot{.size = size, .spacing = 10};
  const std::vector<f32> rho = numbers_between(size, -1, 5, 6);
  CHECK_THROWS_WITH((seismic::problem{shot, seismic::variable_density{source_of(rho, size)}}.checked()),
                    Contains("a density of a source goes from -0.9") && Contains("densities are positive"));
  std::vector<f32> epsilon(size.count(), 0.2f), delta(size.count(), 0.1f);
  delta[size.index({4, 5, 3})] = 0.3f;
  const seismic::problem wrong{shot, seismic::vti{source_of(epsilon, size), source_of(delta, size)}};
  CHECK_THROWS_WITH(wrong.checked(), Contains("epsilon is 0.200000 and delta 0.300000 in cell (4, 5, 3)"));
  seismic::problem surveyed = wrong;  // by several processes, for instance
  surveyed.found = seismic::survey_of(wrong.medium, shot);
  CHECK_THROWS_WITH(surveyed.checked(), Contains("in cell (4, 5, 3)"));
  auto lost = source_of(epsilon, size);
  lost.read = [](const grid::lines&, std::span<f32>) { throw std::runtime_error("the disk is gone"); };
  CHECK_THROWS_WITH((seismic::simulation{seismic::problem{shot, seismic::vti{lost, 0.f}}}),
                    Contains("the disk is gone"));
}
