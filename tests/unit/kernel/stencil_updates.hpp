// SPDX-License-Identifier: MIT
// Updates for the tests of the stencils: one to three axes, radii 1 to 4, stars and squares, one to three
// fields, coefficients, scalars, and values of the step before. None grows, so numbers stay ordinary.
#pragma once
#include <wsl/kernel/stencil.hpp>

#include <random>

namespace updates {

using wsl::stencils::takes, wsl::stencils::footprint_of;

inline constexpr auto line = [](auto u) { return 0.5f * u(0) + 0.3f * u(-2) + 0.2f * u(1); };
inline constexpr auto heat = [](auto u) {
  return u(0, 0) + 0.1f * (u(1, 0) + u(-1, 0) + u(0, 1) + u(0, -1) - 4 * u(0, 0));
};
inline constexpr auto square = [](auto u) {
  return 0.125f * ((u(-1, -1) + u(-1, 0) + u(-1, 1)) + (u(0, -1) + u(0, 1)) + (u(1, -1) + u(1, 0) + u(1, 2)));
};
inline constexpr auto wide_square = [](auto u, auto v) {
  auto sum = 0 * u(0, 0);
  for (int i = -2; i <= 3; ++i)
    for (int j = -3; j <= 1; ++j) sum += (u(i, j) - v(j, i)) * (1.f / 60);
  return std::tuple{sum + v(0, 0), min(max(sum, -1), v(1, 0))};
};
inline constexpr auto heat_3d = [](auto u) {
  return 0.25f * u(0, 0, 0) +
         0.125f * ((u(1, 0, 0) + u(-1, 0, 0)) + (u(0, 1, 0) + u(0, -1, 0)) + (u(0, 0, 1) + u(0, 0, -1)));
};
inline constexpr auto cube = [](auto u, auto scale) {
  return scale * (u(1, 1, 1) + u(-1, -1, -1) - u(1, -1, 0) + u(0, 1, -1) + u(0, 0, 0));
};
/// The 25-point wave equation.
inline constexpr auto wave = [](auto u, auto k) {
  constexpr float w[] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
  auto sum = 3 * w[0] * u(0, 0, 0);
  for (int r = 1; r <= 4; ++r)
    sum += w[r] * ((u(0, 0, -r) + u(0, 0, r)) + (u(0, -r, 0) + u(0, r, 0)) + (u(-r, 0, 0) + u(r, 0, 0)));
  return 2 * u(0, 0, 0) - u.before(0, 0, 0) + k(0, 0, 0) * sum;
};
/// The wave equation in a plane, with a radius of 1.
inline constexpr auto wave_2d = [](auto u) {
  return 2 * u(0, 0) - u.before(0, 0) + 0.2f * ((u(1, 0) + u(-1, 0)) + (u(0, 1) + u(0, -1)) - 4 * u(0, 0));
};
/// Diffusion with a conductivity between cells, and a field that remembers.
inline constexpr auto conduct = [](auto u, auto kept, auto k, auto rate, auto loss) {
  const auto east = (k(0, 1) + k(0, 0)) * (u(0, 1) - u(0, 0)),
             west = (k(0, 0) + k(0, -1)) * (u(0, 0) - u(0, -1)),
             south = (k(1, 0) + k(0, 0)) * (u(1, 0) - u(0, 0)),
             north = (k(0, 0) + k(-1, 0)) * (u(0, 0) - u(-1, 0));
  const auto change = rate * ((east - west) + (south - north));
  return std::tuple{u(0, 0) + change,
                    select(change > 0, kept(0, 0) * (1 - loss) + change, kept.before(0, 0))};
};
inline constexpr auto conduct_3d = [](auto u, auto k) {
  return u(0, 0, 0) + 0.05f * (k(1, 0, 0) * u(1, 0, 0) + k(0, -1, 0) * u(0, -1, 0) +
                               k(0, 0, 2) * u(0, 0, -1) - 3 * u(0, 0, 0));
};
inline constexpr auto roots = [](auto u) {
  return sqrt(abs(u(0, 0)) + u(-1, 1) * u(-1, 1)) / (1 + abs(u(1, 0)));
};

/// The same sides with values for so many fields at most.
inline wsl::stencils::boundaries of_fields(const wsl::stencils::boundaries& all, int fields) {
  const auto axis = [&](int a) {
    wsl::stencils::axis_sides both = all[a];
    for (wsl::stencils::boundary::side* s : {&both.low, &both.high}) s->given = std::min(s->given, fields);
    return both;
  };
  switch (all.given()) {
    case 0: return axis(0).low;
    case 1: return {axis(0)};
    case 2: return {axis(0), axis(1)};
    default: return {axis(0), axis(1), axis(2)};
  }
}

/// Numbers between -1 and 1.
template <class T>
std::vector<T> numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> all(n);
  for (T& x : all) x = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 1000;
  return all;
}

/// Fills what an update takes: fields, values of the step before, coefficients and scalars.
template <auto update, takes in, class T, class Simulation>
void fill(Simulation& s, std::size_t cells) {
  for (int f = 0; f < in.fields; ++f) {
    s.load(numbers<T>(cells, unsigned(f + 1)), f);
    if constexpr (footprint_of<update, in>.before) s.load_before(numbers<T>(cells, unsigned(f + 101)), f);
  }
  for (int c = 0; c < in.coefficients; ++c) {
    std::vector<T> k = numbers<T>(cells, unsigned(c + 201));
    for (T& x : k) x = T(0.1) + (x + 1) / 30;
    s.coefficient(c, k);
  }
  for (int i = 0; i < in.scalars; ++i) s.scalar(i, T(0.2) - T(i) / 50);
}

/// The index of the first number that differs, in any bit but those of a zero's sign; -1 if there is none.
template <class T>
std::ptrdiff_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return std::ptrdiff_t(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) return std::ptrdiff_t(i);
  return -1;
}

template <class Simulation>
auto all_fields(Simulation& s, int fields) {
  std::vector<std::decay_t<decltype(s.values(0))>> all;
  for (int f = 0; f < fields; ++f) all.push_back(s.values(f));
  return all;
}

}  // namespace updates
