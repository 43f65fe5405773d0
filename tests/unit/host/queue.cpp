// SPDX-License-Identifier: MIT
#include <unistd.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <numeric>
#include <vector>
#include <wsl/host/queue.hpp>

#include "mentions.hpp"

using namespace wsl;

namespace {

std::atomic<bool> gate_open = true;

struct part {
  int x = 0;
  int log = 0;
  void go(pe&) { x = (2 * x + 1) % 1000; }
  void note(pe&, int digit) { log = 10 * log + digit; }
  void gate(pe&) { gate_open.wait(false); }
  using tasks = task_list<launch<&part::go>, launch<&part::note>, launch<&part::gate>>;
};

constexpr color<u32> in{0}, out{1};
struct doubler {
  void take(pe& me, u32 x) { me.send(out, 2 * x); }
  using tasks = task_list<on<in, &doubler::take>, sends<out>>;
};

layout line(int w) {
  layout l{wse2, w, 1};
  l.place<part>(all);
  return l;
}

// The worker stands still between `shut` and `open`.
void shut(device_queue& q) {
  gate_open = false;
  q.launch<&part::gate>(at(0, 0));
}
void open() {
  gate_open = true;
  gate_open.notify_all();
}

}  // namespace

TEST_CASE("queued commands happen in their order, and device commands after them", "[queue]") {
  fabric f{line(3)};
  device d{f};
  device_queue later{d};
  shut(later);
  std::vector<int> x(3);
  std::iota(x.begin(), x.end(), 1);
  later.copy_in(&part::x, all, x);
  ticket run = later.launch<&part::go>(all);
  auto copied = later.copy_out(&part::x, all);
  later.fill(&part::x, all, 9);
  for (int digit = 1; digit < 6; ++digit) later.launch<&part::note>(at(1, 0), digit);
  CHECK(!run.done());
  open();
  CHECK(d.copy_out(&part::x, all) == std::vector<int>{9, 9, 9});
  CHECK(run.done());
  CHECK(run.wait().tasks == 3);
  CHECK(copied.wait() == std::vector<int>{3, 5, 7});
  CHECK(copied.wait() == std::vector<int>{3, 5, 7});
  CHECK(f.read(1, 0, &part::log) == 12345);
}

TEST_CASE("the host goes on: arrays with names are read when the command runs, temporaries are kept",
          "[queue]") {
  fabric f{line(2)};
  device d{f};
  device_queue later{d};
  shut(later);
  std::vector<int> named(2), into(2);
  later.copy_in(&part::x, all, named);
  later.copy_out(&part::x, all, into);
  auto kept = later.copy_in(&part::log, all, std::vector<int>{5, 6});
  named = {3, 4};
  open();
  kept.wait();
  CHECK(into == std::vector<int>{3, 4});
  CHECK(d.copy_out(&part::log, all) == std::vector<int>{5, 6});
}

TEST_CASE("an error comes from the ticket and stops what was queued behind it", "[queue]") {
  fabric f{line(2)};
  device d{f};
  device_queue later{d};
  const std::vector<int> wrong(3);
  shut(later);
  auto before = later.fill(&part::x, all, 1);
  auto failing = later.copy_in(&part::x, all, wrong);
  auto behind = later.fill(&part::x, all, 2);
  open();
  CHECK_NOTHROW(before.wait());
  CHECK_THROWS_WITH(failing.wait(), mentions("has 3"));
  CHECK_THROWS_WITH(failing.wait(), mentions("has 3"));
  CHECK_THROWS_WITH(behind.wait(), mentions("has 3"));
  CHECK(d.copy_out(&part::x, all) == std::vector<int>{1, 1});  // the host has seen the error
  later.fill(&part::x, all, 4).wait();
  CHECK(f.read(1, 0, &part::x) == 4);
}

TEST_CASE("commands queued before the host saw an error do not run, even if it is seen meanwhile",
          "[queue]") {
  fabric f{line(1)};
  device d{f};
  device_queue later{d};
  auto failing = later.fill(&part::x, at(3, 0), 1);
  auto behind = later.fill(&part::x, all, 2);
  CHECK_THROWS_AS(failing.wait(), fault);
  auto after = later.launch<&part::note>(all, 7);
  CHECK_THROWS_AS(behind.wait(), fault);
  CHECK_NOTHROW(after.wait());
  CHECK((f.read(0, 0, &part::x) == 0 && f.read(0, 0, &part::log) == 7));
}

TEST_CASE("an error that nobody waited for comes from the next command of the device, once", "[queue]") {
  fabric f{line(1)};
  device d{f};
  device_queue later{d};
  later.fill(&part::x, at(3, 0), 1);
  later.fill(&part::x, all, 2);
  CHECK_THROWS_WITH(d.fill(&part::log, all, 1), mentions("columns 3 to 3, rows 0 to 0 leave"));
  CHECK_NOTHROW(d.wait());
  CHECK(d.copy_out(&part::log, all) == std::vector<int>{0});
  CHECK(d.copy_out(&part::x, all) == std::vector<int>{0});

  later.fill(&part::x, at(4, 0), 1);
  CHECK_THROWS_WITH(later.wait(), mentions("columns 4 to 4"));
  CHECK_NOTHROW(later.wait());
}

TEST_CASE("a queue that goes finishes its commands, and leaves its error to the device", "[queue]") {
  fabric f{line(1)};
  device d{f};
  std::optional<ticket<outcome>> run;
  {
    device_queue later{d};
    shut(later);
    later.fill(&part::x, all, 5);
    run = later.launch<&part::go>(all);
    later.fill(&part::x, at(9, 9), 1);
    open();
  }
  CHECK(run->wait().tasks == 1);
  CHECK_THROWS_WITH(d.copy_out(&part::x, all), mentions("columns 9 to 9"));
  CHECK(d.copy_out(&part::x, all) == std::vector<int>{11});

  std::optional<ticket<void>> failing;
  const auto fail = [&](int x) {
    device_queue later{d};
    failing = later.fill(&part::x, at(x, 0), 1);
  };
  fail(8);
  CHECK_THROWS_WITH(failing->wait(), mentions("columns 8 to 8"));  // seen, after the queue has gone
  CHECK_NOTHROW(d.wait());
  fail(7);
  CHECK_THROWS_WITH(device_queue{d}, mentions("columns 7 to 7"));
  device_queue again{d};
  CHECK_NOTHROW(again.fill(&part::x, all, 6).wait());
}

TEST_CASE("a device that goes writes the error that nobody has seen", "[queue]") {
  std::fflush(stderr);
  std::FILE* const file = std::tmpfile();
  const int before = dup(2);
  REQUIRE(dup2(fileno(file), 2) == 2);
  {
    fabric f{line(1)};
    device d{f};
    device_queue later{d};
    later.fill(&part::x, at(9, 9), 1);
  }
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::rewind(file);
  char text[512]{};
  CHECK(std::fread(text, 1, sizeof text - 1, file) > 0);
  std::fclose(file);
  CHECK_THAT(text, mentions("a command of a device_queue failed", "columns 9 to 9"));
}

TEST_CASE("a device has one queue at a time", "[queue]") {
  fabric f{line(1)};
  device d{f};
  {
    device_queue later{d};
    CHECK_THROWS_AS(device_queue{d}, fault);
    CHECK_NOTHROW(later.fill(&part::x, all, 5).wait());
  }
  CHECK_NOTHROW(device_queue{d}.fill(&part::x, all, 5).wait());
}

TEST_CASE("many commands, waited for and not", "[queue]") {
  fabric f{line(4)};
  device d{f};
  device_queue later{d};
  std::vector<ticket<outcome>> runs;
  for (int i = 0; i < 200; ++i) runs.push_back(later.launch<&part::go>(columns(0, 1 + i % 4)));
  u64 tasks = 0;
  for (const auto& run : runs) tasks += run.wait().tasks;
  CHECK(tasks == 500);
  for (int i = 0; i < 200; ++i) later.fill(&part::x, all, i);
  CHECK(d.copy_out(&part::x, all) == std::vector<int>(4, 199));
}

TEST_CASE("streams are fed and read in the background", "[queue]") {
  layout l{wse2, 1, 1};
  l.place<doubler>(all).path(in, all, west >> ramp).stream_in(in, all, west);
  l.path(out, all, ramp >> east).stream_out(out, all, east);
  fabric f{l};
  device d{f};
  device_queue later{d};
  std::vector<u32> got(3), more(1);
  later.stream_in(in, std::vector<u32>{1, 2, 3});
  ticket run = later.stream_out(out, got);
  later.stream_in(in, std::array{4u});
  CHECK(run.wait().delivered == 6);
  CHECK(got == std::vector<u32>{2, 4, 6});
  d.stream_out(out, more);
  CHECK(more[0] == 8);
  CHECK_THROWS_WITH(later.stream_out(out, more).wait(), mentions("has 0 words"));
}
