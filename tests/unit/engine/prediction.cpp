// SPDX-License-Identifier: MIT
// Predictions of the time on more threads, for programs whose schedule is known. Time is counted in units of
// work that the tasks do themselves, so nothing depends on the computer.
#include <catch2/catch.hpp>
#include <string>
#include <vector>
#include <wsl/engine/threaded/prediction.hpp>
#include <wsl/fabric/fabric.hpp>

using namespace wsl;

namespace {

u64 units = 0;
u64 units_so_far() { return units; }

/// PE x works for 10 (x + 1) units, and then for ten times as many in a job.
struct uneven {
  bool has_job = false, runs_long = false;
  u64 disturbance = 0;

  void start(pe& me) {
    units += 10 * static_cast<u64>(me.x() + 1) + disturbance;
    me_ = &me;
    if (has_job) me.async_compute<&uneven::compute>(*this, then<&uneven::done>());
    if (runs_long) me.activate<&uneven::compute_long>();
  }
  void compute() { units += 100 * static_cast<u64>(me_->x() + 1); }
  void compute_long(pe&) { compute(); }
  void done(pe&) { units += 1; }

  using tasks =
      task_list<launch<&uneven::start>, long_running<local<&uneven::compute_long>>, local<&uneven::done>>;

 private:
  pe* me_ = nullptr;
};

constexpr layout row_of(int pes) { return layout{host, pes, 1}.place<uneven>(all); }

constexpr color<i32> red{0}, blue{1};

/// A word goes from PE to PE, each of which works 10 units.
template <color<i32> in, color<i32> out>
struct stage {
  void start(pe& me) { pass(me, 0); }
  void pass(pe& me, i32 hops) {
    units += 10;
    if (!me.east_edge()) me.send(out, hops + 1);
  }
  using tasks = task_list<launch<&stage::start>, on<in, &stage::pass>, sends<out>>;
};
layout chain_of(int pes) {
  return layout{host, pes, 1}
      .place<stage<blue, red>>(columns(0, edge, 2))
      .place<stage<red, blue>>(columns(1, edge, 2))
      .path(red, columns(0, edge - 1, 2), ramp >> east)
      .path(red, columns(1, edge, 2), west >> ramp)
      .path(blue, columns(1, edge - 1, 2), ramp >> east)
      .path(blue, columns(2, edge, 2), west >> ramp);
}

/// Nobody sleeps, and a barrier of n threads takes 2 n - 1 units.
constexpr barrier_cost always_awake{.alone = 1, .a_thread = 2, .spin = 1e9, .wake = 0, .wake_each = 0};

scaling_profile profile_of(std::vector<int> threads, const barrier_cost& cost = always_awake) {
  units = 0;
  return scaling_profile(threads, units_so_far, cost);
}
threaded by_pe(scaling_profile& p) { return {.threads = 1, .pes_per_partition = 1, .observer = &p}; }
/// In units, which the profile takes for nanoseconds.
f64 units_of(f64 seconds) { return 1e9 * seconds; }

void run_uneven(fabric& f, bool has_job, bool runs_long) {
  for (int x = 0; x < 4; ++x) {
    f.program_at<uneven>({x, 0}).has_job = has_job;
    f.program_at<uneven>({x, 0}).runs_long = runs_long;
  }
  f.launch();
}

}  // namespace

TEST_CASE("each thread runs a contiguous share of the partitions") {
  scaling_profile times = profile_of({1, 2, 3, 4, 64});
  fabric f{row_of(4), by_pe(times)};
  f.launch();
  const auto p = times.predictions();
  REQUIRE(p.size() == 5);
  // The shares are 10 + 20 | 30 + 40, then 10 | 20 | 30 + 40, then one partition each; and there are barriers
  // before the run, after its superstep, and at its end.
  const f64 longest[] = {100, 70, 70, 40, 40}, barrier[] = {0, 3, 5, 7, 7};
  for (std::size_t k = 0; k < p.size(); ++k) {
    INFO(p[k].threads << " threads");
    CHECK(units_of(p[k].seconds) == Approx(longest[k] + 3 * barrier[k]));
    CHECK(units_of(p[k].work) == Approx(100. / p[k].threads));
    CHECK(units_of(p[k].imbalance) == Approx(longest[k] - 100. / p[k].threads));
    CHECK(units_of(p[k].barriers) == Approx(3 * barrier[k]));
    CHECK(p[k].waking == Approx(0).margin(1e-15));
    CHECK(p[k].serial == 0);
    CHECK(p[k].speedup == Approx(100. / (longest[k] + 3 * barrier[k])));
    CHECK(p[k].supersteps == 1);
  }
}

TEST_CASE("of repetitions the shortest time of each partition counts") {
  scaling_profile times = profile_of({4});
  fabric f{row_of(4), by_pe(times)};
  // The third PE takes another 500 units in the first run, the first one in the second run.
  const auto run_disturbed = [&](int disturbed) {
    for (int x = 0; x < 4; ++x) f.program_at<uneven>({x, 0}).disturbance = x == disturbed ? 500 : 0;
    f.launch();
  };
  times.restart_to_repeat();
  run_disturbed(2);
  CHECK(units_of(times.predictions()[0].seconds) == Approx(530 + 3 * 7));
  times.repeat();
  run_disturbed(0);
  CHECK(units_of(times.predictions()[0].seconds) == Approx(40 + 3 * 7));
  CHECK(units_of(times.predictions()[0].work) == Approx(100. / 4));

  SECTION("which have the same supersteps") {
    times.repeat();
    CHECK_THROWS_WITH(times.predictions(), Catch::Contains("repetitions of the same work, but one has 0"));
    run_disturbed(3), run_disturbed(3);
    CHECK_THROWS_AS(times.repeat(), fault);
  }
  SECTION("and are forgotten by a restart") {
    times.restart();
    run_disturbed(1);
    CHECK(units_of(times.predictions()[0].seconds) == Approx(520 + 3 * 7));
  }
}

TEST_CASE("rows may be cut where there are fewer of them than partitions to make") {
  // Two rows of two PEs, which work 10 and 20 units: two threads with a row each, or four with a PE each.
  for (const bool cut_lines : {false, true}) {
    scaling_profile times = profile_of({4});
    threaded engine = by_pe(times);
    engine.cut_lines = cut_lines;
    fabric f{layout{host, 2, 2}.place<uneven>(all), engine};
    f.launch();
    CHECK(units_of(times.predictions()[0].seconds) == Approx(cut_lines ? 20 + 3 * 7 : 30 + 3 * 3));
  }
}

TEST_CASE("jobs and long-running tasks are predicted in the superstep in which they run") {
  for (const bool is_job : {true, false}) {
    scaling_profile times = profile_of({1, 2, 4});
    fabric f{row_of(4), by_pe(times)};
    run_uneven(f, is_job, !is_job);
    const auto p = times.predictions();
    CHECK(p[0].supersteps == 2);
    const f64 done = is_job;  // the task at the end of a job
    CHECK(units_of(p[0].seconds) == Approx(100 + 1000 + 4 * done));
    CHECK(units_of(p[1].seconds) == Approx(70 + 700 + 2 * done + 4 * 3));
    CHECK(units_of(p[2].seconds) == Approx(40 + 400 + done + 4 * 7));
  }
}

TEST_CASE("more threads do not shorten a chain") {
  scaling_profile times = profile_of({1, 2, 6});
  fabric f{chain_of(6), by_pe(times)};
  f.launch(0, 0);
  const auto p = times.predictions();
  CHECK(p[0].supersteps >= 6);
  CHECK(units_of(p[0].seconds) == Approx(60));
  const f64 barriers = p[0].supersteps + 2;
  CHECK(units_of(p[1].seconds) == Approx(60 + 3 * barriers));
  CHECK(units_of(p[2].seconds) == Approx(60 + 11 * barriers));
  CHECK(units_of(p[2].imbalance) == Approx(50));
}

TEST_CASE("the host's time between runs is not shared") {
  scaling_profile times = profile_of({1, 4});
  fabric f{row_of(4), by_pe(times)};
  f.launch();
  times.restart();
  for (int run = 0; run < 2; ++run) {
    units += 500;
    f.launch();
  }
  const auto p = times.predictions();
  CHECK(units_of(p[0].seconds) == Approx(2 * (500 + 100)));
  CHECK(units_of(p[1].seconds) == Approx(2 * (500 + 40 + 3 * 7)));
  CHECK(units_of(p[1].serial) == Approx(1000));
  CHECK(p[1].supersteps == 2);
}

TEST_CASE("a thread that has slept begins later") {
  // PE 0 has worked 10 units when PE 3 has worked 40. It sleeps after 5, and wakes 12 units after PE 3 has
  // come; that needs 2 units for each of the three sleepers, who wake 2 units after each other.
  scaling_profile times = profile_of({4}, {.alone = 1, .a_thread = 2, .spin = 5, .wake = 12, .wake_each = 2});
  fabric f{row_of(4), by_pe(times)};
  run_uneven(f, true, false);
  const auto p = times.predictions();
  // In the second superstep PE 3 is again the last, for 6 + 401 units, and all meet once more at once.
  CHECK(units_of(p[0].seconds) == Approx(40 + 6 + 401 + 16 + 4 * 7));
  CHECK(units_of(p[0].waking) == Approx(6 + 16));
}

TEST_CASE("a profile changes nothing that a program does") {
  scaling_profile times = profile_of({1, 2});
  fabric measured{chain_of(9), by_pe(times)},
      plain{chain_of(9), threaded{.threads = 2, .pes_per_partition = 1}};
  for (int run = 0; run < 3; ++run) CHECK(measured.launch(0, 0) == plain.launch(0, 0));
}

TEST_CASE("settings that cannot be predicted are refused") {
  CHECK_THROWS_WITH(scaling_profile({4, 0}), "wsl: a run is predicted for 1 to 1024 threads, not for 0");
  scaling_profile times = profile_of({2});
  CHECK_THROWS_WITH((fabric{row_of(4), threaded{.threads = 2, .observer = &times}}),
                    "wsl: a scaling_profile measures a run on one thread, not on 2: threaded{.threads = 1, "
                    ".observer = &profile}");
}

TEST_CASE("the cost of a barrier is measured") {
  const barrier_cost& here = barrier_cost::measured();
  CHECK(here.alone > 0);
  CHECK(here.of(1) == here.alone);
  CHECK(here.of(16) >= here.of(2));
  CHECK(here.of(2) < 2000);
  CHECK(barrier_cost{.a_thread = 1e6, .wake = 7}.where_undisturbed().a_thread == barrier_cost{}.a_thread);
  CHECK(barrier_cost{.a_thread = 1e6, .wake = 7}.where_undisturbed().wake == 7);
}

TEST_CASE("a table has a line for each number of threads, in milliseconds") {
  const scaling_prediction p[] = {
      {.threads = 1, .seconds = 0.008, .speedup = 1, .work = 0.008, .supersteps = 40},
      {.threads = 4,
       .seconds = 0.004,
       .speedup = 2,
       .work = 0.002,
       .imbalance = 0.001,
       .barriers = 0.0004,
       .waking = 0.0002,
       .serial = 0.0004,
       .supersteps = 40}};
  const scaling_prediction step[] = {p[0] / 4, p[1] / 4};
  CHECK(to_text(step) ==
        " threads predicted, ms  speed-up      work  imbalance  barriers   waking     host  supersteps\n"
        "       1         2.000      1.00   100.0 %      0.0 %     0.0 %    0.0 %    0.0 %          10\n"
        "       4         1.000      2.00    50.0 %     25.0 %    10.0 %    5.0 %   10.0 %          10\n");
}
