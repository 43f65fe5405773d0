// SPDX-License-Identifier: MIT
// The profile of some steps: its table adds up, and its timeline says the same as its table.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/run/op_profile.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "../ml/random_text.hpp"

namespace {
using namespace wsl;

/// The rows of a table: milliseconds and percents by name.
std::map<std::string, std::pair<f64, f64>> rows_of(const std::string& table) {
  std::map<std::string, std::pair<f64, f64>> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.front() != '|' || line.find("MODULE NAME") != line.npos) continue;
    std::istringstream cells(line.substr(1));
    std::string name, ms, percent;
    std::getline(cells, name, '|'), std::getline(cells, ms, '|'), std::getline(cells, percent, '|');
    name = name.substr(1, name.find_last_not_of(' '));
    rows[name] = {std::stod(ms), std::stod(percent)};
  }
  return rows;
}

TEST_CASE("A profile's rows add up to its steps, and its timeline to its rows") {
  constexpr int threads = 2;
  ml::trainer t(ml::decoder{.vocabulary = 37, .positions = 16, .layers = 2, .heads = 2, .width = 16}.build(),
                ml::optimizer::adamw(), {.workers = 2, .columns = 1, .threads = threads});
  const test::random_text<37> text(8, 16, 1);
  t.step(text.all(), 1e-3);
  CHECK(t.report().timeline.empty());

  ml::op_profile profile(t.model());
  t.keep_timeline(true);
  f64 seconds = 0;
  for (int k = 0; k < 3; ++k) {
    t.step(text.all(), 1e-3);
    profile.add(t.report(), k == 1 ? 0.25 : 0);
    seconds += t.report().seconds;
  }
  CHECK(profile.steps() == 3);
  CHECK(profile.lost_events() == 0);

  auto rows = rows_of(profile.table(1000));
  REQUIRE(rows.contains("3 steps"));
  CHECK(rows["3 steps"].first == Approx(1e3 * (seconds + 0.25)).epsilon(1e-3));
  CHECK(rows["3 steps"].second == 100);
  CHECK(rows["input"].first == Approx(250));
  for (const char* name :
       {"layer 0 qkv.fwd", "layer 0 qkv.bwd", "layer 0 qkv.update", "layer 0 qkv.transfer", "host"})
    CHECK(rows[name].first > 0);
  f64 ms = 0, percent = 0;
  for (const auto& [name, row] : rows)
    if (name != "3 steps") ms += row.first, percent += row.second;
  CHECK(ms == Approx(rows["3 steps"].first).epsilon(2e-3));
  CHECK(percent == Approx(100).epsilon(2e-3));

  // Of the longest rows some are left, and all others are one row.
  const auto few = rows_of(profile.table(4));
  CHECK(few.size() == 4 + 1 + 3 + 1);
  percent = 0;
  for (const auto& [name, row] : few)
    if (name != "3 steps") percent += row.second;
  CHECK(percent == Approx(100).epsilon(1e-3));

  const auto trace = nlohmann::json::parse(profile.chrome_trace());
  std::map<std::string, f64> sums;
  std::map<int, f64> last;
  std::map<int, std::string> groups;
  for (const auto& e : trace.at("traceEvents")) {
    if (e.at("ph") == "M") {
      groups[e.at("pid")] = e.at("args").at("name");
      continue;
    }
    const std::string name = e.at("name");
    sums[name] += e.at("dur").get<f64>() / 1e3 / (name == "input" ? 1 : threads);
    if (name.ends_with(".update")) CHECK(groups.at(e.at("pid")) == "MemoryX");
    if (name.ends_with(".transfer")) CHECK(groups.at(e.at("pid")) == "SwarmX");
    if (name.ends_with(".fwd")) CHECK(groups.at(e.at("pid")) == "wafer");
  }
  for (const auto& [name, sum] : sums)
    if (name != "host") CHECK(sum == Approx(rows[name].first).epsilon(0.02).margin(0.05));
}

TEST_CASE("A profile of nothing is an empty table") {
  const ml::network n =
      ml::decoder{.vocabulary = 5, .positions = 4, .layers = 1, .heads = 1, .width = 4}.build();
  const ml::op_profile profile(n);
  CHECK(rows_of(profile.table()).at("0 steps").second == 0);
  CHECK(nlohmann::json::parse(profile.chrome_trace()).at("traceEvents").size() == 4);
}
}  // namespace
