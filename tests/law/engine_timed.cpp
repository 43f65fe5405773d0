// SPDX-License-Identifier: MIT
// Law: the timed engine counts what a plain simulation of every cycle and every hop counts, cycle for cycle:
// random programs end at the same time on both, each PE having spent its cycles in the same way; and they
// compute what the reference engine computes. So do random layouts whose routes change, with races where
// wavelets of one color meet.
#include <catch2/catch.hpp>
#include <cstdio>

#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/engine/timed/engine.hpp>
#include <wsl/layout/check.hpp>

#include "engine_changing.hpp"
#include "engine_random.hpp"
#include "seeds.hpp"
#include "timed_oracle.hpp"

using namespace wsl;
using law::mode;
using law::random_program;
using wsl::detail::stream_record;
using wsl::engines::pe_state, wsl::engines::state_of;

namespace {

struct simulation {
  engines::engine* make(const layout& plan) const { return new law::timed_oracle(plan, host); }
  host_link host = {};
};
/// On some seeds the host has a link, faster and slower than a word a cycle, with latency or without.
host_link some_link(unsigned seed) {
  if (seed % 4 != 1) return {};
  return {.channels = 1 + static_cast<int>(seed / 4 % 3),
          .bits_a_second = seed / 12 % 2 ? 40e9 : 5e9,
          .latency = seed / 24 % 2 ? 0 : 1e-8};
}

/// How a PE spent its cycles, and what its clock showed it.
struct pe_history {
  u64 tasks, operations, starved, held_up;
  u32 times;
  friend bool operator==(const pe_history&, const pe_history&) = default;
};

struct ending {
  std::vector<u32> memories;
  std::vector<std::vector<u32>> words;
  std::vector<pe_history> pes;
  outcome counts;
  u64 link_stalls = 0;
  bool stopped = false;
  std::string report;    ///< of the deadlock, if it is stopped
  bool windows = false;  ///< on several threads
};

const law::oracle_cycles& cycles_of(const law::timed_oracle& e, std::size_t i) { return e.cycles_of(i); }
const engines::pe_cycles& cycles_of(const engines::timed_engine& e, std::size_t i) {
  return e.processors()[i].spent;
}

template <class Engine>
void look_at_pes(ending& e, fabric& f, const random_program& p) {
  const auto& engine = static_cast<const Engine&>(f.engine_in_use());
  for (int i = 0; i < p.plan().grid().count(); ++i) {
    const coord at = p.plan().grid().nth(i);
    const auto& c = cycles_of(engine, state_of(*f.engine_in_use().find(at)).index);
    e.pes.push_back({c.tasks, c.operations, c.starved, c.held_up, law::actor_at(f, at).times});
  }
}
u64 link_stalls_of(const law::timed_oracle& e) { return e.link_stalls; }
u64 link_stalls_of(const engines::timed_engine& e) { return e.link_stalls(); }
/// The timed engine on one to three threads, in windows that begin at once, early or late, on grids that are
/// cut finely.
timed on_some_threads(unsigned seed) {
  return {.threads = 1 + static_cast<int>(seed % 3),
          .span = 2,
          .visits_a_cycle = seed / 3 % 3 * 4,
          .host = some_link(seed)};
}

bool had_windows(const law::timed_oracle&) { return false; }
bool had_windows(const engines::timed_engine& e) { return e.threads() > 1 && e.had_windows(); }

template <class Engine, class Choice>
ending run(const random_program& p, const Choice& choice) {
  ending e;
  fabric f{p.plan(), choice};
  give_scripts(f, p);
  try {
    for (int round = 0; round < p.rounds(); ++round) {
      write_streams(f, p, round);
      f.start();
      e.counts = e.counts + f.run();
    }
  } catch (const deadlock& d) { e.stopped = true, e.report = d.what(); }
  for (int i = 0; i < p.plan().grid().count(); ++i)
    e.memories.push_back(law::actor_at(f, p.plan().grid().nth(i)).digest());
  for (const law::stream_flow& s : p.outbound()) {
    e.words.emplace_back(100'000);
    e.words.back().resize(f.engine_in_use().stream_read(s.color, s.at, e.words.back()));
  }
  if constexpr (!std::is_same_v<Engine, engines::engine>) {
    look_at_pes<Engine>(e, f, p);
    e.link_stalls = link_stalls_of(static_cast<const Engine&>(f.engine_in_use()));
    e.windows = had_windows(static_cast<const Engine&>(f.engine_in_use()));
  }
  return e;
}

void must_agree(const ending& a, const ending& b, const std::string& who) {
  if (a.stopped != b.stopped) FAIL(who << (b.stopped ? " is stopped" : " is not stopped"));
  if (a.words != b.words) FAIL(who << ": other words in a stream");
  for (std::size_t i = 0; i < a.memories.size(); ++i)
    if (a.memories[i] != b.memories[i])
      FAIL(who << ": another memory of the PE with number " << i << " in row-major order");
}
void must_agree_in_time(const ending& truth, const ending& b) {
  must_agree(truth, b, "compared with the oracle, the timed engine");
  // Where words stay in the routers for good, the last of them may come to rest after the last event of the
  // timed engine.
  if (truth.stopped) return;
  for (std::size_t i = 0; i < truth.pes.size(); ++i)
    if (const pe_history &x = truth.pes[i], &y = b.pes[i]; !(x == y))
      FAIL("PE " << i << ": tasks " << y.tasks << " not " << x.tasks << ", operations " << y.operations
                 << " not " << x.operations << ", starved " << y.starved << " not " << x.starved
                 << ", held up " << y.held_up << " not " << x.held_up << ", stamps " << y.times << " not "
                 << x.times);
  if (truth.link_stalls != b.link_stalls)
    FAIL("link stalls " << b.link_stalls << " not " << truth.link_stalls);
  if (!(truth.counts == b.counts)) FAIL("cycles " << b.counts.cycles << " not " << truth.counts.cycles);
}

struct tally {
  long programs = 0, stopped = 0, windows = 0;
  u64 cycles = 0, hops = 0;
};

void say(const tally& sum, const char* what) {
  std::printf(
      "%ld %s, %llu cycles, %llu hops, the same on both; %ld of them stopped by queues, %ld on several "
      "threads\n",
      sum.programs, what, static_cast<unsigned long long>(sum.cycles),
      static_cast<unsigned long long>(sum.hops), sum.stopped, sum.windows);
}

void judge(unsigned seed, bool races, tally& sum) {
  const random_program p(seed, races);
  if (p.pes() > 300) return;  // too slow for the oracle
  const ending truth = run<law::timed_oracle>(p, simulation{some_link(seed + races)});
  const ending timed_one = run<engines::timed_engine>(p, on_some_threads(seed + races));
  must_agree_in_time(truth, timed_one);
  if (!races) {
    const ending reference_one = run<engines::engine>(p, reference{});
    if (p.promise() == mode::robust && timed_one.stopped) FAIL("must end");
    if (!timed_one.stopped && !reference_one.stopped)
      must_agree(reference_one, timed_one, "compared with the reference engine, the timed one");
  }
  ++sum.programs, sum.stopped += truth.stopped, sum.windows += timed_one.windows;
  sum.cycles += truth.counts.cycles, sum.hops += truth.counts.hops;
}

void judge_all(const law::seeds& programs) {
  tally sum;
  programs.each([&](unsigned seed) {
    judge(seed, false, sum);
    judge(seed, true, sum);
  });
  say(sum, "programs");
}

// ---- several threads ----------------------------------------------------------------------------

/// On one thread from event to event, and on several in windows, everything is the same, also what a deadlock
/// leaves. This takes no oracle, so the programs may be large.
void judge_threads(unsigned seed, tally& sum) {
  const random_program p(seed, seed % 2);
  const int lines = std::max(p.plan().width(), p.plan().height());
  if (lines < 8) return;
  const int span = 2 + static_cast<int>(seed % static_cast<unsigned>(lines / 4 - 1));
  const ending one = run<engines::timed_engine>(
      p, timed{.threads = 1, .span = span, .visits_a_cycle = 1u << 30, .host = some_link(seed)});
  const ending several = run<engines::timed_engine>(p, timed{.threads = seed % 5 ? 2 : 3,
                                                             .span = span,
                                                             .visits_a_cycle = seed % 3 ? 16u : 2u,
                                                             .host = some_link(seed)});
  must_agree(one, several, "compared with one thread, the timed engine on several");
  if (!(one.pes == several.pes)) FAIL("a PE has spent its cycles otherwise");
  if (one.report != several.report) FAIL("another report:\n" << several.report << "\nnot\n" << one.report);
  if (one.link_stalls != several.link_stalls || !(one.counts == several.counts))
    FAIL("cycles " << several.counts.cycles << " not " << one.counts.cycles << ", link stalls "
                   << several.link_stalls << " not " << one.link_stalls);
  ++sum.programs, sum.stopped += one.stopped, sum.windows += several.windows;
  sum.cycles += one.counts.cycles, sum.hops += one.counts.hops;
}

void judge_all_threads(const law::seeds& programs) {
  tally sum;
  programs.each([&](unsigned seed) { judge_threads(seed, sum); });
  say(sum, "programs on one thread and on several");
  if (programs.are_a_sample()) CHECK(sum.windows * 2 > sum.programs);
}

// ---- colors that share an output queue ----------------------------------------------------------

constexpr color<u32> first{0}, second{1}, third{2};

/// Sends on three colors, of which two leave through one queue: an operation, then words of tasks, then an
/// operation again.
struct sharing {
  u32 sums[3]{};
  std::vector<u32> words = std::vector<u32>(60);
  void go(pe& me) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<u32>(i);
    me.async(mov(fabout(first), mem(std::span<u32>(words))), then<&sharing::next>());
    me.async(mov(fabout(third), mem(std::span<u32>(words))));
  }
  void next(pe& me) {
    for (u32 i = 0; i < 20; ++i) me.send(second, i);
    me.activate<&sharing::last>();
  }
  void last(pe& me) { me.async(mov(fabout(first), mem(std::span<u32>(words)))); }
  template <int k>
  void hear(pe& me, u32 x) {
    sums[k] = law::mixed(sums[k], x + static_cast<u32>(me.now())), me.spend(x % 5);
  }
  using tasks =
      task_list<launch<&sharing::go>, local<&sharing::next>, local<&sharing::last>,
                on<first, &sharing::hear<0>>, on<second, &sharing::hear<1>>, on<third, &sharing::hear<2>>,
                sends<first, second, third>, shares_queue<first, second>>;
};

template <class Choice>
std::pair<outcome, std::vector<u32>> run_sharing(const machine& m, const Choice& choice) {
  layout l{m, 5, 1};
  l.place<sharing>(all);
  for (color<u32> c : {first, second, third})
    l.path(c, column(0), ramp >> east)
        .path(c, columns(1, edge - 1), west >> (ramp | east))
        .path(c, column(edge - 1), west >> ramp);
  fabric f{l, choice};
  const outcome o = f.launch<&sharing::go>(column(0));
  std::vector<u32> sums;
  for (int x = 1; x < 5; ++x)
    sums.insert(sums.end(), std::begin(f.program_at<sharing>({x, 0}).sums),
                std::end(f.program_at<sharing>({x, 0}).sums));
  return {o, sums};
}

// ---- receivers of several colors ----------------------------------------------------------------

/// Takes what comes on two colors over one link, and on a third from elsewhere, with three operations at a
/// time. Two add to one number, so that their order shows.
struct taking {
  f32 sum = 0, other = 0;
  void go(pe& me, int n) {
    if (me.west_edge()) return me.async(mov(fabout(c0, n), 1e7f)), me.async(mov(fabout(c1, n - 100), 1.f));
    me.async(add(&sum, 0.f, fabin(c0, n)));
    me.async(add(&sum, 0.f, fabin(c1, n - 100)));
    if (me.east_edge()) me.async(add(&other, 0.f, fabin(c2, n)));
  }
  static constexpr color<f32> c0{0}, c1{1}, c2{2};
  using tasks = task_list<launch<&taking::go>, sends<c0, c1>, reads<c0, c1, c2>>;
};
struct from_aside {
  void go(pe& me, int n) { me.async(mov(fabout(taking::c2, n), 0.5f)); }
  using tasks = task_list<launch<&from_aside::go>, sends<taking::c2>>;
};

template <class Engine, class Choice>
ending run_taking(const machine& m, int words, const Choice& choice) {
  layout l{m, 5, 2};
  l.place<taking>(row(0)).place<from_aside>(column(4).row(1));
  for (color<f32> c : {taking::c0, taking::c1})
    l.path(c, column(0).row(0), ramp >> east)
        .path(c, columns(1, edge - 1).row(0), west >> (ramp | east))
        .path(c, column(edge - 1).row(0), west >> ramp);
  l.path(taking::c2, column(4).row(1), ramp >> north).path(taking::c2, column(4).row(0), south >> ramp);
  fabric f{l, choice};
  ending e;
  f.start<&from_aside::go>(column(4).row(1), words);
  e.counts = f.launch<&taking::go>(row(0), words);
  for (int x = 0; x < 5; ++x) {
    const taking& p = f.program_at<taking>({x, 0});
    e.memories.insert(e.memories.end(), {std::bit_cast<u32>(p.sum), std::bit_cast<u32>(p.other)});
    const auto& c = cycles_of(static_cast<const Engine&>(f.engine_in_use()),
                              state_of(*f.engine_in_use().find({x, 0})).index);
    e.pes.push_back({c.tasks, c.operations, c.starved, c.held_up, 0});
  }
  e.link_stalls = link_stalls_of(static_cast<const Engine&>(f.engine_in_use()));
  return e;
}

// ---- routes that change -------------------------------------------------------------------------

machine with_other_times(machine m, unsigned seed) {
  const int x = static_cast<int>(seed * 2654435761u >> 8);
  m.task_start = 1 + x % 7, m.ramp_latency = 1 + x / 35 % 4, m.router_depth = 2 + x / 1260 % 2;
  return m;
}

void write_into_all_streams(fabric& f, const layout& l) {
  for (const stream_record& s : l.streams())
    for (int i = 0; s.inbound && i < s.where.count(); ++i) {
      const u32 words[] = {1, 0x20002, 3, 0x50004, 5};
      f.engine_in_use().stream_write(s.color, s.where.nth(i), words);
    }
}

template <class Engine, class Choice>
ending run(const layout& l, unsigned seed, const Choice& choice) {
  ending e;
  fabric f{l, choice};
  const auto& engine = static_cast<const Engine&>(f.engine_in_use());
  law::changing::give_scripts(f, l, seed);
  try {
    for (int round = 0; round < 2; ++round) {
      write_into_all_streams(f, l);
      law::changing::start_all(f, l);
      e.counts = e.counts + f.run();
    }
  } catch (const deadlock&) { e.stopped = true; }
  e.words = law::changing::heard_by_all(f, l);
  law::changing::each_actor(f, l, [&](law::changing::actor&, pe_state& s) {
    const auto& c = cycles_of(engine, s.index);
    e.pes.push_back({c.tasks, c.operations, c.starved, c.held_up, 0});
  });
  e.link_stalls = link_stalls_of(engine);
  e.windows = had_windows(engine);
  return e;
}

void judge_changing(unsigned seed, tally& sum) {
  const oracle::random_layout source(seed, true);
  const layout drawn = source.build();
  if (!drawn.changes() || check(drawn).found()) return;
  const law::changing::staged stage(drawn);
  const layout l = stage.build(source, with_other_times(stage.roomy_machine(), seed));
  const ending truth = run<law::timed_oracle>(l, seed, simulation{some_link(seed)});
  const ending timed_one = run<engines::timed_engine>(l, seed, on_some_threads(seed));
  must_agree_in_time(truth, timed_one);
  ++sum.programs, sum.stopped += truth.stopped, sum.windows += timed_one.windows;
  sum.cycles += truth.counts.cycles, sum.hops += truth.counts.hops;
}

void judge_all_changing(const law::seeds& layouts) {
  tally sum;
  layouts.each([&](unsigned seed) { judge_changing(seed, sum); });
  say(sum, "changing layouts");
  if (!layouts.are_a_sample()) return;
  CHECK(sum.programs > layouts.count() / 100);
  CHECK(sum.stopped * 2 <= sum.programs);
}

}  // namespace

TEST_CASE("random programs take the same cycles as in a simulation of every cycle") {
  judge_all({"program", 40, 160});
}
TEST_CASE("random programs take the same cycles on any number of threads") {
  judge_all_threads({"program", 40, 200});
}
TEST_CASE("random layouts with changing routes take the same cycles as in a simulation of every cycle") {
  judge_all_changing({"changing layout", 400, 1'600});
}
TEST_CASE("colors that share an output queue take the same cycles as in a simulation of every cycle") {
  const auto truth = run_sharing(wse3, simulation{}), one = run_sharing(wse3, timed{});
  CHECK(truth.second == one.second);
  CHECK(truth.first == one.first);
  machine apart = wse3;
  apart.color_owns_queue = false;
  CHECK(run_sharing(apart, timed{}).second != one.second);  // other times
}
TEST_CASE("receivers of several colors take the same cycles as in a simulation of every cycle") {
  for (const machine& m : {wse2, wse3})
    for (int words : {140, 333, 600})
      must_agree_in_time(run_taking<law::timed_oracle>(m, words, simulation{}),
                         run_taking<engines::timed_engine>(m, words, timed{}));
}
