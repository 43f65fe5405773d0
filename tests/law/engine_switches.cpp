// SPDX-License-Identifier: MIT
// Law: routes that change do so alike on every engine. Where no two wavelets race, since every position of
// every switch takes one port, what each PE hears does not depend on the engine or the number of threads.
// Words that end up waiting at a switch are allowed: then the threaded engine, whose queues are deeper, may
// have come further, but on the same way.
#include <catch2/catch.hpp>
#include <cstdio>

#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/layout/check.hpp>

#include "engine_changing.hpp"
#include "seeds.hpp"

using namespace wsl;
using namespace law::changing;

namespace {

struct ending {
  std::vector<std::vector<u32>> heard;  // by PE and color
  outcome counts;
  bool stopped = false;
};

template <class Engine>
ending play(const layout& l, unsigned seed, const Engine& engine) {
  fabric f{l, engine};
  give_scripts(f, l, seed);
  ending e;
  try {
    start_all(f, l);
    e.counts = f.run();
  } catch (const deadlock&) { e.stopped = true; }
  e.heard = heard_by_all(f, l);
  e.counts.cycles = e.counts.tasks = 0;
  return e;
}

void must_be_equal(const ending& a, const ending& b, const std::string& who) {
  if (a.stopped != b.stopped) FAIL(who << (b.stopped ? " stops" : " does not stop"));
  if (a.heard != b.heard) FAIL(who << ": other words were heard");
  if (!(a.counts == b.counts)) FAIL(who << ": other counts");
}
/// `b` has come at least as far as `a`, on the same way.
void must_continue(const ending& a, const ending& b) {
  for (std::size_t i = 0; i < a.heard.size(); ++i)
    if (a.heard[i].size() > b.heard[i].size() ||
        !std::equal(a.heard[i].begin(), a.heard[i].end(), b.heard[i].begin()))
      FAIL("list " << i << " of what was heard is not continued");
}
void must_not_fall_behind(const ending& a, const ending& b, const std::string& who) {
  a.stopped ? must_continue(a, b) : must_be_equal(a, b, who);
}

struct counts {
  long layouts = 0, stopped = 0, only_reference_stopped = 0;
  u64 delivered = 0;
};

void judge(unsigned seed, counts& sum) {
  const oracle::random_layout source(seed, true);
  const layout drawn = source.build();
  if (!drawn.changes() || !without_races(drawn) || check(drawn).found()) return;
  const staged stage(drawn);
  const layout l = stage.build(source);
  const ending truth = play(l, seed, reference{}),
               one = play(
                   l, seed,
                   threaded{.threads = 1, .pes_per_partition = 1 + seed % 5, .cut_lines = seed % 2 == 1});
  ++sum.layouts, sum.stopped += one.stopped, sum.only_reference_stopped += truth.stopped && !one.stopped;
  sum.delivered += truth.counts.delivered;
  must_not_fall_behind(truth, one, "one thread");
  // its queues hold more than the reference engine's, and less than the threaded engine's
  const ending clocked = play(l, seed, timed{});
  must_not_fall_behind(truth, clocked, "the timed engine");
  must_not_fall_behind(clocked, one, "one thread after the timed engine");
  for (int threads : {2, 3, 8})
    must_be_equal(
        one,
        play(l, seed,
             threaded{.threads = threads, .pes_per_partition = 1 + seed % 5, .cut_lines = seed % 2 == 1}),
        std::to_string(threads) + " threads");
  must_be_equal(
      one, play(l, seed, threaded{.threads = 2, .order = schedule::shuffled{seed}, .pes_per_partition = 2}),
      "another order");
}

}  // namespace

TEST_CASE(
    "what a layout with changing routes does, does not depend on the engine, the threads or the order") {
  constexpr law::seeds layouts{"changing layout", 6'000, 20'000};
  counts sum;
  layouts.each([&](unsigned seed) { judge(seed, sum); });
  std::printf("%ld layouts, %ld of them stop, %ld only on the reference engine; %llu wavelets delivered\n",
              sum.layouts, sum.stopped, sum.only_reference_stopped,
              static_cast<unsigned long long>(sum.delivered));
  if (!layouts.are_a_sample()) return;
  CHECK(sum.layouts * 60 >= layouts.count());
  CHECK(sum.stopped * 2 <= sum.layouts);
}
