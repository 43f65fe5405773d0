// SPDX-License-Identifier: MIT
// An operation with a fabric operand, moved without an engine: in random pieces it does what it does at once.
#include <wsl/core/half.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace wsl;
using wsl::detail::payload_type_of, wsl::detail::to_bits;
using wsl::engines::transfer;

namespace {

constexpr color<f32> red{3}, blue{5};
constexpr color<f16> thin{7};

std::mt19937_64 any{11};
int between(int from, int to) { return std::uniform_int_distribution{from, to}(any); }

constexpr int length = 40;
using array = std::array<f32, length>;

array some_numbers() {
  array x;
  for (f32& v : x) v = static_cast<f32>(between(-100, 100)) / 8;
  return x;
}
template <class T>
std::vector<u32> words_of(const std::array<T, length>& x) {
  std::vector<u32> words;
  for (T v : x) words.push_back(to_bits(v));
  return words;
}

/// Moves all elements of an operation, at most `most` at a time; the words that it sends.
template <class Operation>
std::vector<u32> moved(const Operation& op, const std::vector<u32>& first, const std::vector<u32>& second,
                       int most) {
  transfer t = op.start();
  std::vector<u32> out(length);
  while (!t.complete()) {
    const u32 n = static_cast<u32>(std::min(between(0, most), length - static_cast<int>(t.done)));
    const u32* input[2] = {first.empty() ? nullptr : first.data() + t.done,
                           second.empty() ? nullptr : second.data() + t.done};
    t.move_elements(input, out.data() + t.done, n);
  }
  return out;
}

/// `make(memory of the PE)` is an operation; what it leaves and sends does not depend on the pieces.
struct memory_of_a_pe {
  array x = some_numbers(), y = some_numbers();
  f32 total = 1;
  friend bool operator==(const memory_of_a_pe&, const memory_of_a_pe&) = default;
};
template <class Make>
void pieces_do_not_matter(Make make) {
  const std::vector<u32> first = words_of(some_numbers()), second = words_of(some_numbers());
  const memory_of_a_pe before;
  memory_of_a_pe whole = before;
  const std::vector<u32> sent = moved(make(whole), first, second, 1 << 20);
  for (int most : {1, 2, 3, 7, 39}) {
    memory_of_a_pe part = before;
    REQUIRE(moved(make(part), first, second, most) == sent);
    REQUIRE(part == whole);
  }
}

}  // namespace

TEST_CASE("a transfer knows what it moves") {
  array x{};
  f32 s = 0;
  const transfer in = add(mem(x), mem(x), fabin(red)).start();
  CHECK(in.length == length);
  CHECK(in.input[0] == red.id);
  CHECK(in.input[1] == -1);
  CHECK(in.output == -1);
  CHECK(in.input_type[0] == &payload_type_of<f32>);
  CHECK(std::string{in.name} == "add");
  const transfer through = sub(fabout(thin), fabin(red, 3), fabin(blue)).start();
  CHECK(through.length == 3);
  CHECK(through.input[0] == red.id);
  CHECK(through.input[1] == blue.id);
  CHECK(through.output == thin.id);
  CHECK(through.output_type == &payload_type_of<f16>);
  CHECK_FALSE(through.endless());
  CHECK(mov(fabout(red), fabin(blue, forever)).start().endless());
  CHECK(add(&s, 0, fabin(blue, forever)).start().endless());
  CHECK(mov(mem(x).part(0, 0), fabin(red)).start().complete());
}

TEST_CASE("pieces of a transfer do what the whole does") {
  for (int round = 0; round < 20; ++round) {
    pieces_do_not_matter([](auto& m) { return mov(mem(m.x), fabin(red)); });
    pieces_do_not_matter([](auto& m) { return mov(mem(m.x).reversed(), fabin(red)); });
    pieces_do_not_matter([](auto& m) { return mov(fabout(red), mem(m.x)); });
    pieces_do_not_matter([](auto& m) { return mov(fabout(red), mem(m.x).reversed()); });
    pieces_do_not_matter([](auto&) { return mov(fabout(red, length), 2.5); });
    pieces_do_not_matter([](auto& m) { return add(mem(m.x), mem(m.x), fabin(red)); });
    pieces_do_not_matter([](auto& m) { return sub(fabout(blue), mem(m.x), fabin(red)); });
    pieces_do_not_matter([](auto& m) { return sub(mem(m.y), fabin(red), fabin(blue)); });
    pieces_do_not_matter([](auto& m) { return fmac(mem(m.y), mem(m.y), fabin(red), m.total); });
    pieces_do_not_matter([](auto& m) { return add(&m.total, m.total, fabin(red, length)); });
    pieces_do_not_matter([](auto& m) { return fmac(&m.total, 0, fabin(red, length), 3); });
    pieces_do_not_matter([](auto& m) { return mul(&m.total, mem(m.x), fabin(red)); });
    pieces_do_not_matter([](auto& m) { return mov(&m.total, fabin(red, length)); });
    pieces_do_not_matter([](auto& m) { return fmax(&m.total, 0, fabin(blue, length)); });
    pieces_do_not_matter([](auto& m) {
      return map_each([k = m.total](f32 a, f32 b, f32 c) { return a * k + b - c; }, mem(m.x), fabin(red),
                      mem(m.y), fabin(blue));
    });
    pieces_do_not_matter([](auto& m) {
      return map_each([](f32 a, f32 b) { return a - b; }, fabout(thin), mem(m.x).reversed(), fabin(red));
    });
  }
}

TEST_CASE("sources take their words in the order in which they stand") {
  const array a = some_numbers(), b = some_numbers();
  array difference{}, expected{};
  moved(sub(mem(difference), fabin(blue), fabin(red)), words_of(a), words_of(b), 5);
  for (std::size_t i = 0; i < length; ++i) expected[i] = a[i] - b[i];
  CHECK(difference == expected);
}

TEST_CASE("a transfer converts what it reads and sends") {
  const array x = some_numbers();
  std::array<f16, length> halves_of_x{};
  mov(mem(halves_of_x), mem(x));
  array read{};
  moved(mov(mem(read), fabin(thin)), words_of(halves_of_x), {}, 3);
  for (std::size_t i = 0; i < length; ++i) REQUIRE(read[i] == static_cast<f32>(halves_of_x[i]));
  CHECK(moved(mov(fabout(thin), mem(x)), {}, {}, 4) == words_of(halves_of_x));
}

TEST_CASE("a transfer walks over any view") {
  const array x = some_numbers();
  std::array<f32, 3 * length> far{};
  moved(mov(mem(far).from(1).every(3), fabin(red)), words_of(x), {}, 7);
  for (std::size_t i = 0; i < length; ++i) REQUIRE(far[1 + 3 * i] == x[i]);
  REQUIRE(moved(mov(fabout(red), mem(far).from(1).every(3).reversed()), {}, {}, 6) == [&] {
    array turned = x;
    mov(mem(turned), mem(x).reversed());
    return words_of(turned);
  }());
}
