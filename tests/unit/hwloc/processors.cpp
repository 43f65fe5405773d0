// SPDX-License-Identifier: MIT
// The order of processors on computers that hwloc makes up.
#include <wsl/support/hwloc_processors.hpp>

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

using namespace wsl;

namespace {

/// A computer as hwloc describes it.
class computer {
 public:
  explicit computer(const char* description) {
    REQUIRE(hwloc_topology_init(&topology_) == 0);
    REQUIRE(hwloc_topology_set_synthetic(topology_, description) == 0);
    REQUIRE(hwloc_topology_load(topology_) == 0);
  }
  computer(const computer&) = delete;
  computer& operator=(const computer&) = delete;
  ~computer() { hwloc_topology_destroy(topology_); }

  support::processor_order order(const std::vector<int>& allowed) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int p : allowed) CPU_SET(static_cast<std::size_t>(p), &set);
    return support::processors_in(topology_, set);
  }

 private:
  hwloc_topology_t topology_ = nullptr;
};

std::vector<int> first(int n) {
  std::vector<int> every(static_cast<std::size_t>(n));
  std::iota(every.begin(), every.end(), 0);
  return every;
}
std::vector<int> numbers(const support::processor_order& o) { return {o.of, o.of + o.count}; }

}  // namespace

TEST_CASE("one processor of each core comes first, then the second ones, cores of a package together") {
  const computer c("pack:2 core:4 pu:2");
  const auto o = c.order(first(16));
  CHECK(o.cores == 8);
  CHECK(numbers(o) == std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15});
}

TEST_CASE("processors are ordered by where they are and not by their numbers") {
  // numbers go from package to package, as many computers have them, and then to the second of each core
  const computer c("pack:2 core:4 pu:2(indexes=pack:core)");
  const auto o = c.order(first(16));
  CHECK(o.cores == 8);
  CHECK(numbers(o) == std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15});
}

TEST_CASE("cores that share a cache are neighbours") {
  const computer c("numa:2 l3:2 core:2 pu:1(indexes=core:numa:l3)");
  const auto every = numbers(c.order(first(8)));
  REQUIRE(every.size() == 8);
  CHECK(c.order(first(8)).nodes == 2);
  CHECK(c.order({0, 2, 4, 6}).nodes == 2);
  CHECK(c.order({0, 1, 4, 5}).nodes == 1);
  // pairs of cores of one cache, and fours of one node, lie together
  CHECK(every == std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7});
}

TEST_CASE("the processors that a process may use are those of its mask") {
  const computer c("pack:2 core:4 pu:2");
  auto o = c.order({3, 8, 9, 14});
  CHECK(o.cores == 3);
  CHECK(numbers(o) == std::vector<int>{3, 8, 14, 9});
  o = c.order({5});
  CHECK(o.cores == 1);
  CHECK(numbers(o) == std::vector<int>{5});
  CHECK(c.order({}).count == 0);
  // what hwloc does not have comes last
  o = c.order({700, 2, 3});
  CHECK(o.cores == 1);
  CHECK(numbers(o) == std::vector<int>{2, 3, 700});
}

TEST_CASE("this computer has the processors of the mask, in some order") {
  const cpu_set_t mine = support::allowed_processors();
  const auto o = support::processors_of(mine);
  CHECK(support::processors_of == &support::processors_by_hwloc);
  REQUIRE(o.count == CPU_COUNT(&mine));
  CHECK((o.cores >= 1 && o.cores <= o.count));
  for (int i = 0; i < o.count; ++i) CHECK(CPU_ISSET(static_cast<std::size_t>(o.of[i]), &mine));
}
