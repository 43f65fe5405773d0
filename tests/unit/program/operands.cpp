// SPDX-License-Identifier: MIT
// Operands with a walk of their own against plain loops: boxes, circular buffers, windows, elements with
// their numbers; and the operations on bits.
#include <wsl/core/half.hpp>
#include <wsl/program/descriptor/bits.hpp>
#include <wsl/program/descriptor/box.hpp>
#include <wsl/program/descriptor/circular.hpp>
#include <wsl/program/descriptor/indexed.hpp>
#include <wsl/program/descriptor/window.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

using namespace wsl;
using Catch::Contains;
using wsl::detail::to_bits;
using wsl::engines::transfer;

namespace {

std::mt19937 any{5};
int between(int from, int to) { return std::uniform_int_distribution{from, to}(any); }

std::vector<i32> numbers(int n) {
  std::vector<i32> v(static_cast<std::size_t>(n));
  for (i32& x : v) x = between(-1000, 1000);
  return v;
}
memory<i32> view(std::vector<i32>& v) { return mem(std::span{v}); }

}  // namespace

TEST_CASE("a box walks as four loops do") {
  for (int round = 0; round < 200; ++round) {
    const int a = between(1, 4), b = between(1, 3), c = between(1, 5), d = between(0, 6);
    const int sa = between(0, 40), sb = between(0, 20), sc = between(-3, 3), sd = between(-2, 2);
    auto source = numbers(400), into = numbers(400), expected = into;
    const int stride = between(1, 2);
    const auto from = view(source).every(stride).from(20), to = view(into).part(3, a * b * c * d);
    if (sc < 0 || sd < 0) {
      if (a * b * c * d > 0 && (sc * (c - 1) < 0 || sd * (d - 1) < 0))
        CHECK_THROWS_WITH(box(from, {a, b, c, d}, {sa, sb, sc, sd}),
                          Contains("wsl: a box from element -") && Contains("leaves its array"));
      continue;
    }
    int n = 3;
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < b; ++j)
        for (int k = 0; k < c; ++k)
          for (int l = 0; l < d; ++l, ++n)
            expected[static_cast<std::size_t>(n)] = from[i * sa + j * sb + k * sc + l * sd];
    if (d > 0 && (a - 1) * sa + (b - 1) * sb + (c - 1) * sc + (d - 1) * sd >= from.length()) continue;
    mov(to, box(from, {a, b, c, d}, {sa, sb, sc, sd}));
    REQUIRE(into == expected);
  }
}

TEST_CASE("boxes transpose, repeat and sum up") {
  std::array<f32, 12> m{};
  std::iota(m.begin(), m.end(), 1.f);  // 3 x 4
  std::array<f32, 12> t{};
  mov(mem(t), box(mem(m), {4, 3}, {1, 4}));
  CHECK(t == std::array<f32, 12>{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12});

  std::array<f32, 4> sum{100, 200, 300, 400};
  add(box(mem(sum), {3, 4}, {0, 1}), box(mem(sum), {3, 4}, {0, 1}), mem(m));
  CHECK(sum == std::array<f32, 4>{115, 218, 321, 424});

  std::array<f32, 3> rows{};
  add(box(mem(rows), {3, 4}, {1, 0}), box(mem(rows), {3, 4}, {1, 0}), box(mem(m), {3, 4}));
  CHECK(rows == std::array<f32, 3>{10, 26, 42});

  std::array<f32, 8> cube{};
  mov(box(mem(cube), {2, 2, 2}, {1, 2, 4}), mem(m).part(0, 8));
  CHECK(cube == std::array<f32, 8>{1, 5, 3, 7, 2, 6, 4, 8});

  CHECK_THROWS_WITH(box(mem(m), {}), Contains("one to four dimensions, not 0"));
  CHECK_THROWS_WITH(box(mem(m), {1, 1, 1, 1, 1}), Contains("not 5"));
  CHECK_THROWS_WITH(box(mem(m), {3, 4}, {4}), Contains("a box of 2 dimensions has as many strides, not 1"));
  CHECK_THROWS_WITH(box(mem(m), {3, 5}), Contains("from element 0 to element 14 leaves its array of 12"));
  CHECK_THROWS_WITH(box(mem(m), {-1, 5}), Contains("not -1"));
  CHECK_THROWS_WITH(mov(mem(m), box(mem(m), {3, 3})), Contains("12 and 9 elements"));
}

TEST_CASE("an operation on a box may move in pieces") {
  constexpr color<i32> red{0};
  auto a = numbers(60), b = numbers(60), expected = a;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 6; ++j) expected[j * 5 + i] = a[j * 5 + i] * 3 + b[i * 6 + j];
  const auto turned = box(view(a), {5, 6}, {1, 5});
  transfer t = map_each([](i32 x, i32 y) { return x * 3 + y; }, turned, turned, fabin(red)).start();
  std::vector<u32> words;
  for (i32 x : b) words.push_back(to_bits(x));
  while (!t.complete()) {
    const u32* input = words.data() + t.done;
    t.move_elements(&input, nullptr,
                    static_cast<u32>(std::min<u64>(t.length - t.done, static_cast<u64>(between(0, 9)))));
  }
  CHECK(a == expected);
}

TEST_CASE("a circular buffer goes around") {
  for (int round = 0; round < 100; ++round) {
    const int n = between(1, 9), first = between(0, n), count = between(0, 30);
    auto ring = numbers(n), out = numbers(30);
    auto expected = out;
    for (int i = 0; i < count; ++i)
      expected[static_cast<std::size_t>(i)] = ring[static_cast<std::size_t>((first + i) % n)];
    mov(view(out).part(0, count), circular(view(ring), first, count));
    REQUIRE(out == expected);
  }
  std::array<i32, 3> last{};
  for (int i = 0; i < 8; ++i) mov(circular(mem(last), i % 3, 1), i);
  CHECK(last == std::array<i32, 3>{6, 7, 5});
  CHECK_THROWS_WITH(circular(mem(last), 4, 1),
                    Contains("a circular buffer of 3 elements has no 1 elements from element 4 on"));
  CHECK_THROWS_WITH(circular(mem(last).every(2), 0, 1), Contains("not every 2"));
}

TEST_CASE("a window moves over its array and does not leave it") {
  std::array<i32, 10> a{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, b{10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const auto sum = [](memory<i32> m) {
    i32 s = 0;
    add(&s, 0, m);
    return s;
  };
  window w{mem(a)};
  CHECK(sum(mem(w)) == 45);
  CHECK(sum(mem(w.set_length(3))) == 3);
  CHECK(sum(mem(w.advance(2))) == 9);
  CHECK(sum(mem(w.set_stride(3))) == 15);
  CHECK(sum(mem(w.set_base(mem(b)))) == 45);
  CHECK(sum(mem(w.set_offset(9).set_stride(-4))) == 45);
  CHECK_THROWS_WITH(
      mem(w.set_offset(10)),
      Contains("a descriptor of 3 elements from element 10 on leaves its array of 10 elements"));
  CHECK_THROWS_WITH(mem(w.set_offset(7)), Contains("leaves its array"));
  CHECK_THROWS_WITH(mem(w.set_offset(-1).set_stride(1)), Contains("leaves its array"));
  CHECK_THROWS_WITH(mem(w.set_offset(0).set_length(-1)), Contains("leaves its array"));
  CHECK(mem(w.set_offset(77).set_length(0)).length() == 0);

  window rest{mem(a).every(2)};  // 0 2 4 6 8
  CHECK(sum(rest.next(2)) == 2);
  CHECK(sum(rest.next(3)) == 18);
  CHECK(rest.next(0).length() == 0);
  CHECK_THROWS_WITH(rest.next(1), Contains("from element 5 on leaves its array of 5"));
}

TEST_CASE("elements go with their numbers") {
  std::array<f16, 4> x{1, 2, 3, 4};
  std::array<halves<f16>, 2> pairs{};
  mov(mem(pairs), indexed(mem(x).every(2), 65535));
  CHECK(pairs[0] == halves<f16>{1, 65535});
  CHECK(pairs[1] == halves<f16>{3, 0});
  const std::array<bf16, 2> still{5, 6};
  std::array<halves<bf16>, 2> others{};
  mov(mem(others), indexed(mem(still)));
  CHECK(others[1] == halves<bf16>{6, 1});
}

TEST_CASE("a view to write is a view to read") {
  std::array<i32, 3> a{1, 2, 3};
  const memory<const i32> read = mem(a).reversed();
  CHECK((read[0] == 3 && read.length() == 3 && read.stride() == -1));
}

namespace {

template <class T>
void bits_of() {
  constexpr int width = 8 * static_cast<int>(sizeof(T));
  for (int round = 0; round < 300; ++round) {
    const T x = static_cast<T>(any() * u64{any()} >> between(0, 31)), y = static_cast<T>(any());
    const int n = between(0, width + 2);
    const i64 wide = static_cast<i64>(x);
    const u64 bare = static_cast<u64>(wide) & (~u64{0} >> (64 - width));
    T r[9]{};
    const auto into = [&](int i) { return mem(r).part(i, 1); };
    bits_and(into(0), x, y), bits_or(into(1), x, y), bits_xor(into(2), x, y);
    shift_left(into(3), x, n), shift_right(into(4), x, n), shift_right_signed(into(5), x, n);
    count_ones(into(6), x), leading_zeros(into(7), x), trailing_zeros(into(8), x);
    int ones = 0, leading = 0, trailing = 0;
    for (int i = 0; i < width; ++i) ones += static_cast<int>(bare >> i & 1);
    while (leading < width && !(bare >> (width - 1 - leading) & 1)) ++leading;
    while (trailing < width && !(bare >> trailing & 1)) ++trailing;
    const i64 with_sign = static_cast<i64>(bare << (64 - width)) >> (64 - width);
    CHECK((r[0] == static_cast<T>(x & y) && r[1] == static_cast<T>(x | y) && r[2] == static_cast<T>(x ^ y)));
    CHECK(r[3] == static_cast<T>(n < width ? bare << n : 0));
    CHECK(r[4] == static_cast<T>(n < width ? bare >> n : 0));
    CHECK(r[5] == static_cast<T>(with_sign >> std::min(n, width - 1)));
    CHECK((r[6] == static_cast<T>(ones) && r[7] == static_cast<T>(leading) &&
           r[8] == static_cast<T>(trailing)));
  }
}

}  // namespace

TEST_CASE("bits of i16") { bits_of<i16>(); }
TEST_CASE("bits of u16") { bits_of<u16>(); }
TEST_CASE("bits of i32") { bits_of<i32>(); }
TEST_CASE("bits of u32") { bits_of<u32>(); }

TEST_CASE("long numbers are added with their carries") {
  for (int round = 0; round < 100; ++round) {
    u64 x = any() * u64{any()}, y = any() * u64{any()} << between(0, 8);
    if (round == 0) x = ~u64{0}, y = 1;
    std::array<u16, 4> a{}, b{}, c{};
    for (std::size_t i = 0; i < 4; ++i)
      a[i] = static_cast<u16>(x >> 16 * i), b[i] = static_cast<u16>(y >> 16 * i);
    const bool carry_in = round % 2;
    const bool carry = add_with_carry(mem(c), mem(a), mem(b), carry_in);
    u64 sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum |= u64{c[i]} << 16 * i;
    REQUIRE(sum == x + y + carry_in);
    REQUIRE(carry == (x + y < x || x + y + carry_in < x + y));
  }
}
