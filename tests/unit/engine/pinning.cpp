// SPDX-License-Identifier: MIT
// Threads on cores: who may pin where, that each thread has a core of its own and its caller its old ones
// afterwards, and that results do not depend on it.
#include <wsl/engine/threaded/thread_pool.hpp>
#include <wsl/wsl.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>
#include <vector>

using namespace wsl;
using Catch::Contains;
using engines::pinning, engines::process_share;

namespace {

/// Sets WSL_PIN while it lives.
class pin_wish {
 public:
  explicit pin_wish(const char* value) { setenv("WSL_PIN", value, 1); }
  ~pin_wish() { unsetenv("WSL_PIN"); }
  pin_wish(const pin_wish&) = delete;
  pin_wish& operator=(const pin_wish&) = delete;
};

cpu_set_t set_of(const std::vector<std::size_t>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t p : processors) CPU_SET(p, &set);
  return set;
}

/// So many cores of two processors each.
support::processor_order some_cores(int cores) {
  support::processor_order all;
  for (int i = 0; i < 2 * cores; ++i) all.add(i);
  all.cores = cores, all.nodes = 2;
  return all;
}

int pinnable(int threads, process_share mine, pinning how) {
  return engines::pinnable(some_cores(8), threads, mine, how).size();
}

/// The processors on which the threads of a pool may run.
std::vector<cpu_set_t> places_of(engines::thread_pool& pool) {
  std::vector<cpu_set_t> all(static_cast<std::size_t>(pool.size()));
  auto job = [&](int thread) { all[static_cast<std::size_t>(thread)] = support::allowed_processors(); };
  pool.run(job);
  return all;
}

constexpr color<u32> red{0}, blue{1};

/// Adds up along a row, across the borders of partitions.
template <color<u32> in, color<u32> out>
struct adder {
  u32 sum = 1;
  void start(pe& me) { me.send(out, u32(me.y() + 1)); }
  void add(pe& me, u32 x) {
    sum = sum * 31 + x;
    if (!me.east_edge()) me.send(out, sum);
  }
  using tasks = task_list<launch<&adder::start>, on<in, &adder::add>, sends<out>>;
};
using even = adder<blue, red>;
using odd = adder<red, blue>;

layout rows_of_adders() {
  layout l{host, 64, 4};
  l.place<even>(columns(0, edge, 2))
      .place<odd>(columns(1, edge, 2))
      .path(red, columns(0, edge, 2), ramp >> east)
      .path(red, columns(1, edge, 2), west >> ramp)
      .path(blue, columns(1, edge - 1, 2), ramp >> east)
      .path(blue, columns(2, edge, 2), west >> ramp);
  return l;
}

std::vector<u32> sums(int threads) {
  fabric f{rows_of_adders(), threaded{.threads = threads, .pes_per_partition = 16}};
  for (int i = 0; i < 3; ++i) f.launch(column(0));
  std::vector<u32> all;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 64; ++x) all.push_back(x % 2 ? f.read(x, y, &odd::sum) : f.read(x, y, &even::sum));
  return all;
}

}  // namespace

TEST_CASE("threads are pinned by default only where they have all cores of several nodes for themselves") {
  CHECK(pinnable(8, {}, pinning::where_alone) == 8);
  for (int threads : {1, 2, 7, 9, 16, 17}) CHECK(pinnable(threads, {}, pinning::where_alone) == 0);
  support::processor_order one_node = some_cores(8);
  one_node.nodes = 1;
  CHECK(engines::pinnable(one_node, 8, {}, pinning::where_alone).size() == 0);
  CHECK(engines::pinnable(one_node, 8, {}, pinning::wanted).size() == 16);
  CHECK(pinnable(8, {0, 2}, pinning::where_alone) == 0);
  CHECK(pinnable(8, {0, 0}, pinning::where_alone) == 0);
}

TEST_CASE("where pinning is wanted, processes that share cores divide them, and no core is taken twice") {
  CHECK(pinnable(1, {}, pinning::wanted) == 0);
  for (int threads : {2, 8, 9, 16}) CHECK(pinnable(threads, {}, pinning::wanted) == 16);
  CHECK(pinnable(17, {}, pinning::wanted) == 0);
  CHECK(pinnable(4, {0, 0}, pinning::wanted) == 0);
  for (int processes : {2, 3, 5, 8}) {
    int next = 0;
    for (int number = 0; number < processes; ++number) {
      const auto r = engines::pinnable(some_cores(8), 2, {number, processes}, pinning::wanted);
      if (8 / processes >= 2) REQUIRE(r.size() >= 2);
      if (r.size() == 0) continue;
      CHECK(r.from >= next);
      next = r.to;
    }
    CHECK(next <= 8);
    CHECK(engines::pinnable(some_cores(8), 8 / processes + 2, {0, processes}, pinning::wanted).size() == 0);
  }
  for (int threads : {2, 8}) CHECK(pinnable(threads, {}, pinning::off) == 0);
}

TEST_CASE("processes share processors if their sets are the same, and may not tell if they overlap") {
  const cpu_set_t low = set_of({0, 1, 2, 3}), high = set_of({4, 5, 6, 7}), across = set_of({3, 4});
  const auto shares = [](const std::vector<cpu_set_t>& sets, int number) {
    const process_share s = engines::share_of(sets.data(), static_cast<int>(sets.size()), number);
    return std::pair(s.number, s.processes);
  };
  CHECK(shares({low}, 0) == std::pair(0, 1));
  CHECK(shares({low, high}, 1) == std::pair(0, 1));
  CHECK(shares({low, high, low, high, high}, 2) == std::pair(1, 2));
  CHECK(shares({low, high, low, high, high}, 4) == std::pair(2, 3));
  CHECK(shares({low, across, high}, 0) == std::pair(0, 0));
  CHECK(shares({low, across, high}, 1).second == 0);
  CHECK(shares({low, across}, 1).second == 0);
}

TEST_CASE("processors by number are those of the set, one of each core first") {
  const cpu_set_t mine = support::allowed_processors();
  const support::processor_order order = support::processors_by_number(mine);
  REQUIRE(order.count == CPU_COUNT(&mine));
  CHECK(order.cores >= 1);
  CHECK(std::set<int>(order.of, order.of + order.count).size() == static_cast<std::size_t>(order.count));
  std::set<int> of_cores;
  for (int i = 0; i < order.cores; ++i) of_cores.insert(support::first_sibling(order.of[i], mine));
  CHECK(of_cores.size() == static_cast<std::size_t>(order.cores));
  for (int i = order.cores; i < order.count; ++i)
    CHECK(of_cores.count(support::first_sibling(order.of[i], mine)) == 1);
  // processors that this computer does not have are of no known core, and count as one each
  const support::processor_order beyond = support::processors_by_number(set_of({1000, 900, 1010}));
  REQUIRE(beyond.count == 3);
  CHECK(beyond.cores == 3);
  CHECK((beyond.of[0] == 900 && beyond.of[1] == 1000 && beyond.of[2] == 1010));
}

TEST_CASE("pinned threads have a processor each, and the caller its own ones afterwards") {
  const cpu_set_t before = support::allowed_processors();
  if (CPU_COUNT(&before) < 2) return;
  const pin_wish yes("1");
  engines::thread_pool pool(2);
  for (int run = 0; run < 2; ++run) {
    const auto places = places_of(pool);
    REQUIRE(pool.pinned());
    for (const cpu_set_t& one : places) CHECK(CPU_COUNT(&one) == 1);
    CHECK_FALSE(CPU_EQUAL(&places[0], &places[1]));
    const cpu_set_t after = support::allowed_processors();
    CHECK(CPU_EQUAL(&before, &after));
  }
  // another engine has other processors, or all of them
  engines::thread_pool other(2);
  const auto theirs = places_of(other);
  for (const cpu_set_t& one : theirs) {
    if (!other.pinned()) {
      CHECK(CPU_EQUAL(&one, &before));
      continue;
    }
    for (const cpu_set_t& mine : places_of(pool)) CHECK_FALSE(CPU_EQUAL(&one, &mine));
  }
  // one that a pinned thread starts does not inherit its place
  bool inherits = false;
  auto job = [&](int thread) {
    if (thread == 0) return;
    engines::thread_pool within(3);
    const auto places = places_of(within);
    for (std::size_t i = 1; i < places.size() && !within.pinned(); ++i)
      inherits |= !CPU_EQUAL(&places[i], &before);
  };
  pool.run(job);
  CHECK_FALSE(inherits);
}

TEST_CASE("processors that an engine had are free for the next one") {
  const cpu_set_t before = support::allowed_processors();
  if (CPU_COUNT(&before) < 2) return;
  const pin_wish yes("1");
  for (int i = 0; i < 3; ++i) {
    engines::thread_pool pool(CPU_COUNT(&before));
    places_of(pool);
    CHECK(pool.pinned());
  }
  engines::thread_pool many(CPU_COUNT(&before) + 1);
  places_of(many);
  CHECK_FALSE(many.pinned());
  const pin_wish no("0");
  engines::thread_pool free(2);
  places_of(free);
  CHECK_FALSE(free.pinned());
}

TEST_CASE("a wish to pin that is no wish is a fault") {
  for (const char* value : {"yes", "2", "11", "-1", " 1"}) {
    const pin_wish bad(value);
    CHECK_THROWS_WITH((fabric{rows_of_adders(), threaded{}}),
                      Contains("WSL_PIN is \"" + std::string(value) + "\"") && Contains("must be 1"));
  }
}

TEST_CASE("results do not depend on pinning") {
  const std::vector<u32> alone = sums(1);
  CHECK(std::set<u32>(alone.begin(), alone.end()).size() > 40);
  for (const char* value : {"0", "1", ""}) {
    const pin_wish w(value);
    for (int threads : {2, 3}) CHECK(sums(threads) == alone);
  }
}
