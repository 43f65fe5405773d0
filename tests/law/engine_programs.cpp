// SPDX-License-Identifier: MIT
// Law: a program whose result does not depend on the order in which independent wavelets arrive ends the
// same, bit by bit, on every engine, on any number of threads and in any legal order; and a program whose
// result does depend on it ends the same on any number of threads. Operations that a task may not start at
// the same time are the same fault, in the same words, on every engine.
#include <catch2/catch.hpp>
#include <cstdio>
#include <optional>

#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>

#include "engine_crowd.hpp"
#include "engine_endings.hpp"
#include "seeds.hpp"

using namespace wsl;
using law::ending;
using law::mode;
using law::must_agree;
using law::random_program;
using law::run;

namespace {

/// Small partitions, so that there are several on a small grid.
u32 band_size(unsigned seed, const random_program& p) {
  return p.pes() > 300 && seed % 2 ? 256 : 1 + seed % 7 * 3;
}
u32 rendezvous_from(unsigned seed) { return seed % 3 ? 1 + seed % 16 : 8192; }

struct tally {
  long programs = 0, of_mode[3] = {}, reference_stopped = 0, threaded_stopped = 0, machine_stopped = 0;
  u64 wavelets = 0;
};

/// Queues may stop a run in another order elsewhere, but two runs that end, end the same.
void must_agree_if_it_ends(const ending& a, const ending& b, const std::string& who) {
  if (a.deadlock.empty() && b.deadlock.empty()) must_agree(a, b, who);
}
void must_end(const ending& e, const std::string& who) {
  if (!e.deadlock.empty()) FAIL(who << " must end, but: " << e.deadlock);
}

void judge_without_races(unsigned seed, tally& sum) {
  const random_program p(seed, false);
  const u32 partition = band_size(seed, p), granted = rendezvous_from(seed);
  const bool cut_lines = seed % 2 == 1;
  const ending truth = run(p, reference{}), one = run(p, threaded{.threads = 1,
                                                                  .pes_per_partition = partition,
                                                                  .rendezvous_from = granted,
                                                                  .cut_lines = cut_lines});
  if (p.promise() == mode::robust) must_end(truth, "the reference engine");
  if (p.promise() != mode::heavy) must_end(one, "one thread");
  must_agree_if_it_ends(truth, one, "one thread");
  for (int threads : {2, 3, 8})
    must_agree(one,
               run(p, threaded{.threads = threads,
                               .pes_per_partition = partition,
                               .rendezvous_from = granted,
                               .cut_lines = cut_lines}),
               std::to_string(threads) + " threads");
  for (unsigned s = 0; s < 3; ++s) {
    const int threads = 1 + static_cast<int>((seed + s) % 3);
    const ending other = run(p, threaded{.threads = threads,
                                         .order = schedule::shuffled{seed + s},
                                         .pes_per_partition = partition,
                                         .cut_lines = cut_lines});
    if (p.promise() != mode::heavy) must_end(other, "a shuffled run");
    must_agree_if_it_ends(one, other, "a shuffled run");
  }
  const ending tight = run(p, threaded{.threads = 1 + static_cast<int>(seed % 2),
                                       .queues = depth::machine,
                                       .pes_per_partition = partition,
                                       .cut_lines = cut_lines});
  if (p.promise() == mode::robust) must_end(tight, "short queues");
  must_agree_if_it_ends(one, tight, "short queues");

  ++sum.programs, ++sum.of_mode[static_cast<int>(p.promise())];
  sum.reference_stopped += !truth.deadlock.empty(), sum.threaded_stopped += !one.deadlock.empty(),
      sum.machine_stopped += !tight.deadlock.empty();
  sum.wavelets += one.counts.wavelets;
}

void judge_with_races(unsigned seed, tally& sum) {
  const random_program p(seed, true);
  const u32 partition = band_size(seed, p), granted = rendezvous_from(seed);
  for (const schedule order : {schedule{}, schedule{schedule::shuffled{seed}}})
    for (const depth queues : {depth::deep, depth::machine}) {
      const auto with = [&](int threads) {
        return run(p, threaded{threads, queues, order, partition, granted});
      };
      const ending one = with(1);
      for (int threads : {2, 3, 8}) must_agree(one, with(threads), std::to_string(threads) + " threads");
      sum.threaded_stopped += !one.deadlock.empty(), sum.wavelets += one.counts.wavelets;
    }
  ++sum.programs;
}

void judge_crowds(const law::seeds& crowds) {
  std::map<std::string, int> faults;
  crowds.each([&](unsigned seed) {
    const law::random_crowd c(seed);
    const std::string truth = c.end(reference{}), fault_kind = c.expected();
    if (fault_kind.empty() ? truth.find("wsl: ") != std::string::npos
                           : truth.find(fault_kind) == std::string::npos)
      FAIL("not \"" << fault_kind << "\", but " << truth);
    CHECK(c.end(timed{}) == truth);
    for (const schedule order : {schedule{}, schedule{schedule::shuffled{seed}}})
      for (const depth queues : {depth::deep, depth::machine})
        for (int threads : {1, 3})
          CHECK(c.end(threaded{.threads = threads,
                               .queues = queues,
                               .order = order,
                               .pes_per_partition = 1,
                               .rendezvous_from = rendezvous_from(seed)}) == truth);
    ++faults[fault_kind.substr(0, fault_kind.find(' '))];
  });
  // whose queue, reads twice, sends while, has more, and none
  if (crowds.are_a_sample()) REQUIRE(faults.size() == 5);
}

template <class Judge>
void judge_all(const char* what, const law::seeds& programs, Judge judge) {
  tally sum;
  programs.each([&](unsigned seed) { judge(seed, sum); });
  std::printf(
      "%s: %ld programs (%ld robust, %ld light, %ld heavy), %llu wavelets; stopped by queues: %ld on the "
      "reference engine, "
      "%ld on the threaded one, %ld with short queues\n",
      what, sum.programs, sum.of_mode[0], sum.of_mode[1], sum.of_mode[2],
      static_cast<unsigned long long>(sum.wavelets), sum.reference_stopped, sum.threaded_stopped,
      sum.machine_stopped);
}

}  // namespace

TEST_CASE("programs without races end the same on every engine") {
  judge_all("without races", {"program", 200, 600}, judge_without_races);
}
TEST_CASE("programs with races end the same on any number of threads") {
  judge_all("with races", {"program with races", 75, 300}, judge_with_races);
}

TEST_CASE("what a task starts beyond its machine's means is one fault on every engine") {
  judge_crowds({"crowd", 50, 100});
}
