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
template <class T = f32>
std::vector<T> random_numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(static_cast<T>(random()) / T{2147483648} - T{1});
  return x;
}
template <class T = f32>
std::vector<std::complex<T>> random_pairs(const axes& a, unsigned seed = 1) {
  const std::vector<T> x = random_numbers<T>(2 * count(a), seed);
  std::vector<std::complex<T>> pairs;
  for (std::size_t i = 0; i < count(a); ++i) pairs.emplace_back(x[2 * i], x[2 * i + 1]);
  return pairs;
}
template <class T>
std::vector<exact> widened(const std::vector<std::complex<T>>& x) {
  return {x.begin(), x.end()};
}

f64 norm(const auto& x) {
  f64 sum = 0;
  for (const auto& v : x) sum += std::norm(exact(v));
  return std::sqrt(sum);
}
template <class T>
f64 relative_error(const std::vector<std::complex<T>>& x, const std::vector<exact>& y) {
  std::vector<exact> difference;
  for (std::size_t i = 0; i < y.size(); ++i) difference.push_back(exact(x.at(i)) - y[i]);
  return norm(difference) / (norm(y) + 1e-300);
}
/// The bound of the rounding error of a transform of so many numbers; a length without radices is three
/// transforms. f64 is compared with sums in f64, whose own errors grow with the length of a line.
template <class T = f32>
f64 bound(const axes& a) {
  const bool is_convolved = !std::all_of(a.begin(), a.end(), [](int n) { return fft::has_radices(n); });
  f64 longest = 1;
  for (int n : a) longest = std::max(longest, static_cast<f64>(n));
  const f64 log = (1 + std::log2(static_cast<f64>(count(a)))) * (is_convolved ? 3 : 1);
  return sizeof(T) == 4 ? 1e-7 * log : 2e-16 * (log + std::sqrt(longest));
}

std::vector<number> forward(const axes& a, const std::vector<number>& x, const options& how = {}) {
  std::vector<number> y(x.size());
  fft::transform(a, how).forward(y, x);
  return y;
}

template <class T = f32>
void compare_complex(const axes& a, const options& how) {
  const std::vector<std::complex<T>> x = random_pairs<T>(a);
  std::vector<std::complex<T>> y(x.size()), back(x.size());
  fft::basic_transform<T> t(a, how);
  t.forward(y, x);
  t.inverse(back, y);
  INFO(a.size() << " axes, the last of " << a.back() << ", " << how.wide << " x " << how.high << " PEs");
  CHECK(relative_error(y, fft::serial(a, widened(x))) < bound<T>(a));
  CHECK(relative_error(back, widened(x)) < 2 * bound<T>(a));
}
template <class T = f32>
void compare_real(const axes& a, const options& how) {
  const std::vector<T> x = random_numbers<T>(count(a));
  fft::basic_real_transform<T> t(a, how);
  std::vector<std::complex<T>> y(t.spectrum_size());
  std::vector<T> back(x.size());
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
  CHECK(relative_error(y, half) < bound<T>(a));
  CHECK(error < 4 * bound<T>(a));
}

TEST_CASE("fft: lines of any length are transformed as the definition says") {
  for (int n : {1, 2, 3, 4, 5, 6, 8, 9, 10, 15, 16, 20, 25, 32, 60, 128, 360, 625, 1024})
    compare_complex({n}, {});
  for (int n : {7, 11, 13, 14, 49, 77, 143, 169, 1001}) compare_complex({n}, {});
  for (int n : {17, 19, 34, 97, 211, 289, 510, 1009}) compare_complex({n}, {});
  for (int n : {2, 4, 6, 10, 14, 16, 22, 30, 34, 48, 100, 202, 512}) compare_real({n}, {});
  for (int n : {1, 3, 5, 9, 15, 17, 49, 97, 125, 343, 1001}) compare_real({n}, {});
}
TEST_CASE("fft: transforms in f64 have its precision") {
  for (int n : {1, 2, 3, 5, 7, 8, 11, 13, 16, 17, 97, 360, 1009, 1024}) compare_complex<f64>({n}, {});
  for (int n : {1, 2, 3, 6, 15, 16, 34, 97, 100, 194}) compare_real<f64>({n}, {});
  for (int wide : {1, 2, 3}) {
    compare_complex<f64>({40, 51}, {.wide = wide}), compare_real<f64>({19, 36}, {.wide = wide});
    for (int high : {1, 3}) {
      compare_complex<f64>({6, 20, 18}, {.wide = wide, .high = high});
      compare_real<f64>({7, 22, 34}, {.wide = wide, .high = high});
      compare_real<f64>({5, 39, 21}, {.wide = wide, .high = high});
    }
  }
}
TEST_CASE("fft: axes of lengths without small prime factors") {
  for (int wide : {1, 2}) {
    compare_complex({17, 46}, {.wide = wide}), compare_real({46, 38}, {.wide = wide});
    for (int high : {1, 2}) compare_complex({19, 17, 23}, {.wide = wide, .high = high});
    // odd numbers of real ones: pairs of groups that are whole, in part, and without a second one
    for (int lines : {1, 15, 17, 33, 70}) compare_real({lines, 17}, {.wide = wide});
    for (int high : {1, 2}) compare_real({3, 37, 45}, {.wide = wide, .high = high});
  }
}
TEST_CASE("fft: real lines of an odd length have the same bits on any grid of PEs") {
  const axes a{6, 70, 15};
  const std::vector<f32> field = random_numbers(count(a));
  const auto both = [&](const options& how) {
    fft::real_transform t(a, how);
    std::vector<number> spectrum(t.spectrum_size());
    std::vector<f32> back(field.size());
    t.forward(spectrum, field), t.inverse(back, spectrum);
    return std::pair(spectrum, back);
  };
  const auto one = both({.wide = 1, .high = 1, .threads = 1});
  for (int wide : {1, 2, 3})
    for (int high : {1, 4}) CHECK(both({.wide = wide, .high = high}) == one);
  // what would be imaginary in the mean of a line is left out
  std::vector<number> spectrum(8);
  std::vector<f32> mean(15);
  spectrum[0] = {30, 5};
  fft::real_transform({15}).inverse(mean, spectrum);
  for (const f32 x : mean) CHECK(x == Approx(2));
}

/// The definition of the inverse of a half spectrum is the real part of the inverse in which each number along
/// the last axis that has a mirror image counts twice. Numbers without one, the first and, if the length is
/// even, the last, count by their real parts along the last axis.
void compare_any_spectrum(const axes& a, const options& how) {
  fft::basic_real_transform<f64> t(a, how);
  const std::size_t n = static_cast<std::size_t>(a.back()), h = n / 2 + 1,
                    each = t.size() / static_cast<std::size_t>(how.batch);
  std::vector<exact> spectrum = random_pairs<f64>({static_cast<int>(t.spectrum_size())}, 4);
  std::vector<f64> field(t.size());
  t.inverse(field, spectrum);
  f64 error = 0;
  for (std::size_t first = 0; first < t.size(); first += each) {
    std::vector<exact> whole(each);
    for (std::size_t i = 0; i < each / n * h; ++i) {
      const std::size_t k = i % h;
      whole[i / h * n + k] = spectrum[first / n * h + i] * (k == 0 || 2 * k == n ? 1. : 2.);
    }
    whole = fft::serial(a, whole, true);
    for (std::size_t i = 0; i < each; ++i)
      error = std::max(error, std::abs(field[first + i] - whole[i].real()));
  }
  INFO(a.size() << " axes, the last of " << a.back() << ", " << how.batch << " times");
  CHECK(error < 1e-15 * static_cast<f64>(n));
}
TEST_CASE("fft: what would be imaginary in the mean and in the highest frequency of real lines is left out") {
  for (int n : {2, 6, 8, 9, 16, 34}) compare_any_spectrum({n}, {}), compare_any_spectrum({n}, {.batch = 3});
  for (int wide : {1, 2}) {
    compare_any_spectrum({5, 12}, {.wide = wide}), compare_any_spectrum({5, 12}, {.wide = wide, .batch = 2});
    for (int high : {1, 2}) compare_any_spectrum({4, 6, 8}, {.wide = wide, .high = high});
  }
}

template <class T>
void compare_batch(const axes& a, int batch, const options& how) {
  axes all = a;
  all.insert(all.begin(), batch);
  options batched = how;
  batched.batch = batch;
  const std::vector<std::complex<T>> x = random_pairs<T>(all);
  std::vector<std::complex<T>> y(x.size()), in_place = x;
  fft::basic_transform<T> t(a, batched);
  REQUIRE(t.size() == x.size());
  t.forward(y, x), t.forward(in_place, in_place);
  CHECK(in_place == y);
  const std::vector<T> field = random_numbers<T>(count(all));
  fft::basic_real_transform<T> r(a, batched);
  REQUIRE(r.size() == field.size());
  std::vector<std::complex<T>> spectrum(r.spectrum_size());
  std::vector<T> again(field.size());
  r.forward(spectrum, field), r.inverse(again, spectrum);
  INFO(a.size() << " axes, the last of " << a.back() << ", " << batch << " times, " << how.wide << " x "
                << how.high << " PEs");
  const std::size_t each = count(a), n = static_cast<std::size_t>(a.back()), h = n / 2 + 1;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch); ++b) {
    const auto part = [&](const auto& of, std::size_t size) {
      return std::decay_t<decltype(of)>(of.begin() + static_cast<std::ptrdiff_t>(b * size),
                                        of.begin() + static_cast<std::ptrdiff_t>((b + 1) * size));
    };
    CHECK(relative_error(part(y, each), fft::serial(a, widened(part(x, each)))) < bound<T>(a));
    const std::vector<T> mine = part(field, each);
    const std::vector<exact> whole = fft::serial(a, {mine.begin(), mine.end()});
    std::vector<exact> half;
    for (std::size_t i = 0; i < each / n * h; ++i) half.push_back(whole[i / h * n + i % h]);
    CHECK(relative_error(part(spectrum, each / n * h), half) < bound<T>(a));
    for (std::size_t i = 0; i < each; ++i)
      REQUIRE(std::abs(static_cast<f64>(part(again, each)[i]) - static_cast<f64>(mine[i])) < 4 * bound<T>(a));
  }
}
TEST_CASE("fft: a batch is its arrays one by one") {
  for (int batch : {2, 7, 33})
    for (int wide : {0, 1, 2}) {
      compare_batch<f32>({30}, batch, {.wide = wide}), compare_batch<f32>({34}, batch, {.wide = wide});
      compare_batch<f32>({9, 20}, batch, {.wide = wide}), compare_batch<f64>({12}, batch, {.wide = wide});
      compare_batch<f32>({27}, batch, {.wide = wide}), compare_batch<f32>({35, 9}, batch, {.wide = wide});
    }
  compare_batch<f32>({6, 8}, 5, {.wide = 2, .high = 3});
  compare_batch<f32>({3, 6, 8}, 3, {}), compare_batch<f64>({4, 10}, 3, {});
}
TEST_CASE("fft: neither threads nor the grid change a bit of a batch") {
  for (const axes& a : {axes{48}, {12, 18}}) {
    axes all = a;
    all.insert(all.begin(), 20);
    const std::vector<number> x = random_pairs(all),
                              y = forward(a, x, {.wide = 1, .high = 1, .threads = 1, .batch = 20});
    for (int threads : {2, 3}) CHECK(forward(a, x, {.threads = threads, .batch = 20}) == y);
  }
}
TEST_CASE("fft: a padded field and its spectrum are one memory") {
  for (const axes& a : {axes{30}, {9, 20}, {6, 10, 18}, {31}, {40, 21}, {6, 10, 15}})
    for (int wide : {1, 2}) {
      const std::size_t n = static_cast<std::size_t>(a.back()), h = n / 2 + 1, lines = count(a) / n;
      const std::vector<f32> field = random_numbers(count(a));
      std::vector<number> expected(lines * h), padded(lines * h);
      fft::real_transform(a).forward(expected, field);
      f32* const of_field = reinterpret_cast<f32*>(padded.data());
      for (std::size_t i = 0; i < field.size(); ++i) of_field[i / n * 2 * h + i % n] = field[i];
      fft::real_transform t(a, {.wide = wide, .padded = true});
      REQUIRE(t.size() == 2 * lines * h);
      t.forward(padded, std::span<const f32>(of_field, 2 * lines * h));
      CHECK(padded == expected);
      t.inverse(std::span<f32>(of_field, 2 * lines * h), padded);
      for (std::size_t i = 0; i < field.size(); ++i)
        REQUIRE(std::abs(of_field[i / n * 2 * h + i % n] - field[i]) < 1e-6f);
    }
}
TEST_CASE("fft: roots of unity, as constants and as numbers") {
  for (int n : {3, 5, 7, 8, 11, 13, 64, 1000})
    for (int k = 0; k < 2 * n; ++k) {
      const fft::root_of_unity w(k, n);
      const f64 angle = 2 * std::numbers::pi * k / n;
      CHECK(w.re == Approx(std::cos(angle)).margin(4e-15));
      CHECK(w.im == Approx(-std::sin(angle)).margin(4e-15));
    }
  static_assert(fft::cosine<f64>(0, 7) == 1 && fft::sine<f64>(7, 7) == 0);
  CHECK(fft::cosine<f64>(9, 13) == Approx(std::cos(2 * std::numbers::pi * 9 / 13)).margin(2e-16));
  CHECK(fft::sine<f64>(9, 13) == Approx(std::sin(2 * std::numbers::pi * 9 / 13)).margin(2e-16));
  CHECK(fft::sine<f64>(6, 11) == Approx(std::sin(2 * std::numbers::pi * 6 / 11)).margin(2e-16));
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
  using code = vector_code<fft::loops::butterflies<width, 8, f32>, const fft::pass<f32>&>;
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
  CHECK_THROWS_WITH(fft::transform({8}, {.batch = 0}), "wsl: a batch has 1 to 1073741824 arrays, not 0");
  CHECK_THROWS_WITH(fft::transform({8}, {.batch = 2147483647}), Catch::Matchers::Contains("not 2147483647"));
  // Lines of a prime number, which stay on one PE, and those of many axes: none is more than int counts.
  const std::string too_long = "lines that are too long for a PE, which takes 67108862 numbers";
  CHECK_THROWS_WITH(fft::transform({2147483647}), Catch::Matchers::Contains(too_long));
  CHECK_THROWS_WITH(fft::transform({33554467}, {.batch = 2}), Catch::Matchers::Contains(too_long));
  CHECK_THROWS_WITH(fft::real_transform({2147483646}), Catch::Matchers::Contains(too_long));
  CHECK_THROWS_WITH(fft::real_transform({2147483647, 2147483647, 2147483646}),
                    Catch::Matchers::Contains(too_long));
  std::vector<number> lines(9);
  f32* const reals = reinterpret_cast<f32*>(lines.data());
  CHECK_THROWS_WITH(
      fft::transform({8}).forward(std::span(lines).last(8), std::span(lines).first(8)),
      "wsl: a transform of (8) is given arrays that overlap: take the same one, or two that are "
      "apart");
  CHECK_THROWS_WITH(fft::real_transform({8}).forward(std::span(lines).first(5), std::span(reals, 8)),
                    Catch::Matchers::Contains("take options{.padded = true} to transform in place"));
  CHECK_THROWS_WITH(fft::real_transform({8}).inverse(std::span(reals + 8, 8), std::span(lines).first(5)),
                    Catch::Matchers::Contains("arrays that overlap"));
  CHECK_THROWS_WITH(
      fft::transform({8}, {.padded = true}),
      "wsl: only arrays of real numbers are padded; complex ones are transformed in place without");
  CHECK_THROWS_WITH(fft::transform({8, 0}), "wsl: an axis of a transform has at least 1 number, not 0");
  CHECK_THROWS_WITH(fft::transform({2, 2, 2, 2}), "wsl: a transform has one to three axes, not 4");
  CHECK_THROWS_WITH(fft::transform({}), "wsl: a transform has one to three axes, not 0");
  CHECK_THROWS_WITH(fft::transform({8, 8}, {.high = 2}),
                    "wsl: a transform of (8, 8) runs on one row of PEs, not on 2");
  CHECK_THROWS_WITH(fft::transform({8, 8}, {.wide = -1}),
                    "wsl: a transform runs on at least 1 x 1 PEs, not on -1 x 1");
  const auto refused = [](const axes& a, const options& how, const std::string& most) {
    const std::string pes = std::to_string(how.wide) + " x " + std::to_string(std::max(how.high, 1));
    CHECK_THROWS_WITH(fft::transform(a, how), Catch::Matchers::Contains(" has no lines for each of " + pes +
                                                                        " PEs; take at most " + most));
  };
  CHECK_THROWS_WITH(
      fft::transform({8, 8, 8}, {.wide = 1000, .high = 1000}),
      "wsl: a transform of (8, 8, 8) has no lines for each of 1000 x 1000 PEs; take at most 8 x 8");
  refused({4, 7, 5}, {.wide = 8, .high = 1}, "7 x 7"), refused({9, 7, 5}, {.wide = 1, .high = 10}, "7 x 9");
  refused({6, 8}, {.wide = 9}, "8 x 6"), refused({12}, {.wide = 5}, "4 x 3");
  refused({6, 8}, {.wide = 2, .high = 4, .batch = 3}, "8 x 3"),
      refused({8}, {.wide = 4, .batch = 3}, "3 x 1");
  fft::transform({4, 7, 5}, {.wide = 7, .high = 7}), fft::transform({8}, {.wide = 3, .batch = 3});
  CHECK_THROWS_WITH(fft::real_transform({4, 2, 8}, {.wide = 6}), Catch::Matchers::Contains("at most 5 x 4"));
  CHECK_THROWS_WITH(fft::serial({3, 5}, std::vector<exact>(14)),
                    "wsl: a transform of (3, 5) takes arrays of 15 numbers where the reference is given 14");
  CHECK_THROWS_WITH(fft::serial({3, 0}, {}), "wsl: an axis of a transform has at least 1 number, not 0");
  CHECK_THROWS_WITH(fft::serial({}, {}), "wsl: a transform has one to three axes, not 0");
  std::vector<number> x(60), y(64);
  CHECK_THROWS_WITH(fft::transform({8, 8}).forward(y, x),
                    "wsl: a transform of (8, 8) takes arrays of 64 numbers where it is given 60");
}

}  // namespace
