// SPDX-License-Identifier: MIT
// A nuclide in OpenMC's form comes out with the numbers that were put in, and what is wrong is named.
#include "../openmc.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <wsl/support/file_error.hpp>

#include "openmc_file.hpp"

using namespace wsl;
using namespace mc_app;
using Catch::Contains;

namespace {

std::string name_of_file() { return "/tmp/wsl_mc_" + std::to_string(::getpid()) + ".h5"; }

}  // namespace

TEST_CASE("mc: a nuclide in OpenMC's form has the numbers of its file") {
  openmc_file::writer w(name_of_file());
  openmc_file::fill(w);
  w.close();
  const std::vector<nuclide> nuclides = read_nuclide(w.name());
  REQUIRE(nuclides.size() == 2);
  const nuclide& n = nuclides[0];
  CHECK(n.name == "U235");
  CHECK(n.weight_ratio == 233.0248);
  CHECK(n.temperature == Approx(400));
  CHECK(nuclides[1].temperature == Approx(900));
  REQUIRE(n.points.size() == 4);
  CHECK(n.points[2].energy == 1e6);
  const f64 totals[] = {110, 60, 9, 8.5}, absorptions[] = {100, 50, 3, 2.5}, nu[] = {2.42, 2.42, 2.52, 5.02};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& p = n.points[i];
    CHECK(p.xs[total] == Approx(totals[i]));  // without the redundant reaction
    CHECK(p.xs[absorption] == Approx(absorptions[i]));
    CHECK(p.xs[nu_fission] == Approx(nu[i] * p.xs[fission]));  // prompt and delayed, without photons
    CHECK(nuclides[1].points[i].xs[total] == Approx(2 * totals[i]));
  }
  CHECK(n.points[3].xs[elastic] == 4);
  CHECK(n.capture == std::vector<f64>{20, 10, 1, 0.5});
  CHECK(at_temperature(nuclides, 625).points[0].xs[total] == Approx(165));
}

TEST_CASE("mc: the total number of neutrons of a fission goes before its products") {
  openmc_file::writer w(name_of_file());
  openmc_file::fill(w);
  w.group("/U235/total_nu");
  w.line("/U235/total_nu/yield", {3, 1e-6});
  w.word("/U235/total_nu/yield", "type", "Polynomial");
  w.close();
  const auto nuclides = read_openmc(w.name());
  CHECK(nuclides[0].points[2].xs[nu_fission] == Approx(4 * 2));
}

TEST_CASE("mc: what is wrong in a file of OpenMC's form is named with its place") {
  const auto denies = [](const std::string& says, const std::function<void(openmc_file::writer&)>& change) {
    openmc_file::writer w(name_of_file());
    openmc_file::fill(w);
    change(w);
    w.close();
    try {
      read_openmc(w.name());
      FAIL("taken: " << says);
    } catch (const support::file_error& e) {
      CHECK_THAT(e.what(), Contains("wsl: " + w.name()));
      CHECK_THAT(e.what(), Contains(says));
    }
  };
  const std::string xs = "/U235/reactions/reaction_018/400K/xs",
                    set = "/U235/reactions/reaction_018/product_0/yield";
  denies("2 members and not one nuclide", [](auto& w) { w.group("/U238"); });
  denies("/U235: it has no reactions", [](auto& w) { w.erase("/U235/reactions"); });
  denies("/U235: it has no kTs", [](auto& w) { w.erase("/U235/kTs"); });
  denies("/U235/energy: it has no 900K", [](auto& w) { w.erase("/U235/energy/900K"); });
  denies("reaction_018/400K: it has no xs", [&](auto& w) { w.erase(xs); });
  denies("no elastic scattering", [](auto& w) { w.erase("/U235/reactions/reaction_002"); });
  denies("no neutrons are among the products", [](auto& w) {
    w.erase("/U235/reactions/reaction_018/product_0"), w.erase("/U235/reactions/reaction_018/product_1");
  });
  denies("it has no attribute threshold_idx", [&](auto& w) { w.erase(xs), w.line(xs, {1, 2, 3, 4}); });
  denies("4 cross sections from energy 1 on, of 4 energies",
         [&](auto& w) { w.erase(xs), w.line(xs, {1, 2, 3, 4}), w.attribute(xs, "threshold_idx", 1); });
  denies("4 cross sections from energy -1 on",
         [&](auto& w) { w.erase(xs), w.line(xs, {1, 2, 3, 4}), w.attribute(xs, "threshold_idx", -1); });
  denies("threshold_idx is 0.5 and no whole number",
         [&](auto& w) { w.erase(xs), w.line(xs, {1, 2, 3, 4}), w.attribute(xs, "threshold_idx", 0.5); });
  denies("it has 2 axes and not one", [&](auto& w) { w.erase(xs), w.numbers(xs, {1, 2, 3, 4}, {2, 2}); });
  denies("it should be a dataset", [&](auto& w) { w.erase(xs), w.group(xs); });
  denies("energies ascend",
         [](auto& w) { w.erase("/U235/energy/400K"), w.line("/U235/energy/400K", {1, 2, 1.5, 4}); });
  denies("'Sum' is none of", [&](auto& w) { w.erase(set), w.line(set, {1}), w.word(set, "type", "Sum"); });
  denies("a table has two rows",
         [&](auto& w) { w.erase(set), w.line(set, {1}), w.word(set, "type", "Tabulated1D"); });
  denies("attribute breakpoints", [&](auto& w) {
    w.erase(set), w.numbers(set, {1, 2, 3, 4}, {2, 2}), w.word(set, "type", "Tabulated1D");
  });
  denies("900K is a link out of the file", [](auto& w) {
    w.erase("/U235/energy/900K");
    H5Lcreate_external("/tmp/other.h5", "/x", w.id(), "/U235/energy/900K", H5P_DEFAULT, H5P_DEFAULT);
  });
  openmc_file::writer w(name_of_file());
  w.close();
  CHECK_THROWS_WITH(read_openmc(w.name()), Contains("0 members"));
  CHECK(::truncate(w.name().c_str(), 90) == 0);
  CHECK_THROWS_WITH(read_openmc(w.name()), Contains("no whole file of HDF5"));
  CHECK_THROWS_WITH(read_nuclide("/tmp"), Contains("it is no file"));
}
