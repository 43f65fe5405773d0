// SPDX-License-Identifier: MIT
// Neutron transport against what is known: an infinite medium, exponential attenuation, kinematics, and the
// critical bodies of Sood, Forster and Parsons, "Analytical benchmark test set for criticality code
// verification", LA-13511 (Progress in Nuclear Energy 42, 2003). Seeds are fixed, so a run that agrees always
// agrees.
#include <wsl/kernel/monte_carlo/transport.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::monte_carlo;
using Catch::Contains;

namespace {

macroscopic group(f64 nu, f64 fission, f64 capture, f64 scattering) {
  return {.total = fission + capture + scattering,
          .absorption = fission + capture,
          .fission = fission,
          .nu_fission = nu * fission};
}
const macroscopic pu_a = group(3.24, 0.0816, 0.019584, 0.225216),
                  pu_b = group(2.84, 0.0816, 0.019584, 0.225216),
                  u_a = group(2.70, 0.06528, 0.013056, 0.248064),
                  u_d2o = group(1.70, 0.054628, 0.027314, 0.464338);

/// Tables with the same cross sections at all energies, of a nuclide with density 1.
medium_nuclide constant(const macroscopic& m, f64 weight_ratio) {
  medium_nuclide n{.points = {}, .density = 1, .weight_ratio = weight_ratio};
  for (const f64 energy : {1e-5, 1.0, 2e7})
    n.points.push_back({energy, {m.total, m.total - m.absorption, m.absorption, m.fission, m.nu_fission}});
  return n;
}

}  // namespace

TEST_CASE("monte carlo: k of an infinite medium is nu-fission over absorption") {
  for (const macroscopic& m : {pu_a, pu_b, u_a, u_d2o}) {
    const medium material(m);
    transport_fabric f{material, {}, {.columns = 4}};
    const criticality_result r = f.criticality({.batches = 20, .inactive = 0, .particles = 2000});
    const f64 expected = m.nu_fission / m.absorption;
    CHECK(r.k.error < 0.01 * expected);
    CHECK(r.k.distance(expected) < 3);
    CHECK(r.k_by_collision.distance(expected) < 3);
    CHECK(r.tallies.absorbed.mean == Approx(1));
    CHECK(r.tallies.leaked_far.mean == 0);
    CHECK(r.tallies.track.distance(1 / m.absorption) < 3);
  }
}

TEST_CASE("monte carlo: tables of constant cross sections have the k of one group") {
  const medium material({constant(pu_a, 239)});
  transport_fabric f{material, {}, {.columns = 3}};
  const criticality_result r = f.criticality({.batches = 20, .particles = 1000});
  CHECK(r.k.distance(pu_a.nu_fission / pu_a.absorption) < 3);
  CHECK(r.k.error > 0);
}

TEST_CASE("monte carlo: critical slabs and spheres of LA-13511 have k = 1") {
  struct benchmark {
    const char* name;
    macroscopic m;
    body where;
  };
  // published are radii, and half of the widths of slabs
  for (const benchmark& b : {benchmark{"PUa-1-0-SL", pu_a, {shape::slab, 2 * 1.853722}},
                             {"PUb-1-0-SL", pu_b, {shape::slab, 2 * 2.256751}},
                             {"PUb-1-0-SP", pu_b, {shape::sphere, 6.082547}},
                             {"Ua-1-0-SL", u_a, {shape::slab, 2 * 2.872934}},
                             {"Ua-1-0-SP", u_a, {shape::sphere, 7.428998}},
                             {"UD2O-1-0-SL", u_d2o, {shape::slab, 2 * 10.371065}}}) {
    INFO(b.name);
    const medium material(b.m);
    transport_fabric f{material, b.where, {.columns = 8}};
    const criticality_result r = f.criticality({.batches = 40, .inactive = 15, .particles = 2500, .bins = 4});
    CAPTURE(r.k.mean, r.k.error);
    CHECK(r.k.error < 0.004);
    CHECK(r.k.distance(1) < 3.5);
    CHECK(r.history.size() == 55);
    const f64 ends = r.tallies.absorbed.mean + r.tallies.leaked_near.mean + r.tallies.leaked_far.mean;
    CHECK(ends == Approx(1));
  }
}

TEST_CASE("monte carlo: the flux of the critical sphere falls as published") {
  // PUb-1-0-SP: the flux at r / R = 0.25, 0.5, 0.75 and 1 over that at the centre
  const std::pair<f64, f64> published[] = {
      {0.25, 0.93538006}, {0.5, 0.75575352}, {0.75, 0.49884364}, {1, 0.19222603}};
  const medium material(pu_b);
  transport_fabric f{material, {shape::sphere, 6.082547}, {.columns = 8}};
  const int bins = 12;
  const auto t = f.criticality({.batches = 60, .inactive = 15, .particles = 3000, .bins = bins}).tallies;
  // shells around the inner radii are compared with a cubic through the published points
  const auto between = [&](f64 x) {
    const f64 at[] = {0, 0.25, 0.5, 0.75, 1},
              y[] = {1, published[0].second, published[1].second, published[2].second, published[3].second};
    f64 sum = 0;
    for (int i = 0; i < 5; ++i) {
      f64 term = y[i];
      for (int j = 0; j < 5; ++j)
        if (j != i) term *= (x - at[j]) / (at[i] - at[j]);
      sum += term;
    }
    return sum;
  };
  const auto middle = [&](int i) { return (i + 0.5) / bins; };
  const estimate reference = t.flux[5];
  for (int i = 2; i < 10; ++i) {
    const estimate here = t.flux[static_cast<std::size_t>(i)];
    const f64 expected = between(middle(i)) / between(middle(5)), found = here.mean / reference.mean,
              error = found * std::hypot(here.error / here.mean, reference.error / reference.mean);
    CAPTURE(i, found, expected, error);
    CHECK(std::abs(found - expected) < 4 * error + 0.003);  // the polynomial's own error, and a shell's width
  }
}

TEST_CASE("monte carlo: a beam through a slab that only absorbs falls exponentially") {
  const medium absorber(macroscopic{.total = 0.5, .absorption = 0.5});
  transport_fabric f{absorber, {shape::slab, 4}, {.columns = 5}};
  const auto t = f.fixed_source({.batches = 25, .particles = 4000, .bins = 8, .source = source_kind::beam});
  CHECK(t.leaked_far.distance(std::exp(-2.0)) < 3);
  CHECK(t.leaked_near.mean == 0);
  CHECK(t.absorbed.distance(1 - std::exp(-2.0)) < 3);
  for (int i = 0; i < 8; ++i) {
    const f64 from = std::exp(-0.25 * i), to = std::exp(-0.25 * (i + 1));
    CHECK(t.flux[static_cast<std::size_t>(i)].distance((from - to) / 0.5 / 0.5) < 4);
  }
}

TEST_CASE("monte carlo: a source in the centre of a sphere that only absorbs") {
  const medium absorber(macroscopic{.total = 0.3, .absorption = 0.3});
  transport_fabric f{absorber, {shape::sphere, 5}, {.columns = 5}};
  const auto t = f.fixed_source({.batches = 25, .particles = 4000, .bins = 5, .source = source_kind::centre});
  CHECK(t.leaked_far.distance(std::exp(-1.5)) < 3);
  for (int i = 0; i < 5; ++i) {
    const f64 length = (std::exp(-0.3 * i) - std::exp(-0.3 * (i + 1))) / 0.3;
    CHECK(t.flux[static_cast<std::size_t>(i)].distance(length / body{shape::sphere, 5}.volume(i, 5)) < 4);
  }
}

TEST_CASE("monte carlo: a fixed source multiplies by 1 / (1 - k)") {
  const macroscopic m = group(2, 0.02, 0.06, 0.1);  // k = 0.5
  const medium material(m);
  transport_fabric f{material, {}, {.columns = 3}};
  const auto t = f.fixed_source({.batches = 25, .particles = 2000});
  CHECK(t.absorbed.distance(2) < 3);
  CHECK(t.collided.distance(2 * m.total / m.absorption) < 3);
}

TEST_CASE("monte carlo: errors shrink as the square root of the number of particles") {
  const medium absorber(macroscopic{.total = 0.5, .absorption = 0.25});
  transport_fabric f{absorber, {shape::slab, 2}, {.columns = 4}};
  const auto error = [&](u64 particles) {
    return f.fixed_source({.batches = 60, .particles = particles, .source = source_kind::beam})
        .leaked_far.error;
  };
  // of 60 batches an error is known to 9 %
  CHECK(error(400) / error(6400) == Approx(4).epsilon(0.4));
  const auto by_batches = [&](int batches) {
    return f.fixed_source({.batches = batches, .particles = 300, .source = source_kind::beam})
        .leaked_far.error;
  };
  CHECK(by_batches(50) / by_batches(450) == Approx(3).epsilon(0.35));
}

TEST_CASE("monte carlo: transport has the same bits on any number of PEs and threads") {
  const auto run = [](const medium& m, const body& where, int columns, int threads) {
    transport_fabric f{m, where, {.columns = columns, .threads = threads}};
    return f.criticality({.batches = 6, .inactive = 2, .particles = 1700, .seed = 5, .bins = 3});
  };
  const medium group_of_one(pu_b), tables({constant(pu_b, 2), constant(u_a, 238)});
  for (const medium* m : {&group_of_one, &tables}) {
    const body where{shape::sphere, 5};
    const criticality_result one = run(*m, where, 1, 1);
    for (const auto& [columns, threads] : {std::pair{2, 1}, {3, 2}, {7, 3}, {16, 2}, {40, 4}}) {
      const criticality_result r = run(*m, where, columns, threads);
      CHECK(r.history == one.history);
      CHECK(r.k == one.k);
      CHECK(r.k_by_collision == one.k_by_collision);
      CHECK(r.tallies.flux == one.tallies.flux);
      CHECK(r.tallies.leaked_far == one.tallies.leaked_far);
    }
    transport_fabric f{*m, where, {.columns = 7, .threads = 2}};
    CHECK(f.criticality({.batches = 6, .inactive = 2, .particles = 1700, .seed = 6, .bins = 3}).history !=
          one.history);
  }
}

TEST_CASE("monte carlo: elastic collisions with nuclei at rest") {
  // the mean gain of lethargy is 1 + r / (1 - r) ln r with r = ((A - 1) / (A + 1))^2, the mean cosine 2 / (3
  // A)
  for (const f64 a : {1.0, 12.0, 238.0}) {
    random_stream numbers{77};
    batch_statistics lethargy, cosine;
    for (int i = 0; i < 100'000; ++i) {
      const elastic_collision c(a, 2 * numbers.next() - 1);
      lethargy.add(-std::log(c.energy_ratio)), cosine.add(c.cosine);
    }
    const f64 r = (a - 1) * (a - 1) / ((a + 1) * (a + 1));
    CHECK(lethargy.result().distance(a == 1 ? 1 : 1 + r / (1 - r) * std::log(r)) < 4);
    CHECK(cosine.result().distance(2 / (3 * a)) < 4);
  }
}

TEST_CASE("monte carlo: neutrons from fission have the mean energy of their spectrum") {
  random_stream numbers{3};
  batch_statistics energy;
  const watt_spectrum w;
  for (int i = 0; i < 100'000; ++i) energy.add(w.draw(numbers));
  CHECK(energy.result().distance(1.5 * w.a + w.a * w.a * w.b / 4) < 4);
}

TEST_CASE("monte carlo: directions and tracks") {
  random_stream numbers{9};
  batch_statistics cosine, x;
  for (int i = 0; i < 20'000; ++i) {
    const vector3 d = any_direction(numbers), to = deflected(d, 0.3, numbers),
                  straight = deflected({0, 0, -1}, 0.3, numbers);
    REQUIRE(dot(d, d) == Approx(1));
    REQUIRE(dot(d, to) == Approx(0.3));
    REQUIRE(straight.z == Approx(-0.3));
    x.add(d.x), cosine.add(straight.x);
    for (const body& b : {body{shape::sphere, 3}, body{shape::slab, 2}}) {
      const vector3 at = b.any_point(numbers);
      const f64 length = std::min(100.0, b.to_surface(at, d)) * numbers.next();
      std::vector<f64> bins(7);
      b.add_track(bins, at, d, length);
      f64 sum = 0;
      for (const f64 part : bins) {
        REQUIRE(part >= 0);
        sum += part;
      }
      REQUIRE(sum == Approx(length).margin(1e-12));
    }
  }
  CHECK(x.result().distance(0) < 4);
  CHECK(cosine.result().distance(0) < 4);
}

TEST_CASE("monte carlo: invalid arguments of transport") {
  const medium material(pu_a), absorber(macroscopic{.total = 1, .absorption = 0.5}),
      scatterer(macroscopic{.total = 1});
  CHECK_THROWS_WITH(medium(macroscopic{}), Contains("is positive"));
  CHECK_THROWS_WITH(medium(macroscopic{.total = 1, .absorption = 2}), Contains("exceeds"));
  CHECK_THROWS_WITH(medium(macroscopic{.total = -1}), Contains("not negative"));
  CHECK_THROWS_WITH(medium(std::vector<medium_nuclide>{}), Contains("at least one nuclide"));
  medium_nuclide n = constant(pu_a, 239);
  n.density = 0;
  CHECK_THROWS_WITH(medium({n}), Contains("nuclide 1"));
  n = constant(pu_a, 239), n.points[1].energy = 1e9;
  CHECK_THROWS_WITH(medium({n}), Contains("does not ascend at point 3"));
  n = constant(pu_a, 239), n.points[1].xs[1] = std::nan("");
  CHECK_THROWS_WITH(medium({n}), Contains("cross section at point 2 that is negative or not finite"));
  n = constant(pu_a, 239), n.points[0].xs[4] = 1001 * n.points[0].xs[0];
  CHECK_THROWS_WITH(medium({n}), Contains("nu-fission at point 1 that is more than 1000 times"));
  CHECK_THROWS_WITH(medium({constant(pu_a, 239)}, {.a = std::nan("")}), Contains("Watt's spectrum"));
  CHECK_THROWS_WITH(medium({constant(pu_a, 239)}, {.b = 1e300}), Contains("Watt's spectrum"));
  macroscopic fertile = pu_a;
  fertile.nu_fission = 1e300;
  CHECK_THROWS_WITH(medium(fertile), Contains("nu-fission of a medium is more than 1000 times"));
  n = constant(pu_a, 239), n.points.resize(1);
  CHECK_THROWS_WITH(medium({n}), Contains("fewer than two points"));
  n = constant(pu_a, 239);
  medium_nuclide other = n;
  for (auto& p : other.points) p.energy += 1e8;
  CHECK_THROWS_WITH(medium({n, other}), Contains("no energies in common"));
  CHECK_THROWS_WITH(transport_fabric(scatterer, {}), Contains("never end"));
  CHECK_THROWS_WITH(transport_fabric(material, {shape::slab, 0}), Contains("is positive"));
  CHECK_THROWS_WITH(transport_fabric(material, {}, {.columns = 0}), Contains("not on 0"));
  transport_fabric f{material, {}, {.columns = 2}}, without{absorber, {}, {.columns = 2}};
  CHECK_THROWS_WITH(f.criticality({.batches = 0}), Contains("at least one batch"));
  CHECK_THROWS_WITH(f.criticality({.inactive = -1}), Contains("not -1"));
  CHECK_THROWS_WITH(f.criticality({.batches = 2147483647, .inactive = 1}),
                    Contains("2147483647 batches after 1 inactive generations are too many"));
  CHECK_THROWS_WITH(f.criticality({.particles = ~u64{0}}), Contains("not 18446744073709551615"));
  CHECK_THROWS_WITH(f.criticality({.particles = 0}), Contains("not 0"));
  CHECK_THROWS_WITH(f.criticality({.bins = 2}), Contains("one bin"));
  CHECK_THROWS_WITH(f.fixed_source({.source = source_kind::beam}), Contains("of a slab"));
  CHECK_THROWS_WITH(without.criticality({}), Contains("has none"));
  CHECK_THROWS_WITH(f.fixed_source({.batches = 1, .particles = 1}), Contains("subcritical"));
}
