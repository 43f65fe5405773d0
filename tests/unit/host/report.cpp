// SPDX-License-Identifier: MIT
#include <array>
#include <catch2/catch.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/host/report.hpp>

#include "mentions.hpp"

using namespace wsl;

namespace {

struct small {
  int x = 0;
  void go(pe&) {}
  using tasks = task_list<launch<&small::go>>;
};
struct rather_large {
  f32 numbers[6144] = {};
  void go(pe&) {}
  using tasks = task_list<launch<&rather_large::go>>;
};

}  // namespace

TEST_CASE("a report names machine, programs and outcome", "[report]") {
  layout l{wse2, 4, 3};
  l.place<small>(columns(0, 2)).place<rather_large>(at(2, 0)).place<small>(column(3));
  const fabric f{l};
  const std::string text =
      to_text(report(f, {.cycles = 1700, .tasks = 9, .wavelets = 42, .hops = 126, .delivered = 40}));
  CHECK(text == fmt::format("{}", report(f, {1700, 9, 42, 126, 40})));
  CHECK_THAT(text, Catch::StartsWith("machine    wse2, 850 MHz\n"
                                     "grid       4 x 3\n"
                                     "programs   "));
  CHECK_THAT(text, Catch::Contains("small         "
                                   "     9 PEs       4 bytes, 0.0 % of its memory\n           "));
  CHECK_THAT(text, mentions("rather_large       1 PE    24576 bytes, 50.0 % of its memory\n"));
  CHECK_THAT(text, Catch::EndsWith("cycles     1700, 2 us\n"
                                   "tasks      9\n"
                                   "wavelets   42 over 126 links, 40 delivered\n"));
}

TEST_CASE("an engine without a clock has no cycles", "[report]") {
  layout l{wse3, 1, 1};
  l.place<small>(all);
  const fabric f{l};
  CHECK_THAT(to_text(report(f, {})), mentions("wse3, 1.1 GHz", "cycles     not counted by this engine\n"));
}

namespace {

struct talker {
  void say(pe& me) {
    for (int i = 0; i < 3; ++i) me.send(color<i32>{0}, i);
  }
  using tasks = task_list<launch<&talker::say>, sends<color<i32>{0}>>;
};

}  // namespace

TEST_CASE("a report names calls that no run has run and words that nobody has read", "[report]") {
  layout l{wse2, 2, 1};
  l.place<talker>(all)
      .path(color<i32>{0}, column(0), ramp >> east)
      .path(color<i32>{0}, column(1), west >> east)
      .stream_out(color<i32>{0}, at(1, 0), east);
  fabric f{l};
  f.start(at(0, 0));
  CHECK_THAT(to_text(report(f, {})), mentions("not run    1 host call was started; f.run() runs them\n"));
  const std::string text = to_text(report(f, f.run()));
  CHECK_THAT(text, mentions("not read   3 words that left the grid through host streams\n"));
  CHECK_THAT(text, !Catch::Contains("not run"));
  std::array<u32, 3> words{};
  CHECK(f.engine_in_use().stream_read(0, {1, 0}, words) == 3);
  CHECK_THAT(to_text(report(f, {})), !Catch::Contains("not read"));
}

TEST_CASE("a report of cycles in which no arithmetic is charged says so", "[report]") {
  layout l{wse2, 1, 1};
  l.place<small>(all);
  fabric f{l, timed{}};
  CHECK_THAT(to_text(report(f, f.launch())), mentions("cycles     4, ", "           exchange only: "));
  fabric g{l};
  CHECK_THAT(to_text(report(g, g.launch())), !Catch::Contains("exchange only"));
}

TEST_CASE("times have units", "[report]") {
  CHECK(detail::time_text(0) == "0 ns");
  CHECK(detail::time_text(49.4e-9) == "49.4 ns");
  CHECK(detail::time_text(1.2345e-3) == "1.234 ms");
  CHECK(detail::time_text(90) == "90 s");
}
