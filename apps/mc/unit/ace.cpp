// SPDX-License-Identifier: MIT
// Tables in ACE format come out with the numbers that were put in, and each broken count or pointer is named.
#include "../ace.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <wsl/support/file_error.hpp>

#include "ace_file.hpp"

using namespace wsl;
using namespace mc_app;
using Catch::Contains;

namespace {

nuclide one(const std::string& text) {
  const std::vector<nuclide> nuclides = read_ace(text, "u.ace");
  REQUIRE(nuclides.size() == 1);
  return nuclides[0];
}

}  // namespace

TEST_CASE("mc: an ACE table has the numbers of its file") {
  const ace_file::contents c;
  for (const bool second : {false, true}) {
    const nuclide n = one(ace_file::text_of(c, ace_file::blocks_of(c), second));
    CHECK(n.name == "92235.80c");
    CHECK(n.weight_ratio == Approx(233.0248));
    CHECK(n.temperature == Approx(293.6).margin(0.05));
    REQUIRE(n.points.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto& p = n.points[i];
      CHECK(p.energy == Approx(c.energies[i] * 1e6));
      CHECK(p.xs[total] == c.totals[i]);
      CHECK(p.xs[elastic] == c.elastics[i]);
      CHECK(p.xs[fission] == c.reactions[0].xs[i]);
      CHECK(p.xs[absorption] == c.disappearance[i] + c.reactions[0].xs[i]);
      CHECK(p.xs[nu_fission] == Approx((2.4 + 0.1 * c.energies[i]) * c.reactions[0].xs[i]));  // a line in MeV
      CHECK(n.capture[i] == c.disappearance[i]);
    }
  }
}

TEST_CASE("mc: fission is the sum of its parts where a table has no MT 18") {
  ace_file::contents c;
  c.reactions = {{19, 1, {70, 30, 10, 1, 1}}, {20, 4, {0.5, 1}}, {38, 5, {0.25}}, {102, 2, {1, 1}}};
  const nuclide n = one(ace_file::text_of(c));
  CHECK(n.points[0].xs[fission] == 70);
  CHECK(n.points[3].xs[fission] == 1.5);
  CHECK(n.points[4].xs[fission] == 2.25);
  CHECK(n.capture == std::vector<f64>{0, 1, 1, 0, 0});
}

TEST_CASE("mc: neutrons of a fission from tables and from the total of two parts") {
  ace_file::contents c;
  // prompt: a constant of 2; total: a table of three points, the first two in a histogram
  c.nu = {-3, 1, 1, 2, 2, 2, 2, 3, 1, 2, 3, 1e-11, 1, 20, 2.5, 3, 5};
  nuclide n = one(ace_file::text_of(c));
  const auto nu = [&](std::size_t i) { return n.points[i].xs[nu_fission] / n.points[i].xs[fission]; };
  CHECK(nu(0) == Approx(2.5));
  CHECK(nu(2) == Approx(2.5));
  CHECK(nu(3) == Approx(3));
  CHECK(nu(4) == Approx(5));
  c.nu = {2, 0, 2, 1e-11, 20, 2, 4};
  n = one(ace_file::text_of(c));
  CHECK(nu(3) == Approx(2 + 2.0 / 20));
  c.reactions = {{102, 1, {1}}}, c.nu = {};
  n = one(ace_file::text_of(c));
  CHECK(n.points[0].xs[nu_fission] == 0);
}

TEST_CASE("mc: an ACE file with several temperatures") {
  ace_file::contents hot;
  hot.temperature = 5.1704e-8, hot.name = "92235.81c", hot.totals[0] = 90;
  const auto nuclides = read_ace(ace_file::text_of({}) + "\n" + ace_file::text_of(hot) + "\n \n", "two.ace");
  REQUIRE(nuclides.size() == 2);
  CHECK(nuclides[1].temperature == Approx(600).margin(0.1));
  CHECK(nuclides[1].points[0].xs[total] == 90);
}

TEST_CASE("mc: what is wrong in an ACE file is named with its place") {
  const ace_file::contents c;
  const auto denies = [](const std::string& text, const std::string& says) {
    try {
      read_ace(text, "u.ace");
      FAIL("taken: " << says);
    } catch (const support::file_error& e) {
      CHECK_THAT(e.what(), Contains("wsl: u.ace"));
      CHECK_THAT(e.what(), Contains(says));
    }
  };
  const auto changed = [&](auto change) {
    ace_file::blocks b = ace_file::blocks_of(c);
    change(b);
    return ace_file::text_of(c, b);
  };
  denies("", "a header should follow, but the file ends");
  denies("#!/bin/sh\nexit\n", "columns 11 to 22 are '' and not an atomic weight ratio");
  const std::string text = ace_file::text_of(c);
  denies(text.substr(0, 100), "should follow, but the file ends");
  denies(text.substr(0, 1200), "NXS(1) says that");
  denies(text.substr(0, text.size() - 60), "columns");
  denies(changed([](auto& b) { b.nxs[0] = -1; }), "NXS(1) says that -1 numbers");
  denies(changed([](auto& b) { b.nxs[0] = 999999999; }), "NXS(1) says that 999999999 numbers");
  denies(changed([](auto& b) { b.nxs[0] = 30; }), "but XSS has 30: the file is damaged");
  denies(changed([](auto& b) { b.nxs[2] = 1; }), "NXS(3) says that it has 1 energies");
  denies(changed([](auto& b) { b.nxs[2] = 99999999; }), "ESZ has 99999999 numbers from XSS(1) on");
  denies(changed([](auto& b) { b.nxs[3] = -3; }), "NXS(4) says that it has -3 reactions");
  denies(changed([](auto& b) { b.nxs[3] = 40; }), "MTR has 40 numbers");
  denies(changed([](auto& b) { b.jxs[0] = 0; }), "from XSS(0) on");
  denies(changed([](auto& b) { b.jxs[1] = 0; }), "no block NU");
  denies(changed([](auto& b) { b.jxs[1] = 99999; }), "NU has 1 numbers from XSS(99999) on");
  denies(changed([](auto& b) { b.jxs[5] = -7; }), "LSIG has 2 numbers from XSS(-7) on");
  denies(changed([](auto& b) { b.xss[static_cast<std::size_t>(b.jxs[5]) - 1] = 1e8; }), "SIG has 1 numbers");
  denies(changed([](auto& b) { b.xss[static_cast<std::size_t>(b.jxs[5]) - 1] = 1.5; }),
         "should be a whole number");
  denies(changed([](auto& b) { b.xss[static_cast<std::size_t>(b.jxs[6]) - 1] = 2; }),
         "SIG: reaction 1 has 5 points from energy 2 on, of 5 energies");
  denies(changed([](auto& b) { b.xss[static_cast<std::size_t>(b.jxs[1]) - 1] = 3; }), "block NU has form 3");
  denies(changed([](auto& b) { b.xss[static_cast<std::size_t>(b.jxs[1])] = 0; }), "at least one coefficient");
  denies(changed([](auto& b) { b.xss[1] = 1e-12; }), "point 2: its energy");
  denies(changed([](auto& b) { b.xss[0] = -1; }), "point 1: -1000000 eV is no energy");
  denies(changed([](auto& b) { b.xss[6] = -1; }), "point 2: its total cross section is -1");
  std::string other = text;
  other.replace(other.find(".80c"), 4, ".10t");
  denies(other, "not one of neutrons with continuous energies");
  other = text;
  other.replace(other.find("1.1"), 3, "1x1");
  denies(other, "and not a number of XSS");
}

TEST_CASE("mc: equal energies of a jump become neighbours") {
  ace_file::contents c;
  c.energies[2] = c.energies[1];
  const nuclide n = one(ace_file::text_of(c));
  CHECK(n.points[2].energy == std::nextafter(n.points[1].energy, 1e9));
}

TEST_CASE("mc: between two temperatures cross sections are linear in the square root") {
  ace_file::contents cold, hot;
  const f64 kelvin = 8.617333262e-11;
  cold.temperature = 400 * kelvin, hot.temperature = 900 * kelvin;
  hot.energies = {1e-11, 5e-7, 1e-3, 1, 20};  // one energy that the other table has not
  hot.totals = {210, 160, 30, 9, 7};
  const auto tables = read_ace(ace_file::text_of(hot) + ace_file::text_of(cold), "two.ace");
  const nuclide n = at_temperature(tables, 625);  // the root, 25, is in the middle of 20 and 30
  CHECK(n.temperature == 625);
  REQUIRE(n.points.size() == 6);
  CHECK(n.points[0].xs[total] == Approx(160));
  CHECK(n.points[1].energy == Approx(0.5));
  const f64 part = (0.5 - 1e-5) / (1 - 1e-5);
  CHECK(n.points[1].xs[total] == Approx((110 - 50 * part + 160) / 2));
  CHECK(n.points[3].xs[total] == Approx(30));
  CHECK(n.capture.size() == 6);
  CHECK(at_temperature(tables, 400.3).points[0].xs[total] == 110);
  CHECK(at_temperature(tables, 900).points[0].xs[total] == 210);
  CHECK_THROWS_WITH(at_temperature(tables, 300),
                    Contains("tables at 400.0 K, 900.0 K, none of them on the other side of 300.0 K"));
  CHECK_THROWS_WITH(at_temperature(tables, 901), Contains("nothing is extrapolated"));
  CHECK_THROWS_WITH(at_temperature(tables, 0), Contains("name a temperature"));
  CHECK_THROWS_WITH(at_temperature({tables[0], tables[0]}, 400), Contains("leave one out"));
  nuclide other = tables[1];
  other.name = "92238.80c";
  CHECK_THROWS_WITH(at_temperature({tables[0], other}, 625), Contains("those of one nuclide"));
  CHECK_THROWS_WITH(at_temperature({}, 1), Contains("at least one table"));
}
