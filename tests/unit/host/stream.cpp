// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>
#include <wsl/core/half.hpp>
#include <wsl/host/device.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include "mentions.hpp"

using namespace wsl;

namespace {

constexpr color<f32> in{0}, out{1};
constexpr color<u16> narrow_in{2}, narrow_out{3};

struct adder {
  void take(pe& me, f32 x) { me.send(out, x + 1); }
  using tasks = task_list<on<in, &adder::take>, sends<out>>;
};
struct flipper {
  void take(pe& me, u16 x) { me.send(narrow_out, static_cast<u16>(~x)); }
  using tasks = task_list<on<narrow_in, &flipper::take>, sends<narrow_out>>;
};
// Adds pairs of blocks of four words.
struct blocks {
  f32 sum[8] = {};
  void go(pe& me) {
    me.async(mov(mem(sum), fabin(in, 8)), then<&blocks::full>());
    me.async(mov(fabout(out, 4), mem(sum).part(0, 4)));
  }
  void full(pe&) {}
  using tasks = task_list<launch<&blocks::go>, local<&blocks::full>, reads<in>, sends<out>>;
};
// Takes one word and then no more.
struct sated {
  void take(pe& me, f32) { me.block<in>(); }
  using tasks = task_list<on<in, &sated::take>>;
};

layout rows_of_adders(int w, int h) {
  layout l{wse2, w, h};
  l.place<adder>(column(0)).path(in, column(0), west >> ramp).stream_in(in, column(0), west);
  l.path(out, column(0), ramp >> east)
      .path(out, columns(1, edge), west >> east)
      .stream_out(out, column(edge - 1), east);
  return l;
}

std::vector<f32> ascending(std::size_t n) {
  std::vector<f32> v(n);
  std::iota(v.begin(), v.end(), 1.f);
  return v;
}

}  // namespace

TEST_CASE("words pass through a fabric that is never launched", "[stream]") {
  const int w = GENERATE(1, 3), h = GENERATE(1, 4);
  CAPTURE(w, h);
  fabric f{rows_of_adders(w, h)};
  device d{f};
  const std::size_t rows = static_cast<std::size_t>(h);
  const auto words = ascending(5 * rows);
  d.stream_in(in, words);
  CHECK(d.ready(out) == 0);
  CHECK(d.run().delivered > 0);
  CHECK(d.ready(out) == 5 * rows);
  std::vector<f32> got(5 * rows);
  CHECK(d.stream_out(out, got).tasks == 0);  // all are there, nothing needs to run
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == words[i] + 1);
  CHECK(d.ready(out) == 0);
}

TEST_CASE("a read runs the fabric and leaves what it does not take", "[stream]") {
  fabric f{rows_of_adders(2, 3)};
  device d{f};
  d.stream_in(in, std::vector<f32>{1, 2, 3, 11, 12, 13, 21, 22, 23});
  std::array<f32, 3> first{};
  CHECK(d.stream_out(out, first).tasks > 0);
  CHECK(first == std::array<f32, 3>{2, 12, 22});
  CHECK(d.ready(out) == 6);
  d.stream_out(out, first);
  CHECK(first == std::array<f32, 3>{3, 13, 23});
  d.stream_in(in, std::array{4.f, 14.f, 24.f});
  std::vector<f32> rest(6);
  d.stream_out(out, rest);
  CHECK(rest == std::vector<f32>{4, 5, 14, 15, 24, 25});
}

TEST_CASE("a stream over strided PEs, and one in two parts", "[stream]") {
  const area odd = column(0).rows(1, edge, 2);
  layout l{wse2, 1, 5};
  l.place<adder>(odd).place<adder>(at(0, 4));
  l.path(in, odd, west >> ramp)
      .stream_in(in, odd, west)
      .path(in, at(0, 4), west >> ramp)
      .stream_in(in, at(0, 4), west);
  l.path(out, odd, ramp >> east)
      .stream_out(out, odd, east)
      .path(out, at(0, 4), ramp >> south)
      .stream_out(out, at(0, 4), south);
  fabric f{l};
  device d{f};
  std::vector<f32> got(6);
  d.stream_in(in, std::array{10.f, 11.f, 30.f, 31.f, 40.f, 41.f});
  d.stream_out(out, got);
  CHECK(got == std::vector<f32>{11, 12, 31, 32, 41, 42});
}

TEST_CASE("more words than a chunk", "[stream]") {
  fabric f{rows_of_adders(1, 2)};
  device d{f};
  const auto words = ascending(2000);
  std::vector<f32> got(2000), expected(words);
  for (f32& x : expected) x += 1;
  d.stream_in(in, words);
  d.stream_out(out, got);
  CHECK(got == expected);
}

TEST_CASE("16-bit words", "[stream]") {
  layout l{wse2, 1, 1};
  l.place<flipper>(all).path(narrow_in, all, west >> ramp).path(narrow_out, all, ramp >> north);
  l.stream_in(narrow_in, all, west).stream_out(narrow_out, all, north);
  fabric f{l};
  device d{f};
  d.stream_in(narrow_in, std::vector<u16>{0, 1, 0xff00});
  std::vector<u16> got(3);
  d.stream_out(narrow_out, got);
  CHECK(got == std::vector<u16>{0xffff, 0xfffe, 0x00ff});
}

TEST_CASE("too few words stay where they are", "[stream]") {
  fabric f{rows_of_adders(1, 2)};
  device d{f};
  d.stream_in(in, std::vector<f32>{1, 2, 3, 4, 5, 6});
  std::vector<f32> eight(8), six(6);
  CHECK_THROWS_WITH(d.stream_out(out, eight),
                    mentions("color 1 has 3 words at PE(0, 0), the host reads 4 there"));
  CHECK(d.ready(out) == 6);
  d.stream_out(out, six);
  CHECK(six == std::vector<f32>{2, 3, 4, 5, 6, 7});
  CHECK_THROWS_WITH(d.stream_out(out, six), mentions("has 0 words"));
}

TEST_CASE("words are shared equally or not at all", "[stream]") {
  fabric f{rows_of_adders(1, 3)};
  device d{f};
  std::vector<f32> seven(7);
  CHECK_THROWS_WITH(d.stream_in(in, seven), mentions("color 0 has 3 PEs, which cannot share 7 words"));
  CHECK_THROWS_WITH(d.stream_out(out, seven), mentions("color 1 has 3 PEs, which cannot share 7 words"));
  std::vector<f32> none;
  d.stream_in(in, none);
  d.stream_out(out, none);
}

TEST_CASE("a stream that does not exist, or carries something else", "[stream]") {
  fabric f{rows_of_adders(1, 1)};
  device d{f};
  std::vector<f32> x(1);
  std::vector<u32> words(1);
  const mentions known("in color 0 of float", "out color 1 of float");
  CHECK_THROWS_WITH(d.stream_in(out, x), known && mentions("no host stream leads into the grid on color 1"));
  CHECK_THROWS_WITH(d.stream_out(in, x),
                    known && mentions("no host stream leads out of the grid on color 0"));
  CHECK_THROWS_WITH(d.stream_in(color<f32>{9}, x), known && mentions("color 9"));
  CHECK_THROWS_WITH(d.stream_in(color<u32>{0}, words), mentions("color 0 carries float, not unsigned int"));
  CHECK_THROWS_WITH(d.stream_out(color<u32>{1}, words), mentions("color 1 carries float"));
  CHECK_THROWS_AS(d.ready(color<f32>{5}), fault);

  layout l{wse2, 1, 1};
  l.place<blocks>(all).path(in, all, west >> ramp).path(out, all, ramp >> east);
  CHECK_THROWS_AS(fabric{l}, fault);
}

TEST_CASE("words that nobody takes are a deadlock", "[stream]") {
  layout l{wse2, 1, 1};
  l.place<sated>(all).path(in, all, west >> ramp).stream_in(in, all, west);
  fabric f{l};
  device d{f};
  d.stream_in(in, std::array{1.f});
  d.run();
  d.stream_in(in, ascending(100));
  CHECK_THROWS_AS(d.run(), deadlock);
}

TEST_CASE("a program that waits for more words can be read in between", "[stream]") {
  layout l{wse2, 1, 1};
  l.place<blocks>(all).path(in, all, west >> ramp).stream_in(in, all, west);
  l.path(out, all, ramp >> east).stream_out(out, all, east);
  fabric f{l};
  device d{f};
  f.start(all);
  std::vector<f32> got(4), more(8);
  d.stream_in(in, ascending(4));
  d.stream_out(out, got);
  CHECK_THROWS_AS(d.stream_out(out, more), deadlock);
  d.stream_in(in, ascending(4));
  d.run();
  CHECK(f.read(0, 0, &blocks::sum)[7] == 4);
}
