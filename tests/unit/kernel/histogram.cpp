// SPDX-License-Identifier: MIT
// Histograms within the limits of a wafer, against counting one value after the other.
#include <catch2/catch.hpp>
#include <random>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/histogram.hpp>

namespace {
using namespace wsl;

constexpr histogram_shape small{.values = 40, .buckets = 16, .passing = 160};

std::vector<u32> serially(const std::vector<u32>& values, std::size_t buckets) {
  std::vector<u32> n(buckets);
  for (u32 v : values) ++n[v];
  return n;
}

template <class Engine>
void check(const machine& target, int wide, int high, const Engine& engine) {
  INFO(target.name << ", " << wide << " x " << high << " PEs");
  wafer_histogram<small> h(wide, high, target, engine);
  std::mt19937 random(1);
  const auto buckets = static_cast<u32>(h.buckets());
  for (std::size_t count : {h.most_values(), h.most_values() - 3, std::size_t{1}, std::size_t{0}}) {
    std::vector<u32> values(count), counts(h.buckets());
    for (u32& v : values) v = static_cast<u32>(random()) % buckets;
    h(values, counts);
    CHECK(counts == serially(values, h.buckets()));
    CHECK(h.is_complete());
  }
}

TEST_CASE("histogram on a wafer: every value is counted in its bucket") {
  for (const machine* target : {&wse2, &wse3}) {
    check(*target, 1, 1, timed{});
    check(*target, 1, 2, timed{});
    check(*target, 2, 1, timed{});
    check(*target, 3, 2, timed{});
    check(*target, 7, 5, timed{});
    check(*target, 40, 3, timed{});  // columns of two halves of an index
  }
  check(wse2, 5, 6, threaded{.threads = 2, .pes_per_partition = 4});
  check(wse2, 4, 3, reference{});
}

TEST_CASE("histogram on a wafer: a whole wafer's layout has no faults") {
  using program = detail::wafer_histogram_pe<{.values = 100, .buckets = 1024, .passing = 300}>;
  require(program::plan(wse2, wse2.width, wse2.height));
  require(program::plan(wse3, wse3.width, wse3.height));
}

TEST_CASE("histogram on a wafer: words of opposite directions do not block each other") {
  wafer_histogram<{.values = 20, .buckets = 16, .passing = 80}> h(32, 32, wse2, timed{});
  std::mt19937 random(7);
  std::vector<u32> values(h.most_values()), counts(h.buckets());
  for (u32& v : values) v = static_cast<u32>(random()) % static_cast<u32>(h.buckets());
  h(values, counts);
  CHECK(counts == serially(values, h.buckets()));
}

TEST_CASE("histogram on a wafer: all values in one bucket") {
  wafer_histogram<small> h(2, 2, wse2, timed{});
  std::vector<u32> values(h.most_values(), 50), counts(h.buckets());
  h(values, counts);
  CHECK(counts[50] == 160);
  CHECK(counts == serially(values, h.buckets()));
}

TEST_CASE("histogram on a wafer: what does not fit is refused by name") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH((wafer_histogram<small>(0, 1)), Contains("1 x 1 to 1023 x 2048 PEs, not on 0 x 1"));
  wafer_histogram<small> h(3, 3);
  std::vector<u32> counts(9 * 16), few(9);
  CHECK_THROWS_WITH(h(std::vector<u32>(361), counts), Contains("room for 360 values, not 144 and 361"));
  CHECK_THROWS_WITH(h(few, std::span(counts).first(10)), Contains("has 144 buckets"));
  CHECK_THROWS_WITH(h(std::vector<u32>{3, 144}, counts),
                    Contains("value 1 is 144, and the histogram has 144 buckets"));
  wafer_histogram<{.values = 40, .buckets = 16, .passing = 20}> narrow(3, 1, wse2, timed{});
  std::vector<u32> of_3(48);
  CHECK_THROWS_WITH(narrow(std::vector<u32>(120, 47), of_3), Contains("has room for 20 values that pass"));
}

TEST_CASE("histogram on a wafer: a line takes a cycle for a word that passes, and a PE a task for its own") {
  const auto cycles = [](int wide, int high) {
    wafer_histogram<small> h(wide, high, wse2, timed{});
    std::mt19937 random(1);
    std::vector<u32> values(h.most_values()), counts(h.buckets());
    for (u32& v : values) v = static_cast<u32>(random()) % static_cast<u32>(h.buckets());
    return h(values, counts).cycles;
  };
  const u64 few = cycles(8, 8), more = cycles(24, 8), most = cycles(24, 24);
  // 40 values of each PE of a row or column, half of which go to the one side; and the marks behind them.
  CHECK(more - few < 16 * (20 + 20));
  CHECK(most - more < 16 * (20 + 20));
  CHECK(few > 40 * 60);
}

}  // namespace
