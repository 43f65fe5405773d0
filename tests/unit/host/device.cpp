// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>
#include <wsl/core/half.hpp>
#include <wsl/host/device.hpp>

#include "mentions.hpp"

using namespace wsl;

namespace {

struct part {
  f32 scalar = -1;
  f32 row[3] = {-1, -1, -1};
  std::array<std::array<i32, 2>, 2> block{};
  f16 half[2] = {};
  bf16 brain = 0;
  u8 byte = 7;

  void twice(pe&) {
    for (f32& x : row) x *= 2;
  }
  void add(pe&, f32 a, int b) { scalar += a * static_cast<f32>(b); }
  using tasks = task_list<launch<&part::twice>, launch<&part::add>>;
};

struct other {
  std::array<f32, 3> row{-2, -2, -2};
  int ran = 0;
  void go(pe&) { ++ran; }
  using tasks = task_list<launch<&other::go>>;
};

layout plain(int w, int h) {
  layout l{wse2, w, h};
  l.place<part>(all);
  return l;
}

template <class T>
std::vector<T> ascending(std::size_t n, T first = 1) {
  std::vector<T> v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

// The definition: the host's array seen as numbers of (row, column, element), each dimension with its own
// stride.
std::size_t host_offset(order by, int w, int h, int n, int x, int y, int i) {
  return static_cast<std::size_t>(by == row_major ? (y * w + x) * n + i : (i * w + x) * h + y);
}

struct shape {
  int width, height;
  area where;
};
const shape shapes[] = {
    {1, 1, all},
    {5, 1, all},
    {1, 4, all},
    {4, 3, all},
    {7, 5, columns(0, edge, 2)},
    {7, 5, columns(1, edge, 3).rows(0, edge, 2)},
    {6, 6, at(3, 4)},
    {6, 6, columns(2, 5).rows(1, 4)},
    {6, 4, row(edge - 1)},
    {6, 4, column(edge - 1)},
};

}  // namespace

TEST_CASE("copies place each element where the order says", "[device]") {
  const order by = GENERATE(row_major, column_major);
  for (const shape& s : shapes) {
    CAPTURE(s.width, s.height, static_cast<int>(by));
    fabric f{plain(s.width, s.height)};
    device d{f};
    const region r = f.plan().inside(s.where);
    const int w = r.columns(), h = r.rows();
    const auto sent = ascending<f32>(static_cast<std::size_t>(3 * w * h));
    d.copy_in(&part::row, s.where, sent, by);

    int touched = 0;
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x)
        for (int i = 0; i < 3; ++i) {
          const f32 is = f.read(x, y, &part::row)[i];
          if (!r.has({x, y})) CHECK(is == -1);
          else {
            CHECK(is == sent[host_offset(by, w, h, 3, (x - r.x0) / r.sx, (y - r.y0) / r.sy, i)]);
            ++touched;
          }
        }
    CHECK(touched == 3 * w * h);
    std::vector<f32> back(sent.size());
    d.copy_out(&part::row, s.where, back, by);
    CHECK(back == sent);
    CHECK(d.copy_out(&part::row, s.where, by) == sent);
  }
}

TEST_CASE("the two orders are the ones of a (2 rows, 3 columns, 2 elements) array", "[device]") {
  fabric f{plain(3, 2)};
  device d{f};
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x)
      for (int i = 0; i < 2; ++i) f.program_at<part>({x, y}).half[i] = f16(100 * y + 10 * x + i);
  std::array<int, 12> row{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
  std::array<int, 12> column{0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
  std::vector<f32> got(12);
  d.copy_out(&part::half, all, got);
  CHECK(std::equal(got.begin(), got.end(), row.begin(), row.end()));
  d.copy_out(&part::half, all, got, column_major);
  CHECK(std::equal(got.begin(), got.end(), column.begin(), column.end()));
}

TEST_CASE("members are scalars, arrays and arrays of arrays; hosts' arrays are of every kind", "[device]") {
  fabric f{plain(2, 1)};
  device d{f};
  i32 block[] = {1, 2, 3, 4, 5, 6, 7, 8};
  d.copy_in(&part::block, all, block);
  CHECK(f.read(1, 0, &part::block) == std::array<std::array<i32, 2>, 2>{{{5, 6}, {7, 8}}});
  CHECK(d.copy_out(&part::block, all) == std::vector<i32>{1, 2, 3, 4, 5, 6, 7, 8});

  d.copy_in(&part::scalar, at(1, 0), std::array{2.5f});
  CHECK(f.read(0, 0, &part::scalar) == -1);
  CHECK(f.read(1, 0, &part::scalar) == 2.5f);
  f32 scalars[2];
  d.copy_out(&part::scalar, all, std::span(scalars));
  CHECK((scalars[0] == -1 && scalars[1] == 2.5f));
}

TEST_CASE("host numbers of another type convert with one rounding", "[device]") {
  fabric f{plain(2, 1)};
  device d{f};
  const f64 just_above_a_tie = 1.00048828125 + 1e-12;
  d.copy_in(&part::half, all, std::vector<f64>{just_above_a_tie, 0.1, 70000, -2});
  CHECK(f.read(0, 0, &part::half)[0].bits == 0x3c01);
  CHECK(f.read(0, 0, &part::half)[1].bits == f16(0.1).bits);
  CHECK(f.read(1, 0, &part::half)[0].bits == 0x7c00);
  CHECK(f.read(1, 0, &part::half)[1] == -2);
  std::vector<f64> wide(4);
  d.copy_out(&part::half, all, wide);
  CHECK(wide[0] == static_cast<f64>(f16::from_bits(0x3c01)));

  d.copy_in(&part::brain, all, std::vector<f32>{3.14159f, 1e30f});
  CHECK(f.read(0, 0, &part::brain).bits == bf16(3.14159f).bits);
  d.copy_in(&part::byte, all, std::vector<int>{0, 255});
  CHECK(f.read(1, 0, &part::byte) == 255);
  CHECK_THROWS_WITH(d.copy_in(&part::byte, all, std::vector<int>{0, 256}),
                    Catch::Contains("256 does not fit into an unsigned number of 8 bits"
                                    "\n  in the copy of a member of 1 "
                                    "unsigned char on PE(1, 0) of ") &&
                        Catch::Contains("part"));
  CHECK_THROWS_AS(d.copy_in(&part::byte, all, std::vector<int>{7, -1}), fault);
  CHECK(f.read(0, 0, &part::byte) == 0);  // a copy is done to all PEs or to none
  d.copy_in(&part::byte, all, std::vector<int>{7, 200});
  std::vector<i8> narrow(2, -1);
  CHECK_THROWS_WITH(d.copy_out(&part::byte, all, narrow), Catch::Contains("200 does not fit"));
  CHECK(narrow == std::vector<i8>(2, -1));
}

TEST_CASE("a broadcast gives rows, columns or all PEs the same block", "[device]") {
  const order by = GENERATE(row_major, column_major);
  for (const shape& s : shapes) {
    CAPTURE(s.width, s.height, static_cast<int>(by));
    fabric f{plain(s.width, s.height)};
    device d{f};
    const region r = f.plan().inside(s.where);
    const int w = r.columns(), h = r.rows();
    const auto per_row = ascending<f32>(static_cast<std::size_t>(3 * h)),
               per_column = ascending<f32>(static_cast<std::size_t>(3 * w), 1000);
    const auto check = [&](auto expected) {
      for (int k = 0; k < r.count(); ++k)
        for (int i = 0; i < 3; ++i)
          CHECK(f.read(r.nth(k).x, r.nth(k).y, &part::row)[i] == expected(k % w, k / w, i));
    };
    d.broadcast_along_rows(&part::row, s.where, per_row, by);
    check([&](int, int y, int i) { return per_row[host_offset(by, 1, h, 3, 0, y, i)]; });
    d.broadcast_along_columns(&part::row, s.where, per_column, by);
    check([&](int x, int, int i) { return per_column[host_offset(by, w, 1, 3, x, 0, i)]; });
    d.broadcast(&part::row, s.where, std::array{7.f, 8.f, 9.f});
    check([](int, int, int i) { return static_cast<f32>(7 + i); });
    if (r.count() < s.width * s.height)
      CHECK(d.copy_out(&part::row, all).size() == static_cast<std::size_t>(3 * s.width * s.height));
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x)
        if (!r.has({x, y})) CHECK(f.read(x, y, &part::row)[1] == -1);
  }
}

TEST_CASE("the broadcast of CSL's documentation", "[device]") {
  fabric f{plain(4, 5)};
  device d{f};
  const area roi = columns(1, 4).rows(1, 5);
  d.broadcast_along_rows(&part::scalar, roi, std::array{1.f, 2.f, 3.f, 4.f});
  CHECK(d.copy_out(&part::scalar, roi) == std::vector<f32>{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4});
}

TEST_CASE("fill sets all elements in the area", "[device]") {
  fabric f{plain(3, 2)};
  device d{f};
  d.fill(&part::row, columns(0, edge, 2), 4.5f);
  CHECK(d.copy_out(&part::row, row(1)) == std::vector<f32>{4.5f, 4.5f, 4.5f, -1, -1, -1, 4.5f, 4.5f, 4.5f});
  d.fill(&part::half, all, 0.1);
  CHECK(f.read(2, 1, &part::half)[1].bits == f16(0.1).bits);
  d.fill(&part::block, all, 3);
  CHECK(f.read(0, 0, &part::block)[1][0] == 3);
}

TEST_CASE("an array of the wrong size names program, area and numbers, and copies nothing", "[device]") {
  fabric f{plain(4, 2)};
  device d{f};
  std::vector<f32> numbers(23);
  const mentions says("columns 0 to 3 and rows 0 to 1", "part: this copy takes 24 elements", "blocks of 3",
                      "has 23");
  CHECK_THROWS_WITH(d.copy_in(&part::row, all, numbers), says);
  CHECK_THROWS_WITH(d.copy_out(&part::row, all, numbers), says);
  CHECK_THROWS_WITH(d.broadcast_along_rows(&part::row, columns(0, edge, 2), numbers),
                    mentions("columns 0 to 2 every 2", "takes 6 elements"));
  CHECK_THROWS_WITH(d.broadcast_along_columns(&part::row, row(1), numbers),
                    mentions("and row 1 ", "takes 12 elements"));
  CHECK_THROWS_AS(d.broadcast(&part::row, all, numbers), fault);
  CHECK(d.copy_out(&part::row, all) == std::vector<f32>(24, -1));
}

TEST_CASE("an area without PEs takes no numbers", "[device]") {
  fabric f{plain(1, 1)};
  device d{f};
  std::vector<f32> none, one(1);
  d.copy_in(&part::scalar, columns(1, edge), none);
  d.fill(&part::scalar, columns(1, edge), 3.f);
  CHECK(d.copy_out(&part::scalar, columns(1, edge)).empty());
  CHECK(f.read(0, 0, &part::scalar) == -1);
  CHECK_THROWS_WITH(d.copy_in(&part::scalar, columns(1, edge), one), mentions("no PE of", "takes 0"));
  CHECK_THROWS_WITH(d.fill(&part::scalar, at(1, 0), 3.f),
                    mentions("columns 1 to 1, rows 0 to 0 leave the grid of 1 x 1 PEs"));
  CHECK_THROWS_WITH(d.copy_out(&part::scalar, columns(0, 4)), mentions("leave the grid of 1 x 1 PEs"));
}

TEST_CASE("one symbol serves programs of several types", "[device]") {
  layout l{wse2, 4, 2};
  l.place<part>(columns(0, edge, 2)).place<other>(columns(1, edge, 2));
  fabric f{l};
  device d{f};
  const symbol rows{&part::row, &other::row};
  const auto sent = ascending<f32>(24);
  d.copy_in(rows, all, sent);
  CHECK(f.read(1, 1, &other::row) == std::array<f32, 3>{16, 17, 18});
  CHECK(f.read(2, 0, &part::row)[0] == 7);
  CHECK(d.copy_out(rows, all) == sent);

  d.fill(rows, all, 0);
  CHECK_THROWS_WITH(d.copy_in(&part::row, all, sent), mentions("PE(1, 0) runs", "other, not"));
  CHECK(d.copy_out(rows, all) == std::vector<f32>(24, 0));  // nothing was copied, not even to PE(0, 0)
}

TEST_CASE("a device launches and says what happened", "[device]") {
  fabric f{plain(3, 1)};
  device d{f};
  d.fill(&part::row, all, 2.f);
  CHECK(d.launch<&part::twice>(columns(1, edge)).tasks == 2);
  CHECK(d.copy_out(&part::row, all) == std::vector<f32>{2, 2, 2, 4, 4, 4, 4, 4, 4});
  d.launch<&part::add>(all, 0.5f, 6);
  CHECK(d.copy_out(&part::scalar, all) == std::vector<f32>{2, 2, 2});
  CHECK_THROWS_WITH(d.launch(), mentions("several host functions"));
  CHECK(d.run().tasks == 0);
  d.wait();

  layout l{wse2, 2, 1};
  l.place<other>(all);
  fabric one{l};
  CHECK(device{one}.launch().tasks == 2);
  CHECK(one.read(1, 0, &other::ran) == 1);
}
