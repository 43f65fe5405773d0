// SPDX-License-Identifier: MIT
// The transport of wavelets: payloads, multicasts, merges, one word a link and cycle, and queues of the
// machine's depths.

#include <wsl/core/half.hpp>
#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

using namespace wsl;
using Catch::Contains;
using wsl::engines::wait, wsl::engines::waits;

namespace {

constexpr color<halves<f16>> pairs{0};
constexpr color<halves<i16, i16>> signed_pairs{1};
constexpr color<f16> shorts{2};
constexpr color<i32> numbers{3};

struct all_payloads {
  void go(pe& me) {
    me.send(pairs, {f16(1.5f), 40000});
    me.send(signed_pairs, {-3, -4});
    me.send(shorts, f16(-0.25f));
    me.send(numbers, -70000);
  }
  using tasks = task_list<launch<&all_payloads::go>, sends<pairs, signed_pairs, shorts, numbers>>;
};

struct all_taken {
  f32 data = 0, half = 0;
  u16 index = 0;
  i16 first = 0, second = 0;
  i32 number = 0;
  void split(pe&, f16 x, u16 i) { data = static_cast<f32>(x), index = i; }
  void whole(pe&, halves<i16, i16> x) { first = x.data, second = x.index; }
  void narrow(pe&, f16 x) { half = static_cast<f32>(x); }
  void wide(pe&, const i32& x) { number = x; }
  using tasks = task_list<on<pairs, &all_taken::split>, on<signed_pairs, &all_taken::whole>,
                          on<shorts, &all_taken::narrow>, on<numbers, &all_taken::wide>>;
};

/// All colors of a list from column 0 to column 1.
layout eastwards(const machine& m, const program& from, const program& to, auto... colors) {
  layout l{m, 2, 1};
  l.place(column(0), from).place(column(1), to);
  (l.path(colors, column(0), ramp >> east).path(colors, column(1), west >> ramp), ...);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("payloads of 16 and 32 bits and pairs of halves arrive as they were sent", "",
                        every_engine) {
  fabric f{
      eastwards(wse2, program_v<all_payloads>, program_v<all_taken>, pairs, signed_pairs, shorts, numbers),
      TestType{}};
  CHECK(f.launch(at(0, 0)).delivered == 4);
  const all_taken& got = f.program_at<all_taken>({1, 0});
  CHECK(got.data == 1.5f);
  CHECK(got.index == 40000);
  CHECK(got.first == -3);
  CHECK(got.second == -4);
  CHECK(got.half == -0.25f);
  CHECK(got.number == -70000);
}

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};

template <color<f32> c>
struct speaker {
  void say(pe& me, f32 x, int times) {
    for (int i = 0; i < times; ++i) me.send(c, x + static_cast<f32>(i));
  }
  using tasks = task_list<launch<&speaker::say>, sends<c>>;
};

template <color<f32> c>
struct listener {
  std::array<f32, 128> heard{};
  int count = 0;
  void hear(pe&, f32 x) { heard[static_cast<std::size_t>(count++)] = x; }
  std::vector<f32> words() const { return {heard.begin(), heard.begin() + count}; }
  using tasks = task_list<on<c, &listener::hear>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a multicast delivers every wavelet once to each of its receivers", "",
                        every_engine) {
  layout l{wse2, 3, 3};
  l.place<speaker<red>>(at(1, 1));
  for (const area& rim :
       {row(0), row(edge - 1), column(0).rows(1, edge - 1), column(edge - 1).rows(1, edge - 1)})
    l.place<listener<red>>(rim);
  l.path(red, at(1, 1), ramp >> (north | south | east | west));
  l.path(red, at(0, 1), east >> ramp).path(red, at(2, 1), west >> ramp);
  l.path(red, at(1, 0), south >> (ramp | east | west)).path(red, at(1, 2), north >> (ramp | east | west));
  l.path(red, column(0).rows(0, edge, 2), east >> ramp).path(red, column(2).rows(0, edge, 2), west >> ramp);
  fabric f{l, TestType{}};
  const outcome o = f.launch<&speaker<red>::say>(at(1, 1), 1.f, 20);
  for (int i = 0; i < 9; ++i) {
    if (i == 4) continue;
    const auto words = f.program_at<listener<red>>({i % 3, i / 3}).words();
    REQUIRE(words.size() == 20);
    CHECK(words.front() == 1);
    CHECK(std::adjacent_find(words.begin(), words.end(), [](f32 a, f32 b) { return b != a + 1; }) ==
          words.end());
  }
  CHECK(o.wavelets == 20);
  CHECK(o.delivered == 8 * 20);
  CHECK(o.hops == 8 * 20);  // each receiver is one link further
}

TEMPLATE_LIST_TEST_CASE("a merge keeps the order of each input and decides between them by the cycle", "",
                        every_engine) {
  const auto heard = [](int from_west, int from_east) {
    layout l{wse2, 3, 1};
    l.place<speaker<red>>(columns(0, edge, 2)).place<listener<red>>(column(1));
    l.path(red, column(0), ramp >> east).path(red, column(2), ramp >> west);
    l.path(red, column(1), (west | east) >> ramp, merges);
    fabric f{l, TestType{}};
    f.start<&speaker<red>::say>(column(0), 0.f, from_west);
    f.start<&speaker<red>::say>(column(2), 1000.f, from_east);
    f.run();
    return f.program_at<listener<red>>({1, 0}).words();
  };
  const auto words = heard(50, 50);
  REQUIRE(words.size() == 100);
  for (const bool east_side : {false, true}) {
    std::vector<f32> half;
    std::copy_if(words.begin(), words.end(), std::back_inserter(half),
                 [&](f32 x) { return (x >= 1000) == east_side; });
    std::vector<f32> sent(50);
    std::iota(sent.begin(), sent.end(), east_side ? 1000.f : 0.f);
    CHECK(half == sent);
  }
  CHECK(heard(50, 50) == words);  // the same in every run
  const auto first_of_west = std::find(words.begin(), words.end(), 0.f),
             first_of_east = std::find(words.begin(), words.end(), 1000.f);
  // neither waits for the end of the other
  if (std::is_same_v<TestType, reference>) CHECK(std::abs(first_of_west - first_of_east) < 10);
  CHECK(heard(3, 0) == std::vector<f32>{0, 1, 2});
}

namespace {

template <color<f32> c>
struct stream_source {
  std::array<f32, 128> x{};
  void go(pe& me, int n) { me.async(mov(fabout(c), mem(x).part(0, n))); }
  using tasks = task_list<launch<&stream_source::go>, sends<c>>;
};

struct stream_sink {
  std::array<f32, 128> x{};
  void go(pe& me, int n) { me.async(mov(mem(x).part(0, n), fabin(red))); }
  using tasks = task_list<launch<&stream_sink::go>, reads<red>>;
};

/// From column 0 over k links to the last one; the columns between have no program.
layout line(const machine& m, int k, const program& from, const program& to, auto... colors) {
  layout l{m, k + 1, 1};
  l.place(column(0), from).place(column(edge - 1), to);
  (l.path(colors, column(0), ramp >> east)
       .path(colors, columns(1, edge - 1), west >> east)
       .path(colors, column(edge - 1), west >> ramp),
   ...);
  return l;
}

u64 cycles_of(const machine& m, int k, int words) {
  fabric f{line(m, k, program_v<stream_source<red>>, program_v<stream_sink>, red), reference{}};
  f.start<&stream_sink::go>(column(edge - 1), words);
  return f.launch<&stream_source<red>::go>(column(0), words).cycles;
}

}  // namespace

TEST_CASE("a stream of n words over k links takes n + k + constant cycles: one word a link and cycle") {
  const u64 constant = cycles_of(wse2, 1, 1) - 2;
  CHECK(constant <= 4);
  for (const machine& m : {wse2, wse3})
    for (int k : {1, 2, 7, 20})
      for (int n : {1, 2, 100, 128}) CHECK(cycles_of(m, k, n) == static_cast<u64>(n + k) + constant);
}

TEST_CASE("two colors share a link: together they take as many cycles as words") {
  layout l{wse2, 3, 2};
  l.place<stream_source<red>>(at(0, 0)).place<stream_source<blue>>(at(1, 0));
  l.place<listener<red>>(at(2, 0)).place<listener<blue>>(at(2, 1));
  l.path(red, at(0, 0), ramp >> east).path(red, at(1, 0), west >> east).path(red, at(2, 0), west >> ramp);
  l.path(blue, at(1, 0), ramp >> east)
      .path(blue, at(2, 0), west >> south)
      .path(blue, at(2, 1), north >> ramp);
  fabric f{l, reference{}};
  f.start<&stream_source<red>::go>(at(0, 0), 100);
  f.start<&stream_source<blue>::go>(at(1, 0), 100);
  const u64 cycles = f.run().cycles;
  CHECK(cycles >= 200);
  CHECK(cycles <= 210);
  CHECK(f.read(2, 0, &listener<red>::count) == 100);
  CHECK(f.read(2, 1, &listener<blue>::count) == 100);
}

namespace {

/// Takes nothing of the third color until it is opened; so that this is in the third queue, there are two
/// others.
struct closed {
  std::array<f32, 128> got{};
  int count = 0;
  void ignore(pe&, f32) {}
  void take(pe&, f32 x) { got[static_cast<std::size_t>(count++)] = x; }
  void open(pe& me) { me.unblock<green>(); }
  using tasks = task_list<on<red, &closed::ignore>, on<blue, &closed::ignore>,
                          on<green, &closed::take, blocked>, launch<&closed::open>>;
};

struct three_colors {
  std::array<f32, 128> x{};
  void go(pe& me) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(i);
    me.async(mov(fabout(green), mem(x)));
  }
  using tasks = task_list<launch<&three_colors::go>, sends<red, blue, green>>;
};

u64 count_of(const waits& open, wait::reason why) {
  u64 n = 0;
  for (const wait& w : open)
    if (w.why == why) n += w.count;
  return n;
}

}  // namespace

TEST_CASE("a blocked consumer stops its producer when the queues are full, and nothing is lost") {
  for (const machine& m : {wse2, wse3})
    for (int k : {1, 2, 5}) {
      fabric f{line(m, k, program_v<three_colors>, program_v<closed>, red, blue, green), reference{}};
      waits open;
      try {
        f.launch(column(0));
      } catch (const deadlock& d) { open = d.open(); }
      // The third queue on both ends, and two words in front of each router after the first.
      const int in = m.input_depth[2], out = m.output_depth[2], held = in + out + 2 * k;
      CHECK(count_of(open, wait::reason::unread) == static_cast<u64>(in));
      CHECK(count_of(open, wait::reason::router) == static_cast<u64>(out + 2 * k));
      CHECK(count_of(open, wait::reason::output) == static_cast<u64>(128 - held));
      CHECK(f.read(k, 0, &closed::count) == 0);
      f.launch(column(edge - 1));
      const auto& got = f.read(k, 0, &closed::got);
      CHECK(f.read(k, 0, &closed::count) == 128);
      CHECK(std::adjacent_find(got.begin(), got.end(), [](f32 a, f32 b) { return b != a + 1; }) == got.end());
    }
}

namespace {

struct echo {
  f32 heard = 0;
  void say(pe& me, f32 x) { me.send(red, x); }
  void hear(pe& me, f32 x) {
    heard += x;
    if (x > 1) me.send(red, x - 1);
  }
  using tasks = task_list<launch<&echo::say>, on<red, &echo::hear>, sends<red>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a grid of one PE can only talk to itself", "", every_engine) {
  for (const machine& m : {wse2, wse3, host}) {
    fabric f{layout{m, 1, 1}.place<echo>(all).path(red, all, ramp >> ramp), TestType{}};
    const outcome o = f.launch<&echo::say>(all, 4.f);
    CHECK(f.read(0, 0, &echo::heard) == 10);
    CHECK(o.hops == 0);
    CHECK(o.wavelets == 4);
    CHECK(o.delivered == 4);
  }
}

TEMPLATE_LIST_TEST_CASE("a layout may be built from what is known only at run time", "", every_engine) {
  std::vector<int> widths{2, 3, 17};
  for (int w : widths) {
    fabric f{line(wse3, w - 1, program_v<speaker<red>>, program_v<listener<red>>, red), TestType{}};
    CHECK(f.launch<&speaker<red>::say>(at(0, 0), 5.f, 3).hops == static_cast<u64>(3 * (w - 1)));
    CHECK(f.program_at<listener<red>>({w - 1, 0}).words() == std::vector<f32>{5, 6, 7});
    CHECK(f.plan().width() == w);
  }
}

TEST_CASE("a layout with a fault does not become a fabric") {
  layout l{wse2, 2, 1};
  l.place<speaker<red>>(column(0)).path(red, all, ramp >> east);
  CHECK_THROWS_AS(fabric{l}, fault);
  CHECK_THROWS_WITH(fabric{l}, Contains("wsl: ") && Contains("color 0"));
}
