// SPDX-License-Identifier: MIT
#include "neutron_yield.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mc_app {

using namespace wsl;

namespace {

[[noreturn]] void bad(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

neutron_yield neutron_yield::polynomial(std::vector<f64> coefficients) {
  if (coefficients.empty()) bad("a polynomial has at least one coefficient");
  for (const f64 c : coefficients)
    if (!std::isfinite(c)) bad(fmt::format("a coefficient is {}", c));
  neutron_yield y;
  y.values_ = std::move(coefficients);
  return y;
}

neutron_yield neutron_yield::table(std::vector<f64> energies, std::vector<f64> values, std::vector<i64> ends,
                                   std::vector<i64> laws) {
  const i64 n = static_cast<i64>(energies.size());
  if (n == 0 || energies.size() != values.size())
    bad(fmt::format("a table has as many energies as values, and not {} and {}", n, values.size()));
  if (ends.size() != laws.size())
    bad(fmt::format("{} regions have {} laws of interpolation", ends.size(), laws.size()));
  if (ends.empty()) ends = {n}, laws = {2};
  for (std::size_t i = 0; i < energies.size(); ++i) {
    if (!std::isfinite(energies[i]) || !std::isfinite(values[i]) || values[i] < 0)
      bad(fmt::format("point {} is {} at {} eV", i + 1, values[i], energies[i]));
    if (i && energies[i] < energies[i - 1])
      bad(fmt::format("the energy of point {} is below that before", i + 1));
  }
  i64 before = 0;
  for (std::size_t r = 0; r < ends.size(); ++r) {
    if (ends[r] <= before || ends[r] > n)
      bad(fmt::format("region {} ends with point {} of {}, after {}", r + 1, ends[r], n, before));
    if (laws[r] < 1 || laws[r] > 5) bad(fmt::format("law {} of interpolation is none of 1 to 5", laws[r]));
    const i64 from = std::max<i64>(before - 1, 0);
    for (i64 i = from; i < ends[r]; ++i) {
      if ((laws[r] == 3 || laws[r] == 5) && !(energies[static_cast<std::size_t>(i)] > 0))
        bad(fmt::format("law {} takes the logarithm of the energy of point {}, which is not positive",
                        laws[r], i + 1));
      if (laws[r] >= 4 && !(values[static_cast<std::size_t>(i)] > 0))
        bad(fmt::format("law {} takes the logarithm of point {}, which is not positive", laws[r], i + 1));
    }
    before = ends[r];
  }
  if (before != n) bad(fmt::format("the last region ends with point {} of {}", before, n));
  neutron_yield y;
  y.is_polynomial_ = false;
  y.energies_ = std::move(energies), y.values_ = std::move(values);
  y.ends_ = std::move(ends), y.laws_ = std::move(laws);
  return y;
}

f64 neutron_yield::operator()(f64 energy) const {
  if (!is_polynomial_) return interpolated(energy);
  f64 sum = 0;
  for (std::size_t i = values_.size(); i-- > 0;) sum = sum * energy + values_[i];
  return sum;
}

f64 neutron_yield::interpolated(f64 energy) const {
  if (energy <= energies_.front()) return values_.front();
  if (energy >= energies_.back()) return values_.back();
  const auto above = std::upper_bound(energies_.begin(), energies_.end(), energy);
  const auto i = static_cast<std::size_t>(above - energies_.begin()) - 1;
  const f64 x0 = energies_[i], x1 = energies_[i + 1], y0 = values_[i], y1 = values_[i + 1];
  // interval i is that of the first region which ends behind it
  const auto region = std::upper_bound(ends_.begin(), ends_.end(), static_cast<i64>(i) + 1) - ends_.begin();
  switch (laws_[static_cast<std::size_t>(region)]) {
    case 1: return y0;
    case 2: return y0 + (y1 - y0) * (energy - x0) / (x1 - x0);
    case 3: return y0 + (y1 - y0) * std::log(energy / x0) / std::log(x1 / x0);
    case 4: return y0 * std::exp(std::log(y1 / y0) * (energy - x0) / (x1 - x0));
    default: return y0 * std::exp(std::log(y1 / y0) * std::log(energy / x0) / std::log(x1 / x0));
  }
}

}  // namespace mc_app
