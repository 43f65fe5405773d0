// SPDX-License-Identifier: MIT
// The history of one neutron: it flies, collides, scatters, and ends in an absorption or outside. All random
// numbers of a history come from its particle's own part of the stream, so it is the same wherever it is
// computed. See transport_pe.hpp.
#pragma once
#include <vector>

#include "../../core/fault.hpp"
#include "../../support/split_mix.hpp"
#include "../../support/text.hpp"
#include "transport_body.hpp"
#include "transport_medium.hpp"

namespace wsl::monte_carlo {

/// The tallies of a history in the order of a list of numbers; the track lengths of the bins follow.
enum score : std::size_t {
  leaked_near,        ///< neutrons through the face x = 0 of a slab
  leaked_far,         ///< neutrons through the other face, or out of a sphere
  absorbed,           ///< neutrons
  collided,           ///< collisions
  track,              ///< the length of all tracks, in cm
  born_by_track,      ///< neutrons from fission that the tracks lead to in the mean
  born_by_collision,  ///< neutrons from fission that the collisions lead to in the mean
  scores
};

/// Where a neutron begins, and with which energy in eV (0 in one group).
struct site {
  vector3 at;
  f64 energy = 0;
};

/// The numbers of particle `particle` of a run. Particles are as many numbers apart as MCNP's are; a history
/// that draws more goes on in the next particle's part.
inline random_stream numbers_of(u64 seed, u64 particle) {
  constexpr u64 apart = 152'917;
  return {steps(particle * apart)(support::split_mixed(seed) & stride::mask)};
}

/// More collisions of one source particle and all that descend from it are taken for a chain without an end.
inline constexpr u64 most_collisions = 10'000'000;

/// Follows a neutron to its end, adds to the tallies, and appends where neutrons of fission begin to `born`:
/// in the mean nu-fission / total / k a collision. Returns its collisions. Throws fault if there are too
/// many.
inline u64 follow(const medium& m, const body& b, site from, vector3 direction, f64 k, random_stream& numbers,
                  std::span<f64> tallies, std::vector<site>& born) {
  const std::span<f64> bins = tallies.subspan(scores);
  for (u64 collisions = 0; collisions < most_collisions; ++collisions) {
    const macroscopic here = m.at(from.energy);
    const f64 flight = here.total > 0 ? -std::log(1 - numbers.next()) / here.total
                                      : std::numeric_limits<f64>::infinity(),
              surface = b.to_surface(from.at, direction), length = std::min(flight, surface);
    if (!std::isfinite(length))
      throw fault("wsl: a neutron flies for ever: the medium has no cross section at its energy");
    b.add_track(bins, from.at, direction, length);
    tallies[track] += length;
    tallies[born_by_track] += length * here.nu_fission;
    from.at = along(from.at, direction, length);
    if (flight >= surface) {
      ++tallies[b.form == shape::slab && direction.x < 0 ? leaked_near : leaked_far];
      return collisions;
    }
    ++tallies[collided];
    const f64 neutrons = here.nu_fission / here.total;
    tallies[born_by_collision] += neutrons;
    if (neutrons > 0)
      for (auto n = static_cast<u64>(neutrons / k + numbers.next()); n > 0; --n)
        born.push_back({from.at, m.born(numbers)});
    const medium::target hit = m.hit(from.energy, here, numbers);
    if (hit.absorbs) {
      ++tallies[absorbed];
      return collisions + 1;
    }
    if (m.is_one_group()) {
      direction = any_direction(numbers);
      continue;
    }
    const elastic_collision c(hit.weight_ratio, 2 * numbers.next() - 1);
    from.energy = m.limited(from.energy * c.energy_ratio);
    direction = deflected(direction, c.cosine, numbers);
  }
  throw fault(support::joined({"wsl: a neutron has collided ", most_collisions, " times and goes on"}));
}

}  // namespace wsl::monte_carlo
