// SPDX-License-Identifier: MIT
// The body that neutrons fly in, and the bins of equal width in which their flux is tallied: layers of a
// slab, shells of a sphere. Around the body is a vacuum. See transport.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "../../support/bad_argument.hpp"
#include "random_stream.hpp"

namespace wsl::monte_carlo {

struct vector3 {
  f64 x = 0, y = 0, z = 0;
  friend constexpr bool operator==(const vector3&, const vector3&) = default;
};
constexpr vector3 along(const vector3& from, const vector3& direction, f64 distance) {
  return {from.x + distance * direction.x, from.y + distance * direction.y, from.z + distance * direction.z};
}
constexpr f64 dot(const vector3& a, const vector3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// A direction, all of them with equal probability.
inline vector3 any_direction(random_stream& numbers) {
  const f64 cosine = 2 * numbers.next() - 1, angle = 2 * std::numbers::pi * numbers.next(),
            sine = std::sqrt(1 - cosine * cosine);
  return {cosine, sine * std::cos(angle), sine * std::sin(angle)};
}
/// The direction that is deflected by an angle with this cosine, around the old one at random.
inline vector3 deflected(const vector3& d, f64 cosine, random_stream& numbers) {
  const f64 angle = 2 * std::numbers::pi * numbers.next(),
            sine = std::sqrt(std::max(0.0, 1 - cosine * cosine)), a = sine * std::cos(angle),
            b = sine * std::sin(angle);
  // two vectors across d: the first across the axis that d is farthest from
  const f64 across = std::sqrt(d.x * d.x + d.y * d.y);
  vector3 to;
  if (across > 1e-4)
    to = {cosine * d.x + (a * d.x * d.z - b * d.y) / across,
          cosine * d.y + (a * d.y * d.z + b * d.x) / across, cosine * d.z - a * across};
  else to = {a, b * std::copysign(1.0, d.z), cosine * d.z};
  const f64 length = std::sqrt(dot(to, to));
  return {to.x / length, to.y / length, to.z / length};
}

enum class shape { infinite, slab, sphere };

/// A sphere around the origin of radius `size`, or the slab between x = 0 and x = size, which has no end in y
/// and z; or everything. Sizes are in cm.
struct body {
  shape form = shape::infinite;
  f64 size = 0;

  /// Throws std::invalid_argument for a slab or a sphere without a size.
  void require() const {
    if (form != shape::infinite && !(size > 0 && std::isfinite(size)))
      support::bad_argument({"the size of a slab or a sphere is positive"});
  }
  /// The distance to the surface from a point inside; infinite if there is none in this direction.
  f64 to_surface(const vector3& from, const vector3& direction) const {
    constexpr f64 never = std::numeric_limits<f64>::infinity();
    if (form == shape::infinite || (form == shape::slab && direction.x == 0)) return never;
    if (form == shape::slab) return std::max(0.0, ((direction.x > 0 ? size : 0) - from.x) / direction.x);
    const f64 middle = dot(from, direction), left = middle * middle - dot(from, from) + size * size;
    return std::max(0.0, std::sqrt(std::max(0.0, left)) - middle);
  }
  /// A point of the body, all with equal probability; the origin if it is infinite.
  vector3 any_point(random_stream& numbers) const {
    if (form == shape::slab) return {size * numbers.next(), 0, 0};
    if (form == shape::infinite) return {};
    const f64 radius = size * std::cbrt(numbers.next());
    return along({}, any_direction(numbers), radius);
  }
  /// The volume of bin `bin` of `bins`, in cm^3, or in cm of a slab; 1 if it is infinite.
  f64 volume(int bin, int bins) const {
    if (form == shape::infinite) return 1;
    if (form == shape::slab) return size / bins;
    const f64 inner = size * bin / bins, outer = size * (bin + 1) / bins;
    return 4 * std::numbers::pi / 3 * (outer * outer * outer - inner * inner * inner);
  }
  /// Adds the lengths of a track in each bin.
  void add_track(std::span<f64> bins, const vector3& from, const vector3& direction, f64 length) const {
    if (bins.size() == 1) bins[0] += length;
    else if (form == shape::slab) add_layers(bins, from.x, direction.x, length);
    else add_shells(bins, from, direction, length);
  }

 private:
  void add_layers(std::span<f64> bins, f64 x, f64 slope, f64 length) const {
    const f64 width = size / static_cast<f64>(bins.size());
    const int last = static_cast<int>(bins.size()) - 1;
    const auto bin_of = [&](f64 at) { return std::clamp(static_cast<int>(at / width), 0, last); };
    const f64 end = x + slope * length;
    const int low = bin_of(std::min(x, end)), high = bin_of(std::max(x, end));
    if (low == high) return void(bins[static_cast<std::size_t>(low)] += length);
    for (int i = low; i <= high; ++i) {
      const f64 from = i == low ? std::min(x, end) : i * width,
                to = i == high ? std::max(x, end) : (i + 1) * width;
      bins[static_cast<std::size_t>(i)] += (to - from) / std::abs(slope);
    }
  }
  void add_shells(std::span<f64> bins, const vector3& from, const vector3& direction, f64 length) const {
    const f64 middle = dot(from, direction), closest = dot(from, from) - middle * middle;
    f64 inside = 0;  // the part of the track in the spheres so far
    for (std::size_t i = 0; i < bins.size() && inside < length; ++i) {
      const f64 radius = size * static_cast<f64>(i + 1) / static_cast<f64>(bins.size()),
                square = radius * radius - closest;
      f64 part = 0;
      if (i + 1 == bins.size()) part = length;
      else if (square > 0) {
        const f64 half = std::sqrt(square);
        part = std::max(0.0, std::min(length, half - middle) - std::max(0.0, -half - middle));
      }
      if (part > inside) bins[i] += part - inside, inside = part;
    }
  }
};

}  // namespace wsl::monte_carlo
