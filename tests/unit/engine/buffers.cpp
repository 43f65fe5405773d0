// SPDX-License-Identifier: MIT
// Where words of the threaded engine lie: buffers and blocks of the pool, words that accumulate one by one in
// blocks of all sizes while their reader waits, and what many PEs leave unread at once. Partitions are small,
// so that no buffer is kept from one visit to the next.
#include "engines.hpp"

#include <wsl/engine/threaded/buffers.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace wsl;
using engines::size_class;
using wsl::detail::initially;

TEST_CASE("memory of a pool has its size for itself and is lent again, the newest first") {
  engines::buffer_pool pool;
  struct piece {
    u32* words;
    size_class size;
  };
  std::vector<piece> lent;
  for (u32 round = 0; round < 300; ++round)
    for (int s = 0; s < engines::size_classes; ++s)
      if (s < 4 || round < 4) lent.push_back({pool.take(size_class(s)), size_class(s)});
  for (u32 k = 0; k < lent.size(); ++k)
    for (int i = 0; i < words_of(lent[k].size); ++i) lent[k].words[i] = k;
  for (u32 k = 0; k < lent.size(); ++k) {
    // as large as a cache line, or within one
    CHECK(reinterpret_cast<std::uintptr_t>(lent[k].words) %
              static_cast<unsigned>(lent[k].size > size_class::of_4 ? 64 : 16) ==
          0);
    bool own = true;
    for (int i = 0; i < words_of(lent[k].size); ++i) own &= lent[k].words[i] == k;
    CHECK(own);
  }
  for (const piece& p : lent) pool.give(p.words, p.size);
  for (std::size_t k = lent.size(); k-- > 0;) CHECK(pool.take(lent[k].size) == lent[k].words);
}

TEST_CASE("a block is the smallest that holds the words") {
  for (u32 n = 1; n <= engines::most_in_block; ++n) {
    const size_class s = engines::block_for(n);
    CHECK(words_of(s) >= static_cast<int>(n));
    CHECK((s == size_class::of_4 || words_of(s) < 4 * static_cast<int>(n)));
    CHECK(s < engines::small);
  }
}

TEST_CASE("memory that another partition may read is lent again two supersteps later") {
  engines::buffer_pool pool;
  for (u64 superstep = 1; superstep < 50; ++superstep) {
    u32* const words = pool.take(size_class::of_16);
    pool.retire(words, size_class::of_16, superstep);
    pool.release(superstep + 1);
    u32* const other = pool.take(size_class::of_16);
    CHECK(other != words);
    pool.give(other, size_class::of_16);
    pool.release(superstep + 2);
    u32* const again = pool.take(size_class::of_16);
    CHECK(again == words);
    pool.give(again, size_class::of_16);
  }
}

namespace {

// A clock and a speaker talk to each other; at each tick the speaker says one word to a quick and a slow
// listener, who hears nothing until the clock lets it.
constexpr color<u32> by_send{0}, by_operation{1}, to_quick{2}, to_slow{3}, tick{4}, tock{5}, let_hear{6};

struct clock_pe {
  int left = 0, release_at = 0;
  void start(pe& me, int ticks, int release) {
    left = ticks, release_at = release;
    beat(me);
  }
  void beat(pe& me) {
    if (left == release_at) me.send(let_hear, 1u);
    if (left-- > 0) me.send(tick, 1u);
  }
  void answer(pe& me, u32) { beat(me); }
  using tasks = task_list<launch<&clock_pe::start>, on<tock, &clock_pe::answer>, sends<tick, let_hear>>;
};

struct speaker {
  bool by_operations = false;
  u32 said = 0;
  std::array<u32, 1> word{};
  void choose(pe&, bool operations) { by_operations = operations; }
  void speak(pe& me, u32) {
    word[0] = said++;
    if (!by_operations) {
      for (const color<u32> c : {by_send, to_quick, to_slow}) me.send(c, word[0]);
      me.send(tock, 1u);
    } else {
      me.async(mov(fabout(by_operation), mem(word)), then<&speaker::spoken>());
    }
  }
  void spoken(pe& me) { me.send(tock, 1u); }
  using tasks = task_list<launch<&speaker::choose>, on<tick, &speaker::speak>, local<&speaker::spoken>,
                          sends<by_send, by_operation, to_quick, to_slow, tock>>;
};

/// Counts the words of each color, and those out of order.
template <bool slow>
struct listener {
  std::array<u32, 3> heard{};
  u32 wrong = 0;
  void note(u32 what, u32 x) { wrong += x != heard[what]++; }
  void sent(pe&, u32 x) { note(0, x); }
  void moved(pe&, u32 x) { note(1, x); }
  void own(pe&, u32 x) { note(2, x); }
  void hear(pe& me, u32) {
    me.unblock<by_send>();
    me.unblock<by_operation>();
    me.unblock<to_slow>();
  }
  static constexpr initially at_first = slow ? blocked : initially::ready;
  using tasks =
      task_list<on<by_send, &listener::sent, at_first>, on<by_operation, &listener::moved, at_first>,
                on<slow ? to_slow : to_quick, &listener::own, at_first>,
                when<slow, on<let_hear, &listener::hear>>>;
};

layout conversation() {
  layout l{host, 4, 1};
  l.place<clock_pe>(column(0))
      .place<speaker>(column(1))
      .place<listener<false>>(column(2))
      .place<listener<true>>(column(3));
  for (const color<u32> c : {by_send, by_operation}) {
    l.path(c, column(1), ramp >> east);
    l.path(c, column(2), west >> (ramp | east));
    l.path(c, column(3), west >> ramp);
  }
  l.path(to_quick, column(1), ramp >> east).path(to_quick, column(2), west >> ramp);
  l.path(to_slow, column(1), ramp >> east)
      .path(to_slow, column(2), west >> east)
      .path(to_slow, column(3), west >> ramp);
  l.path(tick, column(0), ramp >> east).path(tick, column(1), west >> ramp);
  l.path(tock, column(1), ramp >> west).path(tock, column(0), east >> ramp);
  l.path(let_hear, column(0), ramp >> east)
      .path(let_hear, columns(1, 3), west >> east)
      .path(let_hear, column(3), west >> ramp);
  return l;
}

/// So many words, one a visit; the slow listener hears them when `left` are still to come.
void hears_all(const threaded& how, bool by_operations, int words, int left) {
  fabric f{conversation(), how};
  f.launch<&speaker::choose>(column(1), by_operations);
  f.launch<&clock_pe::start>(column(0), words, left);
  const u32 n = static_cast<u32>(words);
  const std::array<u32, 3> all = by_operations ? std::array<u32, 3>{0, n, 0} : std::array<u32, 3>{n, 0, n};
  CHECK(f.read(2, 0, &listener<false>::heard) == all);
  CHECK(f.read(3, 0, &listener<true>::heard) == all);
  CHECK(f.read(2, 0, &listener<false>::wrong) == 0);
  CHECK(f.read(3, 0, &listener<true>::wrong) == 0);
}

}  // namespace

TEST_CASE("words that are sent one a visit wait in blocks of all sizes for a slow reader") {
  for (const int threads : {1, 2, 4})
    for (const u32 partition : {1u, 2u, 4u})
      for (const int words : {1, 3, 4, 5, 16, 17, 63, 64, 65, 200, 250})
        for (const int left : {0, words / 2})
          hears_all({.threads = threads, .pes_per_partition = partition}, false, words, left);
}

TEST_CASE("words that operations send one a visit wait by the thousand for a slow reader") {
  for (const int threads : {1, 2, 4})
    for (const u32 partition : {1u, 2u, 4u})
      for (const int words : {5, 257, 1023, 1025, 5000})
        for (const int left : {0, words / 3})
          hears_all({.threads = threads, .pes_per_partition = partition}, true, words, left);
}

namespace {

constexpr color<u32> onward{0};

/// Knocks at a closed router, one word a run.
struct visitor {
  void knock(pe& me, u32 x) { me.send(onward, x); }
  using tasks = task_list<launch<&visitor::knock>, sends<onward>>;
};
struct host_of_visitors {
  std::vector<u32> heard;
  void hear(pe&, u32 x) { heard.push_back(x); }
  void open(pe& me) { me.reopen(onward); }
  void ignore(pe&) {}
  using tasks = task_list<launch<&host_of_visitors::open>, on<onward, &host_of_visitors::hear>,
                          on_teardown<onward, &host_of_visitors::ignore>>;
};

}  // namespace

TEST_CASE("words that come one by one wait before a closed router, and pass when it is opened") {
  layout l{wse2, 2, 1};
  l.place<visitor>(at(0, 0)).place<host_of_visitors>(at(1, 0));
  l.path(onward, at(0, 0), ramp >> east).path(onward, at(1, 0), west >> ramp, starts_closed);
  for (const int threads : {1, 2, 4})
    for (const u32 partition : {1u, 2u})
      for (const u32 waiting : {1u, 5u, 70u}) {
        fabric f{l, threaded{.threads = threads, .pes_per_partition = partition}};
        std::vector<u32> knocks;
        for (u32 k = 0; k < waiting; ++k) {
          knocks.push_back(k);
          CHECK_THROWS_AS(f.launch<&visitor::knock>(at(0, 0), k), deadlock);
        }
        f.launch<&host_of_visitors::open>(at(1, 0));
        CHECK(f.program_at<host_of_visitors>({1, 0}).heard == knocks);
      }
}

namespace {

// Neighbours exchange lines of an array with operations that take all words of a channel: they are read when
// the channel has already given its memory back.
constexpr color<u32> from_even{0}, from_odd{1};

template <color<u32> in, color<u32> out>
struct exchanger {
  std::array<u32, 16> mine{}, theirs{};
  u32 turn = 0, wrong = 0;
  static u32 word(u32 turn, int x, u32 i) { return 1000 * turn + 100 * static_cast<u32>(x) + i; }
  void next(pe& me) {
    for (u32 i = 0; i < mine.size(); ++i) mine[i] = word(turn, me.x(), i);
    me.async(mov(fabout(out), mem(mine)));
    me.async(mov(mem(theirs), fabin(in)), then<&exchanger::check>());
  }
  void check(pe& me) {
    for (u32 i = 0; i < theirs.size(); ++i) wrong += theirs[i] != word(turn, me.x() ^ 1, i);
    if (++turn < 50) me.activate<&exchanger::next>();
  }
  void begin(pe& me) { next(me); }
  using tasks = task_list<launch<&exchanger::begin>, local<&exchanger::next>, local<&exchanger::check>,
                          sends<out>, reads<in>>;
};
using even_exchanger = exchanger<from_odd, from_even>;
using odd_exchanger = exchanger<from_even, from_odd>;

}  // namespace

TEST_CASE("an operation that takes all words of a channel reads them before their memory is used again") {
  layout l{host, 8, 6};
  l.place<even_exchanger>(columns(0, edge, 2)).place<odd_exchanger>(columns(1, edge, 2));
  l.path(from_even, columns(0, edge, 2), ramp >> east).path(from_even, columns(1, edge, 2), west >> ramp);
  l.path(from_odd, columns(1, edge, 2), ramp >> west).path(from_odd, columns(0, edge, 2), east >> ramp);
  for (const int threads : {1, 2, 4})
    for (const u32 partition : {1u, 8u, 48u}) {
      fabric f{l, threaded{.threads = threads, .pes_per_partition = partition}};
      f.start<&even_exchanger::begin>(columns(0, edge, 2));
      f.start<&odd_exchanger::begin>(columns(1, edge, 2));
      f.run();
      u32 wrong = 0;
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 8; ++x)
          wrong += x % 2 ? f.read(x, y, &odd_exchanger::wrong) : f.read(x, y, &even_exchanger::wrong);
      CHECK(wrong == 0);
    }
}

namespace {

// More PEs than a partition has buffers for: each leaves so many words unread at once, and takes its
// neighbour's when the neighbour says so.
constexpr color<u32> even_words{0}, odd_words{1};

template <color<u32> in, color<u32> out>
struct link {
  u32 sum = 0;
  void say(pe& me, int words) {
    if (!me.east_edge())
      for (int i = 0; i < words; ++i) me.send(out, static_cast<u32>(me.x() + i));
  }
  void hear(pe&, u32 x) { sum += x; }
  using tasks = task_list<launch<&link::say>, on<in, &link::hear>, sends<out>>;
};
using even_link = link<odd_words, even_words>;
using odd_link = link<even_words, odd_words>;

}  // namespace

TEST_CASE("many PEs that send at once leave words in blocks and buffers, with any number of threads") {
  constexpr int width = 40, height = 30;
  layout l{host, width, height};
  l.place<even_link>(columns(0, edge, 2)).place<odd_link>(columns(1, edge, 2));
  l.path(even_words, columns(0, edge - 1, 2), ramp >> east)
      .path(even_words, columns(1, edge, 2), west >> ramp);
  l.path(odd_words, columns(1, edge - 1, 2), ramp >> east).path(odd_words, columns(2, edge, 2), west >> ramp);
  for (const int threads : {1, 2, 4})
    for (const u32 partition : {7u, 256u, 1u << 30}) {
      fabric f{l, threaded{.threads = threads, .pes_per_partition = partition}};
      u32 told = 0, sums = 0;  // of x + i: how often, and the sum of i
      for (const int words : {1, 2, 9, 40, 200, 300, 4000}) {
        f.start<&even_link::say>(columns(0, edge, 2), words);
        f.start<&odd_link::say>(columns(1, edge, 2), words);
        const outcome done = f.run();
        CHECK(done.delivered == static_cast<u64>((width - 1) * height) * static_cast<u64>(words));
        told += static_cast<u32>(words), sums += static_cast<u32>(words * (words - 1) / 2);
      }
      bool right = true;
      for (int y = 0; y < height; ++y)
        for (int x = 1; x < width; ++x) {
          const u32 sum = x % 2 ? f.read(x, y, &odd_link::sum) : f.read(x, y, &even_link::sum);
          right &= sum == static_cast<u32>(x - 1) * told + sums;
        }
      CHECK(right);
    }
}
