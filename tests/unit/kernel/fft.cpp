// SPDX-License-Identifier: MIT
// Fourier transforms against the definition in f64, exact transforms, and the laws that they obey.
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/fft.hpp>

namespace {
using namespace wsl;
using fft::number, fft::options;
using axes = std::vector<int>;
using exact = std::complex<f64>;

std::size_t count(const axes& a) {
  std::size_t n = 1;
  for (int x : a) n *= static_cast<std::size_t>(x);
  return n;
}
std::vector<f32> random_numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<f32> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(static_cast<f32>(random()) / 2147483648.f - 1.f);
  return x;
}
std::vector<number> random_pairs(const axes& a, unsigned seed = 1) {
  const std::vector<f32> x = random_numbers(2 * count(a), seed);
  std::vector<number> pairs;
  for (std::size_t i = 0; i < count(a); ++i) pairs.emplace_back(x[2 * i], x[2 * i + 1]);
  return pairs;
}
std::vector<exact> widened(const std::vector<number>& x) { return {x.begin(), x.end()}; }

f64 norm(const auto& x) {
  f64 sum = 0;
  for (const auto& v : x) sum += std::norm(exact(v));
  return std::sqrt(sum);
}
f64 relative_error(const std::vector<number>& x, const std::vector<exact>& y) {
  std::vector<exact> difference;
  for (std::size_t i = 0; i < y.size(); ++i) difference.push_back(exact(x.at(i)) - y[i]);
  return norm(difference) / (norm(y) + 1e-300);
}
/// The bound of the rounding error of a transform of so many numbers.
f64 bound(const axes& a) { return 1e-7 * (1 + std::log2(static_cast<f64>(count(a)))); }

std::vector<number> forward(const axes& a, const std::vector<number>& x, const options& how = {}) {
  std::vector<number> y(x.size());
  fft::transform(a, how).forward(y, x);
  return y;
}

void compare_complex(const axes& a, const options& how) {
  const std::vector<number> x = random_pairs(a);
  std::vector<number> y(x.size()), back(x.size());
  fft::transform t(a, how);
  t.forward(y, x);
  t.inverse(back, y);
  INFO(a.size() << " axes, the last of " << a.back() << ", " << how.wide << " x " << how.high << " PEs");
  CHECK(relative_error(y, fft::serial(a, widened(x))) < bound(a));
  CHECK(relative_error(back, widened(x)) < 2 * bound(a));
}
void compare_real(const axes& a, const options& how) {
  const std::vector<f32> x = random_numbers(count(a));
  fft::real_transform t(a, how);
  std::vector<number> y(t.spectrum_size());
  std::vector<f32> back(x.size());
  t.forward(y, x);
  t.inverse(back, y);
  const std::vector<exact> whole = fft::serial(a, {x.begin(), x.end()});
  std::vector<exact> half;
  const std::size_t n = static_cast<std::size_t>(a.back()), h = n / 2 + 1;
  for (std::size_t i = 0; i < y.size(); ++i) half.push_back(whole[i / h * n + i % h]);
  f64 error = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    error = std::max(error, std::abs(static_cast<f64>(back[i]) - static_cast<f64>(x[i])));
  INFO(a.size() << " axes of real numbers, the last of " << a.back() << ", " << how.wide << " x " << how.high
                << " PEs");
  CHECK(relative_error(y, half) < bound(a));
  CHECK(error < 4 * bound(a));
}

TEST_CASE("fft: lines of any length are transformed as the definition says") {
  for (int n : {1, 2, 3, 4, 5, 6, 8, 9, 10, 15, 16, 20, 25, 32, 60, 128, 360, 625, 1024})
    compare_complex({n}, {});
  for (int n : {2, 4, 6, 10, 16, 30, 48, 100, 512}) compare_real({n}, {});
}
TEST_CASE("fft: arrays of odd shapes on grids of odd shapes") {
  for (int wide : {1, 2, 3}) {
    for (const axes& a : {axes{960}, {40, 36}, {5, 9}, {1, 18}, {18, 1}, {100, 6}})
      compare_complex(a, {.wide = wide});
    for (const axes& a : {axes{40, 36}, {1, 18}, {100, 6}}) compare_real(a, {.wide = wide});
    for (int high : {1, 2, 3}) {
      for (const axes& a : {axes{6, 20, 18}, {16, 16, 16}, {1, 8, 4}, {3, 1, 32}, {24, 36, 1}})
        compare_complex(a, {.wide = wide, .high = high});
      for (const axes& a : {axes{6, 20, 18}, {16, 16, 16}, {3, 1, 32}})
        compare_real(a, {.wide = wide, .high = high});
    }
  }
}
TEST_CASE("fft: larger arrays", "[.long]") {
  for (const axes& a : {axes{1 << 14}, {250, 243}, {64, 64, 64}, {45, 80, 96}})
    compare_complex(a, {}), compare_real({2 * a[0]}, {});
}

TEST_CASE("fft: an impulse has a flat spectrum, a wave has one line") {
  const axes a{8, 12, 20};
  const int at[] = {3, 7, 11};
  std::vector<number> impulse(count(a)), wave(count(a));
  impulse[(3 * 12 + 7) * 20 + 11] = 1;
  const auto phase = [&](int i0, int i1, int i2) {
    const f64 turns = static_cast<f64>(i0 * at[0]) / 8 + static_cast<f64>(i1 * at[1]) / 12 +
                      static_cast<f64>(i2 * at[2]) / 20;
    return std::polar(1.0, 2 * std::numbers::pi * turns);
  };
  std::vector<exact> flat(count(a)), line(count(a));
  for (int i0 = 0, i = 0; i0 < 8; ++i0)
    for (int i1 = 0; i1 < 12; ++i1)
      for (int i2 = 0; i2 < 20; ++i2, ++i) {
        flat[static_cast<std::size_t>(i)] = std::conj(phase(i0, i1, i2));
        wave[static_cast<std::size_t>(i)] = number(phase(i0, i1, i2));
      }
  line[(3 * 12 + 7) * 20 + 11] = static_cast<f64>(count(a));
  CHECK(relative_error(forward(a, impulse), flat) < 1e-6);
  CHECK(relative_error(forward(a, wave), line) < 1e-6);
}

TEST_CASE("fft: Parseval's sum, linearity, and a shift that turns phases") {
  const axes a{18, 30};
  const std::vector<number> x = random_pairs(a, 2), y = random_pairs(a, 3);
  const std::vector<number> of_x = forward(a, x), of_y = forward(a, y);
  CHECK(norm(of_x) == Approx(norm(x) * std::sqrt(540.0)).epsilon(1e-6));
  std::vector<number> sum(x.size()), shifted(x.size());
  std::vector<exact> expected, turned;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum[i] = 2.f * x[i] + number(0, 1) * y[i];
    shifted[i / 30 * 30 + (i + 1) % 30] = x[i];
    expected.push_back(2.0 * exact(of_x[i]) + exact(0, 1) * exact(of_y[i]));
    turned.push_back(exact(of_x[i]) * std::polar(1.0, -2 * std::numbers::pi * static_cast<f64>(i % 30) / 30));
  }
  CHECK(relative_error(forward(a, sum), expected) < 1e-6);
  CHECK(relative_error(forward(a, shifted), turned) < 1e-6);
}

TEST_CASE("fft: neither threads nor the grid change a bit") {
  for (const axes& a : {axes{480}, {36, 50}, {12, 18, 40}}) {
    const std::vector<number> x = random_pairs(a), y = forward(a, x, {.wide = 1, .high = 1, .threads = 1});
    for (int threads : {1, 2, 3, 8}) {
      CHECK(forward(a, x, {.wide = 2, .high = a.size() == 3 ? 3 : 1, .threads = threads}) == y);
      CHECK(forward(a, x, {.threads = threads}) == y);
    }
  }
}
TEST_CASE("fft: in place") {
  for (const axes& a : {axes{480}, {36, 50}, {12, 18, 40}}) {
    std::vector<number> x = random_pairs(a);
    const std::vector<number> y = forward(a, x);
    fft::transform t(a, {.wide = 2, .threads = 2});
    t.forward(x, x);
    CHECK(x == y);
  }
}

constexpr layout wafer = fft::pencil<fft::one_line(4)>::plan(wse2, 4, 4);
static_assert(routed<wafer>());

TEST_CASE("fft: the wafer's program, one line a PE, on every engine") {
  const axes a{4, 4, 4};
  const std::vector<number> x = random_pairs(a);
  std::vector<number> y(x.size()), same(x.size()), back(x.size());
  fft::wafer_transform<4> t;
  t.forward(y, x);
  t.inverse(back, y);
  CHECK(relative_error(y, fft::serial(a, widened(x))) < bound(a));
  CHECK(relative_error(back, widened(x)) < 2 * bound(a));
  fft::wafer_transform<4> slow(wse2, reference{});
  slow.forward(same, x);
  CHECK(same == y);
}

TEST_CASE("fft: vectors of every length compute the same") {
  constexpr int width = 16, n = 240;
  const std::vector<f32> x = random_numbers(2 * width * n);
  std::vector<f32> roots;
  for (int p = 0; p < n / 8; ++p)
    for (int j = 1; j < 8; ++j) {
      const fft::root_of_unity w(i64{p} * j, n);
      roots.push_back(static_cast<f32>(w.re)), roots.push_back(static_cast<f32>(w.im));
    }
  std::vector<f32> wide(x.size()), narrow(x.size());
  using code = vector_code<fft::loops::butterflies<width, 8>, const fft::pass&>;
  code::best()({x.data(), wide.data(), roots.data(), n / 8, 1});
  for (int lanes : {4, 8}) {
    if (lanes > processor_lanes()) continue;
    code::with(lanes)({x.data(), narrow.data(), roots.data(), n / 8, 1});
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(std::abs(wide[i] - narrow[i]) < 1e-5f);
  }
}

TEST_CASE("fft: a wafer charges the arithmetic of its lines") {
  // Three passes over halves of 4 numbers: 4 products by roots, two of them in the same banks, and 6 sums of
  // numbers in the same banks, a cycle each.
  const u64 setup = static_cast<u64>(wse2.operation_setup);
  CHECK(fft::line_cycles(wse2, 8) == 3 * (2 * (4 + setup) + 2 * (8 + setup) + 6 * (4 + setup)));
  const std::vector<number> x = random_pairs({8, 8, 8});
  std::vector<number> counted(x.size()), free(x.size());
  const u64 cycles = fft::wafer_transform<8>(wse2, timed{}).forward(counted, x).cycles,
            computed = 3 * fft::pencil<fft::one_line(8)>::phase_cycles(wse2, 8);
  fft::wafer_transform<8>(wse2).forward(free, x);
  CHECK(counted == free);
  CHECK(computed == 3 * (fft::line_cycles(wse2, 8) + 2 * (8 + setup)));  // two copies of 16 f32, two a cycle
  CHECK(cycles > computed);
  CHECK(cycles < 3 * computed);
}

TEST_CASE("fft: an invalid argument is named in a sentence") {
  CHECK_THROWS_WITH(fft::transform({14}),
                    "wsl: lines of 14 numbers cannot be transformed: a length has no other prime factors "
                    "than 2, 3 and 5; the next longer one is 15");
  CHECK_THROWS_WITH(fft::transform({8, 0}), "wsl: an axis of a transform has at least 1 number, not 0");
  CHECK_THROWS_WITH(fft::transform({2, 2, 2, 2}), "wsl: a transform has one to three axes, not 4");
  CHECK_THROWS_WITH(fft::transform({}), "wsl: a transform has one to three axes, not 0");
  CHECK_THROWS_WITH(fft::real_transform({8, 15}),
                    "wsl: the last axis of a transform of real numbers has an even length, not 15");
  CHECK_THROWS_WITH(fft::transform({8, 8}, {.high = 2}),
                    "wsl: a transform of (8, 8) runs on one row of PEs, not on 2");
  CHECK_THROWS_WITH(fft::transform({8, 8}, {.wide = -1}),
                    "wsl: a transform runs on at least 1 x 1 PEs, not on -1 x 1");
  std::vector<number> x(60), y(64);
  CHECK_THROWS_WITH(fft::transform({8, 8}).forward(y, x),
                    "wsl: a transform of (8, 8) takes arrays of 64 numbers where it is given 60");
}

}  // namespace
