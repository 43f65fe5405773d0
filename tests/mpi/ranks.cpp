// SPDX-License-Identifier: MIT
// Several ranks compute the same as one process, bit by bit, and the host sees it on each of them. Every rank
// runs all of these tests (mpirun starts it), and a fabric of its own beside that of the ranks.
#include <wsl/collective/all_reduce.hpp>
#include <wsl/host/device.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/mpi.hpp>
#include <wsl/wsl.hpp>

#include <catch2/catch.hpp>
#include <numeric>

#include "../law/engine_endings.hpp"

using namespace wsl;

namespace {

/// Of all PEs; each rank knows those that are here.
void must_agree_here(law::ending alone, const law::ending& spread, unsigned seed) {
  for (std::size_t i = 0; i < alone.memories.size(); ++i)
    if (spread.memories[i] == 0) alone.memories[i] = 0;
  law::must_agree(alone, spread,
                  "program " + std::to_string(seed) + " on rank " + std::to_string(mpi::world().rank()));
}

/// Leaves a few buffers of the memory that ranks have in common, so that some channels lie in it and others
/// do not.
class scarcity {
 public:
  explicit scarcity(mpi::shared_memory& m) : memory_(m) {
    while (u32* buffer = m.take(engines::large_buffer)) large_.push_back(buffer);
    while (u32* buffer = m.take(engines::small_buffer)) small_.push_back(buffer);
    for (int k = 0; k < 6 && !small_.empty(); ++k)
      m.give(small_.back(), engines::small_buffer), small_.pop_back();
  }
  scarcity(const scarcity&) = delete;
  scarcity& operator=(const scarcity&) = delete;
  ~scarcity() {
    for (u32* buffer : large_) memory_.give(buffer, engines::large_buffer);
    for (u32* buffer : small_) memory_.give(buffer, engines::small_buffer);
  }

 private:
  mpi::shared_memory& memory_;
  std::vector<u32*> large_, small_;
};

/// All on the first rank but for some areas, whose ranks and borders follow nothing.
mpi::spread_over placed_at_random(const threaded& how, unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<mpi::placed_area> places{{all, draw(mpi::world().size())}};
  for (int k = 0; k < 3; ++k) {
    const int every = 1 + draw(3);
    const area some[] = {rows(0, edge, every),    rows(every, edge), row(edge - 1),
                         columns(1, edge, every), column(0),         column(edge - 1),
                         at(0, edge - 1)};
    places.push_back({some[draw(7)], draw(mpi::world().size())});
  }
  return mpi::world().with(how).place(places);
}

/// Says whether queues have stopped it.
bool judge(unsigned seed, bool races) {
  const law::random_program p(seed, races);
  const u32 partition = 1 + seed % 7 * 3;
  const depth queues = seed % 3 ? depth::deep : depth::machine;
  const schedule order = races && seed % 2 ? schedule{schedule::shuffled{seed}} : schedule{};
  const threaded alone{1, queues, order, partition, seed % 3 == 2 ? 8192 : 1 + seed % 16};
  threaded spread = alone;
  spread.threads = 1 + (mpi::world().rank() + static_cast<int>(seed)) % 3;
  const law::ending expected = law::run(p, alone);
  must_agree_here(expected, law::run(p, mpi::world().with(spread)), seed);
  if (seed % 4 == 1) {
    const scarcity few(*mpi::world().who.memory());
    must_agree_here(expected, law::run(p, mpi::world().with(spread)), seed);
  } else if (seed % 4 == 3) {  // as on several computers
    must_agree_here(expected, law::run(p, mpi::spread_over{mpi::ranks(mpi::world().who.group()), spread}),
                    seed);
  }
  // A race may end otherwise where partitions are cut, and how far a program comes that deadlocks depends on
  // them.
  if (!races) {
    const law::ending placed = law::run(p, placed_at_random(spread, seed));
    if (expected.deadlock.empty()) must_agree_here(expected, placed, seed);
    else if (placed.deadlock.empty()) FAIL("program " << seed << " ends, if its areas are placed");
  }
  return !expected.deadlock.empty();
}

constexpr all_reduce<f32> total{.first = 0};

struct summand {
  f32 mine = 0, sum = 0;
  std::array<f32, 3> several{};
  reducer<total> adder;
  void start(pe& me) {
    several = {mine, 2 * mine, 3 * mine};
    adder.contribute(me, mine);
  }
  void know(pe&, f32 x) { sum = x; }
  void fail(pe& me) {
    if (me.south_edge()) throw fault("the last row fails");
  }
  void hang(pe& me) {
    while (me.south_edge()) sleep(1);
  }
  using tasks = task_list<launch<&summand::start>, launch<&summand::fail>, launch<&summand::hang>,
                          use<&summand::adder>, on<total.total(), &summand::know>>;
};
layout sums(int side) {
  layout l{host, side, side};
  l.place<summand>(all);
  total.wire(l);
  return l;
}

/// Each PE of a column sends the one below it an array: long news at the border of ranks, beside work in
/// partitions within.
constexpr int height = 24;
constexpr u32 length = 20'000;
constexpr color<u32> down_from(bool odd) { return {odd}; }

template <bool odd>
struct step_down {
  std::vector<u32> mine, above;

  void go(pe& me) {
    mine.resize(length), above.resize(length);
    std::iota(mine.begin(), mine.end(), length * static_cast<u32>(me.y()));
    if (!me.south_edge()) me.async(mov(fabout(down_from(odd)), mem(std::span(mine))));
    if (me.y() > 0) me.async(mov(mem(std::span(above)), fabin(down_from(!odd))));
  }
  using tasks = task_list<launch<&step_down::go>, sends<down_from(odd)>, reads<down_from(!odd)>>;
};
layout stairs() {
  layout l{host, 1, height};
  l.place<step_down<false>>(rows(0, edge, 2)).place<step_down<true>>(rows(1, edge, 2));
  l.path(down_from(false), rows(0, height - 1, 2), ramp >> south)
      .path(down_from(false), rows(1, height, 2), north >> ramp);
  l.path(down_from(true), rows(1, height - 1, 2), ramp >> south)
      .path(down_from(true), rows(2, height, 2), north >> ramp);
  return l;
}

/// The first and the last PE of a column send all others arrays that are longer than the ring between two
/// ranks. These check and add up the words of both.
constexpr u32 of_rings = 150'001, bad_word = 77'777;
constexpr color<u32> downward{0}, upward{1};

struct adder {
  std::vector<u32> mine, down, up;
  u32 first_word = 0;

  static u32 checked_sum(u32 old, u32 word) {
    if (word == bad_word) throw fault("a word that nobody may add");
    return old + word;
  }
  template <color<u32> from>
  void take(pe& me, std::vector<u32>& into) {
    me.async(map_each([](u32 old, u32 word) { return checked_sum(old, word); }, mem(std::span(into)),
                      mem(std::span(into)), fabin(from)));
  }
  void go(pe& me) {
    down.assign(of_rings, 1), up.assign(of_rings, 2), mine.resize(of_rings);
    std::iota(mine.begin(), mine.end(), first_word);
    if (me.y() == 0) me.async(mov(fabout(downward), mem(std::span(mine))));
    else take<downward>(me, down);
    if (me.south_edge()) me.async(mov(fabout(upward), mem(std::span(mine))));
    else take<upward>(me, up);
  }
  using tasks = task_list<launch<&adder::go>, sends<downward, upward>, reads<downward, upward>>;
};
layout column_of_adders(int pes) {
  layout l{host, 1, pes};
  l.place<adder>(all);
  l.path(downward, row(0), ramp >> south)
      .path(downward, rows(1, pes - 1), north >> (ramp | south))
      .path(downward, row(pes - 1), north >> ramp);
  l.path(upward, row(pes - 1), ramp >> north)
      .path(upward, rows(1, pes - 1), south >> (ramp | north))
      .path(upward, row(0), south >> ramp);
  return l;
}

/// Counts how many of its kind this process has.
struct registered {
  static inline int alive = 0;
  std::vector<u32> owned;
  u32 number = 0;
  u32 parts[3]{};

  registered() { ++alive; }
  registered(const registered&) = delete;
  ~registered() { --alive; }
  void fill(pe& me) {
    const u32 here = static_cast<u32>(10 * me.y() + me.x());
    owned.assign(here + 1, here);
    for (u32& p : parts) p = number + here;
  }
  using tasks = task_list<launch<&registered::fill>>;
};

/// The text of the exception that a call throws, or nothing.
template <class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const std::exception& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("ranks end as one process") {
  int stopped = 0;
  for (unsigned seed = 0; seed < 48; ++seed) stopped += judge(seed, seed % 3 == 0);
  CHECK(stopped > 3);  // so deadlock reports are compared too
}
TEST_CASE("many programs on ranks end as in one process", "[.long]") {
  for (unsigned seed = 48; seed < 5'000; ++seed) judge(seed, seed % 3 == 0);
}

TEST_CASE("a packet reaches all its readers, and leaves its writer a few times") {
  const int size = mpi::world().size(), me = mpi::world().rank();
  for (int writer = 0; writer < size; ++writer)
    for (const u32 n : {1u, 100'000u}) {
      std::vector<int> members{writer};
      for (int k = 0; k < size; ++k)
        if (k != writer) members.push_back(k);
      mpi::detail::tree_broadcast p(members, me, mpi::world().who.group());
      if (me == writer) {
        for (u32 k = 0; k < n; ++k) p.words.put(k + static_cast<u32>(writer));
        p.send();
      } else {
        p.expect(n * sizeof(u32));
      }
      while (!p.arrived()) {}
      while (!p.left()) {}
      CHECK(p.words.size() == n * sizeof(u32));
      CHECK(p.words.words_at((n - 1) * sizeof(u32), 1)[0] == n - 1 + static_cast<u32>(writer));
      CHECK(p.below().size() <= static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(size - 1))));
      CHECK(mpi::world().who.sum(p.below().size()) == static_cast<u64>(size - 1));
    }
}

TEST_CASE("the host copies and reads on every rank") {
  constexpr int side = 9;
  fabric f{sums(side), mpi::world().with({.threads = 2, .pes_per_partition = side})};
  device d{f};
  std::vector<f32> x(side * side);
  std::iota(x.begin(), x.end(), 1.f);
  d.copy_in(&summand::mine, all, x);
  d.launch<&summand::start>(all);
  const f32 expected = std::accumulate(x.begin(), x.end(), 0.f);
  CHECK(d.copy_out(&summand::sum, all) == std::vector<f32>(x.size(), expected));
  CHECK(d.copy_out(&summand::several, at(4, 8)) == std::vector<f32>{77, 154, 231});
  CHECK(f.read(8, 8, &summand::sum) == expected);
  CHECK(f.read(8, 8, &summand::several)[2] == 3 * 81);
  const u64 pes_here = static_cast<u64>(f.here({0, 0})) + static_cast<u64>(f.here({8, 8}));
  CHECK(mpi::world().who.sum(pes_here) == 2);
}

TEST_CASE("a rank has the programs of its own PEs only") {
  constexpr int wide = 5, high = 8;
  layout l{host, wide, high};
  l.place<registered>(all);
  {
    fabric f{l, mpi::world().with({.threads = 1, .pes_per_partition = wide})};
    int here = 0;
    for (int y = 0; y < high; ++y)
      for (int x = 0; x < wide; ++x) here += f.here({x, y});
    CHECK(mpi::world().who.sum(static_cast<u64>(here)) == wide * high);
    CHECK(registered::alive == here);

    // Copies reach the rank that runs a PE, and come from there.
    device d{f};
    std::vector<u32> numbers(wide * high);
    std::iota(numbers.begin(), numbers.end(), 1000u);
    d.copy_in(&registered::number, all, numbers);
    d.launch<&registered::fill>(all);
    CHECK(d.copy_out(&registered::number, all) == numbers);
    std::vector<i64> wider(3 * wide);
    d.copy_out(&registered::parts, row(7), wider);
    for (int x = 0; x < wide; ++x) CHECK(wider[static_cast<std::size_t>(3 * x + 1)] == 1035 + x + 70 + x);

    // What the programs own is gathered where only its size is known.
    std::vector<u32> to(76);
    host_gather owned(f);
    for (const coord c : {coord{4, 7}, coord{0, 0}})
      owned.add(c, f.here(c) ? f.program_at<registered>(c).owned.data() : nullptr, c.y ? &to[1] : &to[0],
                c.y ? 75u : 1u);
    owned.run();
    CHECK(to[0] == 0);
    CHECK(std::count(to.begin() + 1, to.end(), 74u) == 75);
    CHECK(registered::alive == here);
    CHECK_THAT(thrown([&] { owned.add({5, 0}, numbers.data(), to.data(), 1); }),
               Catch::Contains("there is no program at PE(5, 0) from which to gather"));

    // A PE of another rank is built for the host that asks for it, and is what the host makes of it.
    registered& last = f.program_at<registered>({4, 7});
    const bool is_here = f.here({4, 7});
    CHECK(registered::alive == here + !is_here);
    CHECK(last.number == (is_here ? 1039u : 0u));
    CHECK(f.read(4, 7, &registered::number) == 1039);
    CHECK(last.number == 1039);
  }
  CHECK(registered::alive == 0);
}

TEST_CASE("areas run where they are placed") {
  constexpr int side = 8;
  const int last = mpi::world().size() - 1;
  const auto placed = mpi::world().with({.threads = 2, .pes_per_partition = side});
  fabric alone{sums(side), threaded{.threads = 1, .pes_per_partition = side}},
      f{sums(side), placed.place({{all, 0}, {rows(1, edge, 2), last}, {at(7, 7), 0}})};
  CHECK(f.here({0, 0}) == (mpi::world().rank() == 0));
  CHECK(f.here({3, 1}) == (mpi::world().rank() == last));
  CHECK(f.here({7, 7}) == (mpi::world().rank() == 0));
  for (fabric* each : {&alone, &f}) {
    device d{*each};
    std::vector<f32> x(side * side);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = 1.f / static_cast<f32>(k + 1);
    d.copy_in(&summand::mine, all, x);
    d.launch<&summand::start>(all);
  }
  device one{alone}, several{f};
  CHECK(several.copy_out(&summand::sum, all) == one.copy_out(&summand::sum, all));
}

TEST_CASE("more areas than partitions can be cut to") {
  // Each column of one PE would be a partition, and each is on two ranks.
  constexpr int side = 12;
  fabric f{sums(side), mpi::world()
                           .with({.threads = 1, .pes_per_partition = 1, .cut_lines = true})
                           .place({{all, 0}, {rows(0, edge, 2), mpi::world().size() - 1}})};
  device d{f};
  d.copy_in(&summand::mine, all, std::vector<f32>(side * side, 1.f));
  d.launch<&summand::start>(all);
  CHECK(d.copy_out(&summand::sum, all) == std::vector<f32>(side * side, side * side));
  CHECK(f.here({3, 4}) == (mpi::world().rank() == mpi::world().size() - 1));
}

TEST_CASE("placements that cannot be are refused") {
  const auto says = [](std::vector<mpi::placed_area> places) {
    return thrown([&] { fabric f{sums(4), mpi::world().place(std::move(places))}; });
  };
  const int size = mpi::world().size();
  CHECK(says({{all, 0}, {rows(1, 3), size}}) == "wsl: columns 0 to 3 and rows 1 to 2 are placed on rank " +
                                                    std::to_string(size) + ", and there are " +
                                                    std::to_string(size) + " ranks, numbered from 0");
  CHECK_THAT(says({{all, -1}}), Catch::Contains("placed on rank -1"));
  CHECK_THAT(
      says({{all, 0}, {columns(2, 5), 0}}),
      Catch::Contains("columns 2 to 4 and rows 0 to 3 are placed on rank 0, and the grid has 4 columns"));
  CHECK_THAT(
      says({{columns(0, 3), 0}}),
      Catch::Contains("PE(3, 0) of ") && Catch::Contains("is placed on no rank: give an area that has it"));
}

TEST_CASE("ranks go apart in groups") {
  const mpi::spread_over world = mpi::world();
  const int size = world.size(), me = world.rank();
  // The ranks of odd numbers, and the others in descending order.
  const mpi::spread_over group = world.split(me % 2, me % 2 ? me : -me);
  CHECK(group.size() == (me % 2 ? size / 2 : (size + 1) / 2));
  CHECK(group.rank() == (me % 2 ? me / 2 : (size - 1) / 2 - me / 2));
  CHECK(group.who.sum(1) == static_cast<u64>(group.size()));
  CHECK(group.who.name_of(group.rank()) == "rank " + std::to_string(me));
  // Both groups run a fabric of their own at the same time.
  fabric f{sums(8), group.with({.threads = 1, .pes_per_partition = 8})};
  device d{f};
  d.copy_in(&summand::mine, all, std::vector<f32>(64, static_cast<f32>(1 + me % 2)));
  d.launch<&summand::start>(all);
  CHECK(d.copy_out(&summand::sum, all) == std::vector<f32>(64, 64.f * static_cast<f32>(1 + me % 2)));
}

TEST_CASE("long news of ranks without common memory") {
  const mpi::ranks apart(mpi::world().who.group());
  for (const int threads : {1, 2}) {
    fabric f{stairs(), mpi::spread_over{apart, {.threads = threads, .pes_per_partition = 1}}};
    for (int time = 0; time < 2; ++time) CHECK(f.launch().delivered == u64{height - 1} * length);
    for (int y = 1; y < height; ++y) {
      const coord c{0, y};
      if (!f.here(c)) continue;
      std::vector<u32> expected(length);
      std::iota(expected.begin(), expected.end(), length * static_cast<u32>(y - 1));
      CHECK((y % 2 ? f.program_at<step_down<true>>(c).above : f.program_at<step_down<false>>(c).above) ==
            expected);
    }
  }
}

TEST_CASE("arrays that are longer than a ring reach operations on all ranks") {
  constexpr int pes = 6;
  for (const int threads : {1, 2}) {
    fabric f{column_of_adders(pes), mpi::world().with({.threads = threads, .pes_per_partition = 1})};
    device d{f};
    for (int time = 0; time < 2; ++time) {
      d.copy_in(&adder::first_word, row(0), std::vector{u32{1'000'000}});
      d.copy_in(&adder::first_word, row(pes - 1), std::vector{u32{2'000'000}});
      CHECK(f.launch().delivered == 2 * u64{pes - 1} * of_rings);
      for (int y = 0; y < pes; ++y) {
        if (!f.here({0, y})) continue;
        const adder& here = f.program_at<adder>({0, y});
        u32 wrong = 0;
        for (u32 i = 0; i < of_rings; ++i) {
          wrong += here.down[i] != (y == 0 ? 1 : 1'000'001 + i);
          wrong += here.up[i] != (y == pes - 1 ? 2 : 2'000'002 + i);
        }
        CHECK(wrong == 0);
      }
    }
  }
}
TEST_CASE("what an operation throws at a word of a long array is everybody's") {
  fabric alone{column_of_adders(6), threaded{.threads = 1, .pes_per_partition = 1}},
      spread{column_of_adders(6), mpi::world().with({.threads = 1, .pes_per_partition = 1})};
  const std::string said = thrown([&] { alone.launch<&adder::go>(all); });
  CHECK(said == "a word that nobody may add");
  CHECK(thrown([&] { spread.launch<&adder::go>(all); }) == said);
}

TEST_CASE("a fault on one rank is everybody's") {
  fabric alone{sums(8), threaded{.threads = 1, .pes_per_partition = 8}},
      spread{sums(8), mpi::world().with({.threads = 1, .pes_per_partition = 8})};
  const std::string said = thrown([&] { alone.launch<&summand::fail>(all); });
  CHECK_THAT(said, Catch::Contains("the last row fails"));
  CHECK(thrown([&] { spread.launch<&summand::fail>(all); }) == said);
}

TEST_CASE("other layouts on other ranks are refused") {
  const int size = mpi::world().size(), rank = mpi::world().rank();
  const std::string said = thrown([&] { fabric f{sums(rank == size - 1 ? 7 : 6), mpi::world()}; });
  if (size == 1) CHECK(said == "");
  else
    CHECK(said == "wsl: rank " + std::to_string(size - 1) +
                      " has another program, layout or setting of its engine than rank 0; start the same "
                      "program with the same arguments everywhere");
}

// Started by themselves, see ../CMakeLists.txt: they end all ranks.
TEST_CASE("a rank that computes for ever", "[.hangs]") {
  fabric f{sums(8), mpi::world().with({.threads = 1, .pes_per_partition = 8})};
  f.launch<&summand::hang>(all);
}
TEST_CASE("a rank that ends while others call a collective function of its group", "[.leaves]") {
  const auto who = mpi::world().who;
  if (who.rank() == 1) std::exit(0);
  std::vector<std::byte> long_message(1 << 20);
  who.broadcast(std::span(long_message), 0);
  who.require_same(1, "number");
}
TEST_CASE("a rank that ends early", "[.ends]") {
  fabric f{sums(8), mpi::world().with({.threads = 1, .pes_per_partition = 8})};
  if (mpi::world().rank() == 1) std::exit(0);
  f.launch<&summand::start>(all);
}
