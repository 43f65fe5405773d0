// SPDX-License-Identifier: MIT
// Lookups on the fabric against serial ones: the same verification numbers on grids of many shapes and with
// any number of threads.
#include <wsl/kernel/monte_carlo/lookups.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::monte_carlo;
using Catch::Contains;

namespace {

const reactor& core() {
  static const reactor r = xsbench_reactor(70, 150);
  return r;
}

}  // namespace

TEST_CASE("monte carlo: lookups on the fabric are the serial ones") {
  const nuclide_search search{core()};
  const monte_carlo::lookup_totals e = events(core(), search, 100, 3000),
                                   h = histories(core(), search, 7, 90, 5);
  for (const auto& [columns, rows] :
       {std::pair{1, 1}, {2, 1}, {1, 3}, {5, 3}, {7, 7}, {32, 1}, {1, 32}, {4, 32}}) {
    lookup_fabric f{core(), {.columns = columns, .rows = rows, .threads = 2, .batch = 1000}};
    CHECK(f.events(100, 3000) == e);
    CHECK(f.histories(7, 90, 5) == h);
  }
}

TEST_CASE("monte carlo: lookups do not depend on threads or batches") {
  const nuclide_search search{core()};
  const monte_carlo::lookup_totals h = histories(core(), search, 0, 60, 4);
  for (int threads : {1, 2, 3, 8})
    for (u64 batch : {1u, 7u, 60u, 1000u}) {
      lookup_fabric f{core(), {.columns = 3, .rows = 5, .threads = threads, .batch = batch}};
      CHECK(f.histories(0, 60, 4) == h);
    }
}

TEST_CASE("monte carlo: a run of no lookups finds nothing") {
  lookup_fabric f{core(), {.columns = 2, .rows = 2}};
  CHECK(f.events(5, 0) == monte_carlo::lookup_totals{});
  CHECK(f.histories(5, 0) == monte_carlo::lookup_totals{});
}

TEST_CASE("monte carlo: XSBench verifies the fabric's numbers", "[large]") {
  const reactor r = xsbench_reactor();
  lookup_fabric f{r};
  CHECK(f.events(0, 100'000).verification() == 299'541);
  CHECK(f.histories(0, 3'000).verification() == 305'263);
}

TEST_CASE("monte carlo: the size that XSBench calls small verifies on the fabric", "[large]") {
  const reactor r = xsbench_reactor();
  lookup_fabric f{r};
  CHECK(f.events(0, 17'000'000).verification() == 945'990);
  CHECK(f.traffic().wavelets > 16'000'000);  // of 32 lookups one stays where it is drawn
  CHECK(f.lookups_a_pe().total == 17'000'000);
  CHECK(f.lookups_a_pe().imbalance() < 1.01);
}

TEST_CASE("monte carlo: the size that XSBench calls large verifies on the fabric", "[.long]") {
  const reactor r = xsbench_reactor(355);
  lookup_fabric f{r};
  CHECK(f.events(0, 17'000'000).verification() == 952'131);
}

TEST_CASE("monte carlo: invalid arguments of lookups") {
  CHECK_THROWS_WITH(lookup_fabric(core(), {.columns = 0}), Contains("not on 0 x 1"));
  CHECK_THROWS_WITH(lookup_fabric(core(), {.columns = 33}), Contains("not on 33 x 1"));
  CHECK_THROWS_WITH(lookup_fabric(core(), {.batch = 0}), Contains("at least one lookup"));
  reactor small = core();
  small.materials.pop_back();
  CHECK_THROWS_WITH(lookup_fabric(small), Contains("the reactor has 11"));
  lookup_fabric f{core(), {.columns = 1}};
  CHECK_THROWS_WITH(f.events(u64{1} << 31, 1), Contains("4294967298 places are too many"));
  CHECK_THROWS_WITH(f.events(~u64{0}, 2), Contains("places are too many"));
  CHECK_THROWS_WITH(f.histories(0, 1, 0), Contains("at least one lookup"));
  CHECK_THROWS_WITH(f.histories(0, 20'000'000), Contains("6800000000 places are too many"));
}
