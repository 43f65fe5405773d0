// SPDX-License-Identifier: MIT
// An all-to-all whose blocks are long sends them one by one, with their words in order: what arrives, what it
// costs on a wafer, and that the threaded engine copies blocks between neighbours from memory to memory.
#include <wsl/collective.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/threaded/run_observer.hpp>
#include <wsl/engine/timed.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr all_to_all<u32> turn{.first = 0};

struct turner {
  std::vector<u32> give, take;
  endpoint<turn> turning;
  void start(pe& me) { turning.start(me, mem(std::span(give)), mem(std::span(take))); }
  /// The arrays are parts of one array, from two of its elements on, every nth element each.
  void start_within(pe& me, int first, int second, int every, int words) {
    const memory<u32> all = mem(std::span(give));
    turning.start(me, all.from(first).every(every).part(0, words),
                  all.from(second).every(every).part(0, words));
  }
  using tasks = task_list<launch<&turner::start>, launch<&turner::start_within>, use<&turner::turning>>;
};

layout line_of(int pes) { return layout{wse2, pes, 1}.place<turner>(all).wire(turn); }

u32 word(int from, int to, int i) { return static_cast<u32>(from * 7'000'003 + to * 50'021 + i); }

/// Exchanges blocks of so many words among all PEs of a line, checks what they get, and returns the cycles.
template <class Engine>
u64 exchange(int pes, int block, const Engine& engine) {
  fabric f{line_of(pes), engine};
  f.ignore_memory_limit();
  for (int x = 0; x < pes; ++x) {
    turner& t = f.program_at<turner>({x, 0});
    t.take.resize(static_cast<std::size_t>(pes * block));
    for (int to = 0; to < pes; ++to)
      for (int i = 0; i < block; ++i) t.give.push_back(word(x, to, i));
  }
  const u64 cycles = f.launch<&turner::start>(all).cycles;
  int wrong = 0;
  for (int x = 0; x < pes; ++x) {
    const turner& t = f.program_at<turner>({x, 0});
    for (int from = 0, k = 0; from < pes; ++from)
      for (int i = 0; i < block; ++i, ++k) wrong += t.take[static_cast<std::size_t>(k)] != word(from, x, i);
  }
  CHECK(wrong == 0);
  return cycles;
}

struct count_of_supersteps final : run_observer {
  int count = 0;
  void begin_run(int, std::size_t) override {}
  void begin_superstep(int) override { ++count; }
};
/// The supersteps in which each PE, in a partition of its own, sends a block to each other one.
int supersteps(int pes, int block, u32 rendezvous_from) {
  count_of_supersteps counted;
  exchange(
      pes, block,
      threaded{
          .threads = 1, .pes_per_partition = 1, .rendezvous_from = rendezvous_from, .observer = &counted});
  return counted.count;
}

}  // namespace

TEST_CASE("blocks of any length arrive where the serial line says") {
  for (int pes : {2, 3, 4, 5})
    for (int block : {1, 4095, 4096}) {
      exchange(pes, block, reference{});
      for (int threads : {1, 2}) exchange(pes, block, threaded{.threads = threads, .pes_per_partition = 1});
      exchange(pes, block, threaded{.threads = 1, .pes_per_partition = 1, .rendezvous_from = 1});
    }
}

TEST_CASE("long blocks take the cycles that the formula says, and no more than shorter ones") {
  for (int pes : {3, 4}) {
    const double one_by_one = static_cast<double>(exchange(pes, 4096, timed{})),
                 in_pairs = static_cast<double>(exchange(pes, 4095, timed{}));
    CHECK(one_by_one ==
          Approx(turn.cycles(line_of(pes), 4096) + collective::restart + collective::begin).epsilon(0.12));
    CHECK(one_by_one < 1.01 * in_pairs);
  }
}

TEST_CASE("the engine copies long blocks between neighbours from memory to memory") {
  constexpr int block = 200'000;
  constexpr u32 never = u32{1} << 30;
  // Of the two blocks that cross a link of three PEs in each direction, one is for the neighbour, and the
  // other one is passed on, through buffers, as the only block of two PEs is that never meet.
  const int through_buffers = supersteps(2, block, never);
  CHECK(supersteps(2, block, 8192) < through_buffers / 4);
  CHECK(supersteps(3, block, 8192) < through_buffers + through_buffers / 2);
}

TEST_CASE("arrays of an all-to-all that overlap are a fault") {
  const auto start = [](int first, int second, int every) {
    fabric f{line_of(3), reference{}};
    for (int x = 0; x < 3; ++x) f.program_at<turner>({x, 0}).give.resize(40);
    f.launch<&turner::start_within>(all, first, second, every, 6);
  };
  const std::string overlap = "calls all_to_all with arrays that overlap";
  for (int second : {0, 1, 5})
    CHECK_THROWS_WITH(start(0, second, 1), Contains(overlap) && Contains("another array"));
  CHECK_THROWS_WITH(start(5, 0, 1), Contains(overlap) && Contains("another array"));
  CHECK_THROWS_WITH(start(0, 10, 2), Contains(overlap) && Contains("another array"));
  CHECK_NOTHROW(start(0, 6, 1));
  CHECK_NOTHROW(start(6, 0, 1));
  CHECK_NOTHROW(start(0, 1, 2));
  CHECK_NOTHROW(start(0, 12, 2));
}
