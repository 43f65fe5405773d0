// SPDX-License-Identifier: MIT
// The timed engine on several threads: what a user sees is the same as on one. The grids are cut finely here,
// and windows begin at once, so that small programs run on several threads, too.
#include <wsl/engine/timed.hpp>
#include <wsl/engine/timed/engine.hpp>
#include <wsl/fabric/time_report.hpp>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<f32> red{0}, blue{1};

enum class ending { quiet, throws, blocked };

/// Words go down each column, from PE to PE. Every PE notes the cycles in which it hears them.
template <color<f32> in, color<f32> out, ending how>
struct passer {
  u64 stamps = 0;
  u64 times[32]{};  ///< when it heard the first words
  int heard = 0;
  f32 sum = 0;
  void start(pe& me) {
    for (int i = 0; i < 8; ++i) me.send(out, static_cast<f32>(i));
  }
  void hear(pe& me, f32 x) {
    stamps = 31 * stamps + me.now();
    if (heard < 32) times[heard++] = me.now();
    sum += x;
    me.spend(static_cast<u64>(x) % 3);
    // The columns 0 and 3 throw later than the others, one row below.
    if (how == ending::throws && x == 12 && me.y() == (me.x() % 3 ? 9 : 10))
      throw std::runtime_error("twelve");
    if (how == ending::blocked && me.y() == 20) me.block<in>();
    if (!me.south_edge()) me.send(out, x + 1);
  }
  using tasks = task_list<launch<&passer::start>, on<in, &passer::hear>, sends<out>>;
};
template <ending how>
using even_row = passer<blue, red, how>;
template <ending how>
using odd_row = passer<red, blue, how>;

template <ending how>
layout columns_of_passers() {
  layout l{wse2, 6, 24};
  l.template place<even_row<how>>(rows(0, edge, 2)).template place<odd_row<how>>(rows(1, edge, 2));
  return l.path(red, rows(0, edge - 1, 2), ramp >> south)
      .path(red, rows(1, edge, 2), north >> ramp)
      .path(blue, rows(1, edge - 1, 2), ramp >> south)
      .path(blue, rows(2, edge, 2), north >> ramp);
}

constexpr int most_threads = 3;
timed finely_cut(int threads, const char* trace = nullptr) {
  return {.trace = trace, .threads = threads, .span = 2, .visits_a_cycle = 0};
}

struct seen {
  outcome counts;
  std::vector<u64> stamps;
  std::vector<std::vector<u64>> times;
  std::string failure, report;
  int threads = 0;
  bool windows = false;
  bool operator==(const seen& o) const {
    return counts == o.counts && stamps == o.stamps && failure == o.failure && report == o.report;
  }
};

template <ending how>
seen run(const timed& choice) {
  fabric f{columns_of_passers<how>(), choice};
  seen s;
  try {
    for (int n = 0; n < 2; ++n) s.counts = s.counts + f.template launch<&even_row<how>::start>(row(0));
  } catch (const std::exception& e) { s.failure = e.what(); }
  if (how == ending::quiet)
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 6; ++x)
        s.stamps.push_back(y % 2 ? f.read(x, y, &odd_row<how>::stamps)
                                 : f.read(x, y, &even_row<how>::stamps));
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 6; ++x) {
      const auto note = [&](const auto& p) { s.times.emplace_back(p.times, p.times + p.heard); };
      y % 2 ? note(f.program_at<odd_row<how>>({x, y})) : note(f.program_at<even_row<how>>({x, y}));
    }
  if (how != ending::throws) s.report = time_report(f).text();
  const auto& engine = static_cast<const engines::timed_engine&>(f.engine_in_use());
  s.threads = engine.threads(), s.windows = engine.had_windows();
  return s;
}

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Sets WSL_THREADS while it lives.
class threads_are {
 public:
  explicit threads_are(const char* n)
      : before_(std::getenv("WSL_THREADS") ? std::getenv("WSL_THREADS") : "") {
    setenv("WSL_THREADS", n, 1);
  }
  ~threads_are() { before_.empty() ? unsetenv("WSL_THREADS") : setenv("WSL_THREADS", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("clocks, counts and reports are the same on any number of threads") {
  const seen sparse = run<ending::quiet>({.threads = 1, .span = 2, .visits_a_cycle = 1u << 30});
  CHECK_FALSE(sparse.windows);
  CHECK(sparse.counts.delivered == 2 * 6 * 8 * 23);
  for (int threads = 1; threads <= most_threads; ++threads) {
    const seen some = run<ending::quiet>(finely_cut(threads));
    CHECK(some.threads == threads);
    CHECK(some.windows);
    CHECK(some == sparse);
  }
}

TEST_CASE("of several faults the one in the earliest cycle is thrown, and of those the one of the first PE") {
  const seen sparse = run<ending::throws>({.threads = 1, .span = 2, .visits_a_cycle = 1u << 30});
  CHECK_THAT(sparse.failure, Contains("twelve") && Contains("PE(1, 9)"));
  for (int threads = 1; threads <= most_threads; ++threads)
    CHECK(run<ending::throws>(finely_cut(threads)).failure == sparse.failure);
}

TEST_CASE("after a fault each PE has run all tasks that begin before it, and few that begin later") {
  const seen sparse = run<ending::throws>({.threads = 1, .span = 2, .visits_a_cycle = 1u << 30});
  const u64 fault_at = sparse.times[9 * 6 + 1].back();
  CHECK(fault_at > 0);
  for (int span : {2, 4})
    for (int threads = 1; threads <= most_threads; ++threads) {
      const seen some = run<ending::throws>({.threads = threads, .span = span, .visits_a_cycle = 0});
      CHECK(some.windows);
      for (std::size_t pe = 0; pe < sparse.times.size(); ++pe) {
        const auto until_fault = [&](const seen& s) {
          std::vector<u64> t = s.times[pe];
          std::erase_if(t, [&](u64 at) { return at > fault_at; });
          return t;
        };
        CHECK(until_fault(some) == until_fault(sparse));
        for (u64 at : some.times[pe]) CHECK(at < fault_at + u64(span) + u64(wse2.ramp_latency));
      }
    }
}

TEST_CASE("a deadlock is reported alike on any number of threads") {
  const seen sparse = run<ending::blocked>({.threads = 1, .span = 2, .visits_a_cycle = 1u << 30});
  CHECK_THAT(sparse.failure, Contains("deadlock") && Contains("PE(3, 20)"));
  for (int threads = 1; threads <= most_threads; ++threads)
    CHECK(run<ending::blocked>(finely_cut(threads)) == sparse);
}

TEST_CASE("a traced run has one thread, and its trace is the same") {
  const char* const file = "timed_threads.json";
  std::string first;
  for (int threads = 1; threads <= most_threads; ++threads) {
    const seen traced = run<ending::quiet>(finely_cut(threads, file));
    CHECK(traced.threads == 1);
    CHECK_FALSE(traced.windows);
    const std::string text = text_of(file);
    CHECK(text.size() > 1000);
    if (threads == 1) first = text;
    CHECK(text == first);
  }
  std::remove(file);
}

TEST_CASE("the number of threads of the timed engine is that of the choice, or WSL_THREADS") {
  const threads_are three("3");
  CHECK(run<ending::quiet>(finely_cut(0)).threads == 3);
  CHECK(run<ending::quiet>(finely_cut(2)).threads == 2);
  CHECK(run<ending::quiet>(finely_cut(100)).threads == 6);      // a part has four rows at least
  CHECK(run<ending::quiet>(timed{.threads = 4}).threads == 1);  // too small to be cut
  const threads_are no_number("two");
  CHECK_THROWS_WITH(run<ending::quiet>(finely_cut(0)), Contains("WSL_THREADS is \"two\""));
  CHECK_THROWS_WITH(run<ending::quiet>(finely_cut(-1)), Contains("not on -1"));
  CHECK_THROWS_WITH(run<ending::quiet>({.threads = 2, .span = 1}), Contains("timed{.span} is 1"));
}

namespace {

constexpr color<f32> passed_down{0};

/// Takes what a stream brings, in operations of 200 words, one after the other.
struct listener {
  f32 x[200]{};
  int rounds = 0;
  void start(pe& me) { me.async(mov(mem(x), fabin(passed_down)), then<&listener::next>()); }
  void next(pe& me) {
    if (++rounds < 3) start(me);
  }
  using tasks = task_list<launch<&listener::start>, local<&listener::next>, reads<passed_down>>;
};

}  // namespace

TEST_CASE("a word that goes through many routers at once wakes none of them too early") {
  layout l{wse2, 2, 66};
  l.place<listener>(all).path(passed_down, rows(0, edge - 1), north >> (ramp | south));
  l.path(passed_down, row(edge - 1), north >> ramp).stream_in(passed_down, row(0), north);
  u64 cycles = 0;
  for (const int threads : {0, 1, 2, 3}) {
    fabric f{l, timed{.threads = threads ? threads : 1, .visits_a_cycle = threads ? 0 : 1u << 30}};
    device d{f};
    d.stream_in(passed_down, std::vector<f32>(2 * 600, 1.f));
    const u64 took = f.launch<&listener::start>(all).cycles;
    if (threads == 0) cycles = took;
    CHECK(took == cycles);
  }
}
