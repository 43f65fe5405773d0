// SPDX-License-Identifier: MIT
// The laws of interpolation of ENDF-6, each on a function that it reproduces.
#include "../neutron_yield.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

using namespace wsl;
using Catch::Contains;
using mc_app::neutron_yield;

TEST_CASE("mc: a table is interpolated by the law of its region") {
  const auto two = [](f64 y0, f64 y1, i64 law) { return neutron_yield::table({1, 4}, {y0, y1}, {2}, {law}); };
  CHECK(two(2, 8, 1)(3.9) == 2);
  CHECK(two(2, 8, 2)(2) == Approx(4));
  CHECK(two(0, std::log(4), 3)(3) == Approx(std::log(3)));
  CHECK(two(std::exp(1), std::exp(4), 4)(2.5) == Approx(std::exp(2.5)));
  CHECK(two(1, 16, 5)(3) == Approx(9));
  for (i64 law = 1; law <= 5; ++law) {
    CHECK(two(2, 8, law)(0.5) == 2);  // constant beyond its ends
    CHECK(two(2, 8, law)(4) == 8);
    CHECK(two(2, 8, law)(99) == 8);
  }
  const neutron_yield mixed = neutron_yield::table({0, 1, 2, 4}, {1, 3, 5, 5}, {2, 4}, {1, 2});
  CHECK(mixed(0.5) == 1);
  CHECK(mixed(1.5) == Approx(4));
  CHECK(mixed(3) == 5);
  CHECK(neutron_yield::polynomial({2, 0.5, 0.25})(2) == Approx(4));
}

TEST_CASE("mc: tables that do not fit together are refused") {
  const auto table = &neutron_yield::table;
  CHECK_THROWS_WITH(neutron_yield::polynomial({}), Contains("at least one coefficient"));
  CHECK_THROWS_WITH(neutron_yield::polynomial({NAN}), Contains("nan"));
  CHECK_THROWS_WITH(table({}, {}, {}, {}), Contains("not 0 and 0"));
  CHECK_THROWS_WITH(table({1}, {1, 2}, {}, {}), Contains("not 1 and 2"));
  CHECK_THROWS_WITH(table({2, 1}, {1, 2}, {}, {}), Contains("point 2 is below"));
  CHECK_THROWS_WITH(table({1, 2}, {1, -2}, {}, {}), Contains("point 2 is -2"));
  CHECK_THROWS_WITH(table({1, 2}, {1, 2}, {2}, {}), Contains("1 regions have 0 laws"));
  CHECK_THROWS_WITH(table({1, 2}, {1, 2}, {3}, {2}), Contains("ends with point 3 of 2"));
  CHECK_THROWS_WITH(table({1, 2, 3}, {1, 2, 3}, {2}, {2}), Contains("last region ends with point 2 of 3"));
  CHECK_THROWS_WITH(table({1, 2, 3}, {1, 2, 3}, {2, 2}, {2, 2}), Contains("region 2 ends with point 2"));
  CHECK_THROWS_WITH(table({1, 2}, {1, 2}, {2}, {6}), Contains("law 6"));
  CHECK_THROWS_WITH(table({0, 2}, {1, 2}, {2}, {5}), Contains("energy of point 1"));
  CHECK_THROWS_WITH(table({1, 2}, {0, 2}, {2}, {4}), Contains("logarithm of point 1"));
}
