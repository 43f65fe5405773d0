// SPDX-License-Identifier: MIT
// Monte Carlo programs on the reference engine, with queues of a machine's depth, and in shuffled orders: no
// result depends on them.
#include <wsl/engine/reference.hpp>
#include <wsl/kernel/monte_carlo.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::monte_carlo;

namespace {

constexpr int columns_of_pes = 3, rows_of_pes = 4;

template <class F>
void each(F f) {
  for (int y = 0; y < rows_of_pes; ++y)
    for (int x = 0; x < columns_of_pes; ++x) f(x, y);
}

const fuel_problem& problem() {
  static const fuel_problem p = make_fuel_problem(240, 7, 60);
  return p;
}

/// Every PE's block of particles at the end, as it lies there.
template <class Choice>
std::vector<std::vector<f32>> blocks(const Choice& choice) {
  const fuel_problem& p = problem();
  const auto at = [](int y) { return static_cast<f32>(y) / rows_of_pes; };
  fabric f{wafer_layout(host, columns_of_pes, rows_of_pes), choice};
  each([&](int x, int y) {
    wafer_pe<wafer_capacity{}>& me = f.program_at<wafer_pe<wafer_capacity{}>>({x, y});
    me.load(p.material, x * 7 / columns_of_pes, (x + 1) * 7 / columns_of_pes, at(y), at(y + 1));
    me.put(std::span(p.energies).subspan(static_cast<std::size_t>(y * columns_of_pes + x) * 20, 20));
  });
  f.launch<&wafer_pe<wafer_capacity{}>::sort>(all);
  f.launch<&wafer_pe<wafer_capacity{}>::diffuse>(all, 5);
  f.launch<&wafer_pe<wafer_capacity{}>::circulate>(all, 0u);
  std::vector<std::vector<f32>> found;
  each([&](int x, int y) {
    found.push_back(std::vector<f32>(f.program_at<wafer_pe<wafer_capacity{}>>({x, y}).finished().words));
  });
  return found;
}

template <class Choice>
monte_carlo::lookup_totals lookups(const Choice& choice) {
  static const reactor r = xsbench_reactor(68, 30);
  fabric f{lookup_layout(columns_of_pes, rows_of_pes), choice};
  each([&](int x, int y) { f.program_at<lookup_pe>({x, y}).load(r, {x, y}, columns_of_pes, rows_of_pes); });
  f.launch<&lookup_pe::draw>(all, 0u, 20u, 300u);
  f.launch<&lookup_pe::exchange>(all);
  f.launch<&lookup_pe::look_up>(all, true);
  f.launch<&lookup_pe::exchange>(all);
  f.launch<&lookup_pe::exchange>(all);
  f.launch<&lookup_pe::look_up>(all, false);
  monte_carlo::lookup_totals total;
  each([&](int x, int y) { total = total + f.program_at<lookup_pe>({x, y}).collect(); });
  return total;
}

template <class Result>
void same_in_all_orders(Result (*run)(const threaded&), const Result& expected) {
  CHECK(run(threaded{.threads = 1}) == expected);
  CHECK(run(threaded{.threads = 2, .pes_per_partition = 1}) == expected);
  CHECK(run(threaded{.threads = 1, .queues = depth::machine}) == expected);
  for (u64 seed = 1; seed <= 8; ++seed)
    CHECK(run(threaded{.threads = 1, .order = schedule::shuffled{seed}, .pes_per_partition = 2}) == expected);
}

}  // namespace

TEST_CASE("monte carlo: particles end the same on every engine and in every order") {
  same_in_all_orders(&blocks<threaded>, blocks(reference{}));
}

TEST_CASE("monte carlo: particles are conserved, and the sum of their energies") {
  std::vector<f32> before = problem().energies, after;
  for (const std::vector<f32>& words : blocks(threaded{}))
    after.insert(after.end(), words.begin() + 1, words.begin() + 1 + static_cast<int>(words[0]));
  const auto sum = [](std::vector<f32>& energies) {  // in one order: rounding is then the same
    std::sort(energies.begin(), energies.end());
    f64 total = 0;
    for (f32 e : energies) total += e;
    return total;
  };
  CHECK(after.size() == before.size());
  CHECK(sum(after) == sum(before));
  CHECK(after == before);
}

TEST_CASE("monte carlo: lookups find the same on every engine and in every order") {
  const monte_carlo::lookup_totals found = lookups(reference{});
  const reactor r = xsbench_reactor(68, 30);
  CHECK(found == histories(r, nuclide_search{r}, 0, 300, 2));
  same_in_all_orders(&lookups<threaded>, found);
}
