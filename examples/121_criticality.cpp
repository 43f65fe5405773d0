// SPDX-License-Identifier: MIT
// Neutron transport on a row of PEs. A bare sphere of plutonium with this radius is critical: each neutron
// leads to one of the next generation in the mean, and k is 1 (PUb-1-0-SP of Sood, Forster and Parsons,
// "Analytical benchmark test set for criticality code verification", LA-13511). Without a surface k is
// nu-fission over absorption. Sites of fission go from PE to PE to where their neutrons are followed, and the
// numbers have the same bits on any number of PEs.
#include <wsl/kernel/monte_carlo.hpp>

#include <cstdio>
using namespace wsl::monte_carlo;

int main() {
  // in 1/cm: fission 0.0816 with 2.84 neutrons each, capture 0.019584, scattering 0.225216
  const medium plutonium(
      macroscopic{.total = 0.3264, .absorption = 0.101184, .fission = 0.0816, .nu_fission = 0.231744});
  const body sphere{shape::sphere, 6.082547};
  const transport_settings how{.batches = 40, .inactive = 10, .particles = 2000};

  transport_fabric many{plutonium, sphere, {.columns = 12}}, one{plutonium, sphere, {.columns = 1}};
  const criticality_result r = many.criticality(how);
  const bool same = one.criticality(how).k == r.k;
  transport_fabric everywhere{plutonium, {}, {.columns = 12}};
  const estimate endless = everywhere.criticality(how).k;
  const double expected = 0.231744 / 0.101184;

  std::printf("sphere:   k is within 3 standard errors of 1: %s\n", r.k.distance(1) < 3 ? "yes" : "no");
  std::printf("infinite: k is within 3 standard errors of %.4f: %s\n", expected,
              endless.distance(expected) < 3 ? "yes" : "no");
  std::printf("the error of k is below 0.01: %s\n", r.k.error < 0.01 ? "yes" : "no");
  std::printf("12 PEs and 1 find %s\n", same ? "the same bits" : "something else");
  return same && r.k.distance(1) < 3 && endless.distance(expected) < 3 ? 0 : 1;
}
