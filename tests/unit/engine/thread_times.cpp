// SPDX-License-Identifier: MIT
#include <wsl/engine/threaded/thread_times.hpp>

#include <catch2/catch.hpp>
#include <map>
#include <utility>
#include <wsl/engine/reference.hpp>
#include <wsl/fabric/busy_map.hpp>
#include <wsl/fabric/fabric.hpp>

using namespace wsl;

namespace {

constexpr int work = thread_times::first_of_program, kinds = work + 1;
constexpr u64 millisecond = 1'000'000;

void be_busy(u64 nanoseconds) {
  const u64 from = engines::monotonic_time();
  while (engines::monotonic_time() - from < nanoseconds) {}
}

/// PE x is busy for x + 1 milliseconds in a job, and then for another one that it does not name.
struct busy {
  void start(pe& me) {
    me_ = &me;
    thread_times::now_at(me.x());
    me.async_compute<&busy::compute>(*this, then<&busy::done>());
  }
  void compute() {
    const thread_times::span working(me_->x(), work);
    be_busy(static_cast<u64>(me_->x() + 1) * millisecond);
  }
  void done(pe&) { be_busy(millisecond); }

  using tasks = task_list<launch<&busy::start>, local<&busy::done>>;

 private:
  pe* me_ = nullptr;
};

f64 all_shares(const thread_times& times) {
  f64 sum = 0;
  for (int subject = 0; subject <= times.host(); ++subject)
    for (int kind = 0; kind < kinds; ++kind) sum += times.share(subject, kind);
  return sum;
}

}  // namespace

TEST_CASE("each thread's time is divided among subjects and kinds of work without a gap") {
  for (const int threads : {1, 2, 4}) {
    INFO(threads << " threads");
    thread_times times;
    fabric f{layout{host, 4, 1}.place<busy>(all),
             threaded{.threads = threads, .pes_per_partition = 1, .observer = &times}};
    f.launch();  // is not measured
    CHECK(all_shares(times) == 0);
    for (int run = 0; run < 2; ++run) {
      const u64 from = engines::monotonic_time();
      times.restart(4, kinds);
      f.launch();
      be_busy(2 * millisecond);
      f.launch();
      times.stop();
      const f64 ms = 1e3 * times.seconds(),
                elapsed = static_cast<f64>(engines::monotonic_time() - from) / millisecond;
      CHECK((ms > 4 + 10. / threads && ms < 1.001 * elapsed));
      f.launch();  // is not measured either
      CHECK(all_shares(times) == Approx(1).epsilon(1e-3));
      const auto spent = [&](int subject, int kind) { return times.share(subject, kind) * ms * threads; };
      for (int x = 0; x < 4; ++x) {
        CHECK(spent(x, work) > 0.99 * 2 * (x + 1));
        CHECK(spent(x, thread_times::moving) > 0.99 * 2);
      }
      CHECK(spent(times.host(), thread_times::waiting) > 0.99 * 2 * threads);
      f64 of_partitions = 0;
      auto& engine = dynamic_cast<engines::threaded_engine&>(f.engine_in_use());
      for (int x = 0; x < 4; ++x) {
        const f64 share = times.share_of_partition(engine.partition_of(*engine.find({x, 0})));
        CHECK(share * ms > 0.99 * 2 * (x + 2));
        of_partitions += share;
      }
      CHECK(of_partitions < threads * 1.001);
      f64 waiting = 0;
      for (int x = 0; x < 4; ++x) waiting += spent(x, thread_times::waiting);
      CHECK((waiting > 0) == (threads > 1));
    }
  }
}

TEST_CASE("a map of the busy PEs has a square for each") {
  thread_times times;
  const layout row = layout{host, 4, 1}.place<busy>(all);
  fabric f{row, threaded{.threads = 2, .pes_per_partition = 1, .observer = &times}};
  CHECK_THAT(busy_map(f, times, ""), Catch::Contains("not measured") && !Catch::Contains("busy\n"));
  times.restart(4, kinds);
  f.launch();
  times.stop();
  const std::string svg = busy_map(f, times, "a < b");
  CHECK_THAT(svg, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
  CHECK_THAT(svg,
             Catch::Contains("a &lt; b") && Catch::Contains("PE(3, 0) of ") && Catch::Contains("busy: "));
  std::size_t squares = 0;
  for (auto at = svg.find("<rect"); at != svg.npos; at = svg.find("<rect", at + 1)) ++squares;
  CHECK(squares == 1 + 4);

  fabric without{row, reference{}};
  CHECK_THROWS_WITH(busy_map(without, times, ""), Catch::Contains("needs the threaded engine"));
}

TEST_CASE("each stretch of a thread's time is kept if that is wanted") {
  thread_times times;
  fabric f{layout{host, 4, 1}.place<busy>(all),
           threaded{.threads = 2, .pes_per_partition = 1, .observer = &times}};
  const auto measured = [&](std::size_t most) {
    times.keep_events(most);
    times.restart(4, kinds);
    f.launch();
    times.stop();
  };
  measured(1000);
  CHECK(times.lost_events() == 0);
  std::map<std::pair<int, int>, f64> sums;
  std::map<int, f64> last;
  times.each_event([&](int thread, int subject, int kind, f64 begin, f64 end) {
    CHECK(begin >= last[thread]);
    CHECK(begin < end);
    last[thread] = end, sums[{subject, kind}] += (end - begin) / 2;
  });
  for (const auto& [of, sum] : sums) CHECK(sum == Approx(times.share(of.first, of.second)).epsilon(1e-6));
  CHECK(sums.contains({3, work}));

  measured(2);
  int count = 0;
  times.each_event([&](int, int, int, f64, f64) { ++count; });
  CHECK(count <= 4);
  CHECK(times.lost_events() > 0);
  measured(0);
  times.each_event([&](int, int, int, f64, f64) { FAIL("an event that nobody wanted"); });
}

TEST_CASE("a program that is not measured may say what it does") {
  fabric f{layout{host, 4, 1}.place<busy>(all)};
  CHECK(f.launch().tasks == 8);
}
