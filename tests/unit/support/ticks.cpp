// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <wsl/support/ticks.hpp>

using wsl::support::short_number;
using wsl::support::ticks;

TEST_CASE("Marks of an axis are round numbers within it") {
  CHECK(ticks(0, 1) == std::vector<double>{0, 0.2, 0.4, 0.2 * 3, 0.8, 1});
  CHECK(ticks(-3, 700) == std::vector<double>{0, 200, 400, 600});
  CHECK(ticks(1500, 1510).front() == 1500);
  for (const double size : {1e-6, 0.3, 7., 1234., 5e9}) {
    const auto some = ticks(size, 2 * size);
    CHECK((some.size() >= 2 && some.size() <= 8));
    CHECK((some.front() >= size && some.back() <= 2 * size * (1 + 1e-6)));
  }
}

TEST_CASE("Labels of marks have few digits") {
  CHECK(short_number(0.1 + 0.2) == "0.3");
  CHECK(short_number(-1e-9) == "0");
  CHECK(short_number(1234567) == "1.23457e+06");
  CHECK(short_number(-1e308) == "-1e+308");
}
