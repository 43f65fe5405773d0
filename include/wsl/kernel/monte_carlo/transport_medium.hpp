// SPDX-License-Identifier: MIT
// What neutrons fly through: one homogeneous material, either with the same cross sections at every energy
// (one group), or with tables of nuclides over energy, whose nuclei are at rest and scatter elastically and
// isotropically in the centre of mass. See transport.hpp and examples/121_criticality.cpp.
#pragma once
#include <cmath>
#include <limits>
#include <numbers>

#include "../../support/bad_argument.hpp"
#include "reference.hpp"

namespace wsl::monte_carlo {

/// Macroscopic cross sections in 1/cm. Absorption is what ends a neutron, fission included.
struct macroscopic {
  f64 total = 0, absorption = 0, fission = 0, nu_fission = 0;
};

/// A nuclide of a medium: its table with energies in eV and channels in barns, in the order total, elastic,
/// absorption (with fission), fission, nu-fission; its density in atoms/(barn cm); its mass in neutron
/// masses.
struct medium_nuclide {
  std::vector<grid_point<f64>> points;
  f64 density = 0, weight_ratio = 0;
};

/// Energies of neutrons from fission, Watt's spectrum exp(-E / a) sinh(sqrt(b E)). The default is that of
/// U-235 and thermal neutrons.
struct watt_spectrum {
  f64 a = 0.988e6;   ///< in eV
  f64 b = 2.249e-6;  ///< in 1/eV

  /// A number from the spectrum of Maxwell with temperature a, moved as by a nucleus with that energy.
  f64 draw(random_stream& numbers) const {
    const f64 one = std::log(1 - numbers.next()), two = std::log(1 - numbers.next()),
              cosine = std::cos(0.5 * std::numbers::pi * numbers.next());
    const f64 maxwell = -a * (one + two * cosine * cosine);
    return maxwell + 0.25 * a * a * b + (2 * numbers.next() - 1) * std::sqrt(a * a * b * maxwell);
  }
};

/// The energy after an elastic collision with a nucleus at rest over that before it, and the cosine of the
/// angle of deflection in the laboratory, for the cosine in the centre of mass.
struct elastic_collision {
  f64 energy_ratio = 1, cosine = 0;
  constexpr elastic_collision(f64 weight_ratio, f64 cosine_of_mass) {
    const f64 square = weight_ratio * weight_ratio + 2 * weight_ratio * cosine_of_mass + 1;
    energy_ratio = square / ((weight_ratio + 1) * (weight_ratio + 1));
    // behind a nucleus of one neutron mass nothing is left at the angle of 180 degrees
    cosine = square > 0 ? (1 + weight_ratio * cosine_of_mass) / std::sqrt(square) : 0;
  }
};

class medium {
 public:
  /// One group. Throws std::invalid_argument unless all numbers are finite and not negative, the total is
  /// positive and at least absorption, which is at least fission, and nu-fission at most 1000 times the
  /// total.
  explicit medium(const macroscopic& one_group) : constant_(one_group) {
    for (const f64 x : {constant_.total, constant_.absorption, constant_.fission, constant_.nu_fission})
      if (!(x >= 0) || !std::isfinite(x))
        support::bad_argument({"cross sections are finite and not negative"});
    if (!(constant_.total > 0)) support::bad_argument({"the total cross section of a medium is positive"});
    if (constant_.absorption > constant_.total || constant_.fission > constant_.absorption)
      support::bad_argument(
          {"fission is a part of absorption, and absorption one of the total cross section, which it "
           "exceeds"});
    if (constant_.nu_fission > most_neutrons * constant_.total)
      support::bad_argument({"the nu-fission of a medium is ", too_many_neutrons});
  }
  /// Tables. What is neither absorption nor elastic scattering is taken for elastic scattering. Throws
  /// std::invalid_argument for no nuclides, densities and masses that are not positive, tables of fewer than
  /// two points, that do not ascend, or that have no energies in common, cross sections that are negative or
  /// not finite, and a spectrum that is none.
  explicit medium(std::vector<medium_nuclide> nuclides, const watt_spectrum& spectrum = {})
      : nuclides_(std::move(nuclides)), spectrum_(spectrum) {
    if (!(spectrum.a > 0) || !(spectrum.b >= 0) || !std::isfinite(spectrum.a * spectrum.a * spectrum.b))
      support::bad_argument({"Watt's spectrum has a finite a above 0 and a finite b from 0 on"});
    if (nuclides_.empty()) support::bad_argument({"a medium has at least one nuclide"});
    lowest_ = 0, highest_ = std::numeric_limits<f64>::max();
    for (std::size_t i = 0; i < nuclides_.size(); ++i) {
      const medium_nuclide& n = nuclides_[i];
      if (!(n.density > 0) || !(n.weight_ratio > 0) || !std::isfinite(n.density * n.weight_ratio))
        support::bad_argument({"nuclide ", i + 1, " of a medium has no positive density or mass"});
      if (n.points.size() < 2)
        support::bad_argument({"the table of nuclide ", i + 1, " has fewer than two points"});
      for (std::size_t k = 1; k < n.points.size(); ++k)
        if (!(n.points[k - 1].energy < n.points[k].energy))
          support::bad_argument({"the table of nuclide ", i + 1, " does not ascend at point ", k + 1});
      for (std::size_t k = 0; k < n.points.size(); ++k) require_sound(n.points[k], i, k);
      lowest_ = std::max(lowest_, n.points.front().energy);
      highest_ = std::min(highest_, n.points.back().energy);
    }
    if (!(lowest_ < highest_)) support::bad_argument({"the tables of a medium have no energies in common"});
  }

  bool is_one_group() const { return nuclides_.empty(); }
  /// The range of the tables, to which energies are limited: a neutron that has slowed down to the lowest
  /// energy keeps it.
  f64 limited(f64 energy) const { return is_one_group() ? energy : std::clamp(energy, lowest_, highest_); }
  f64 lowest() const { return lowest_; }
  f64 highest() const { return highest_; }

  macroscopic at(f64 energy) const {
    if (is_one_group()) return constant_;
    macroscopic sum;
    for (const medium_nuclide& n : nuclides_) {
      cross_sections<f64> xs{};
      add(xs, n, energy);
      sum.total += xs[0], sum.absorption += xs[2], sum.fission += xs[3], sum.nu_fission += xs[4];
    }
    return sum;
  }
  /// Whether it can absorb a neutron of the lowest energy, and whether it has fission at all.
  bool absorbs_at_last() const { return at(lowest_).absorption > 0; }
  bool is_fissile() const {
    if (is_one_group()) return constant_.nu_fission > 0;
    for (const medium_nuclide& n : nuclides_)
      for (const auto& p : n.points)
        if (p.xs[4] > 0) return true;
    return false;
  }

  /// What a neutron of an energy hits at a collision.
  struct target {
    bool absorbs = false;
    f64 weight_ratio = 0;  ///< 0 in one group, which scatters isotropically in the laboratory
  };
  target hit(f64 energy, const macroscopic& here, random_stream& numbers) const {
    f64 left = numbers.next() * here.total;
    if (is_one_group()) return {left < here.absorption, 0};
    cross_sections<f64> xs{};
    const medium_nuclide* chosen = nullptr;
    for (const medium_nuclide& n : nuclides_) {
      chosen = &n, xs = {};
      add(xs, n, energy);
      if (left < xs[0]) break;
      left -= xs[0];
    }
    return {numbers.next() * xs[0] < xs[2], chosen->weight_ratio};
  }
  /// The energy of a neutron from fission.
  f64 born(random_stream& numbers) const { return is_one_group() ? 0 : limited(spectrum_.draw(numbers)); }

 private:
  /// A collision that led to more would fill the memory with sites of fission.
  static constexpr f64 most_neutrons = 1000;
  static constexpr const char* too_many_neutrons =
      "more than 1000 times the total cross section: a fission has a few neutrons, so one of the two is "
      "wrong";
  static void require_sound(const grid_point<f64>& p, std::size_t nuclide, std::size_t point) {
    for (const f64 xs : p.xs)
      if (!(xs >= 0) || !std::isfinite(xs))
        support::bad_argument({"the table of nuclide ", nuclide + 1, " has a cross section at point ",
                               point + 1, " that is negative or not finite"});
    if (p.xs[4] > most_neutrons * p.xs[0])
      support::bad_argument({"the table of nuclide ", nuclide + 1, " has a nu-fission at point ", point + 1,
                             " that is ", too_many_neutrons});
  }
  static void add(cross_sections<f64>& xs, const medium_nuclide& n, f64 energy) {
    const nuclide_grid<f64> grid(n.points);
    add_interpolated(xs, grid.data() + interval_of(grid, energy), energy, n.density);
  }

  macroscopic constant_;
  std::vector<medium_nuclide> nuclides_;
  watt_spectrum spectrum_;
  f64 lowest_ = 0, highest_ = 0;
};

}  // namespace wsl::monte_carlo
