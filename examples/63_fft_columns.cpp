// SPDX-License-Identifier: MIT
// A two-dimensional Fourier transform on a row of PEs, each of which has a column of the matrix. A PE
// transforms its column, radix 2, with descriptors; then all PEs exchange one number with each other, which
// transposes the matrix, and transform what were rows.
#include <wsl/collective/all_to_all.hpp>
#include <wsl/host/device.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>
using namespace wsl;

constexpr all_to_all<f32> turn{.first = 0, .among = each_row};

template <int N>  // a power of two
struct column_fft {
  using numbers = f32[static_cast<std::size_t>(2 * N)];  // real and imaginary parts in turns

  numbers x{}, y{}, t{};
  endpoint<turn> turning;

  void start(pe& me) {
    transform();
    turning.start(me, mem(x), mem(y), then<&column_fft::go_on>());
  }
  void go_on(pe&) {
    mov(mem(x), mem(y));
    transform();
  }
  using tasks = task_list<launch<&column_fft::start>, local<&column_fft::go_on>, use<&column_fft::turning>>;

 private:
  static auto re(memory<f32> z, int at, int n) { return z.every(2).part(at, n); }
  static auto im(memory<f32> z, int at, int n) { return z.from(1).every(2).part(at, n); }

  // Stockham's algorithm: each round joins numbers that are N / 2 apart and lays them side by side, so that
  // they end in natural order.
  void transform() {
    memory<f32> from = mem(x), to = mem(y);
    for (int s = 1, m = N / 2; m > 0; s *= 2, m /= 2, std::swap(from, to))
      for (int p = 0; p < m; ++p) {
        const f64 angle = -std::numbers::pi * p / m;
        butterfly(from, to, s * p, s * (p + m), s * 2 * p, s, static_cast<f32>(std::cos(angle)),
                  static_cast<f32>(std::sin(angle)));
      }
    if (from.first() != x) mov(mem(x), from);
  }
  /// For n numbers each: to = a + b, followed by (a - b) w.
  void butterfly(memory<f32> from, memory<f32> to, int a, int b, int at, int n, f32 w_re, f32 w_im) {
    const auto t_re = re(mem(t), 0, n), t_im = im(mem(t), 0, n);
    add(re(to, at, n), re(from, a, n), re(from, b, n));
    add(im(to, at, n), im(from, a, n), im(from, b, n));
    sub(t_re, re(from, a, n), re(from, b, n));
    sub(t_im, im(from, a, n), im(from, b, n));
    mul(re(to, at + n, n), t_re, w_re), fmac(re(to, at + n, n), re(to, at + n, n), t_im, -w_im);
    mul(im(to, at + n, n), t_re, w_im), fmac(im(to, at + n, n), im(to, at + n, n), t_im, w_re);
  }
};

/// The largest error of a transform of N x N numbers against the definition in f64, relative to the largest
/// number of the result.
template <int N>
f64 largest_error() {
  layout l{wse2, N, 1};
  l.place<column_fft<N>>(all).wire(turn);
  fabric f{l};
  device d{f};
  std::vector<f32> x;  // column by column
  for (int i = 0; i < 2 * N * N; ++i) x.push_back(static_cast<f32>(std::sin(i * i)));
  d.copy_in(&column_fft<N>::x, all, x);
  d.launch();
  const std::vector<f32> found = d.copy_out(&column_fft<N>::x, all);  // row by row

  f64 worst = 0, largest = 0;
  for (int k = 0; k < N * N; ++k) {
    std::complex<f64> sum = 0;
    for (int i = 0; i < N * N; ++i) {  // row i % N, column i / N
      const std::size_t at = static_cast<std::size_t>(2 * i);
      sum += std::complex<f64>{x[at], x[at + 1]} *
             std::polar(1., -2 * std::numbers::pi * ((k / N) * (i % N) + (k % N) * (i / N)) / N);
    }
    const std::size_t at = static_cast<std::size_t>(2 * k);
    worst = std::max(worst, std::abs(sum - std::complex<f64>{found[at], found[at + 1]}));
    largest = std::max(largest, std::abs(sum));
  }
  return worst / largest;
}

int main() {
  const bool right = largest_error<8>() < 1e-6 && largest_error<32>() < 1e-6;
  std::printf("transforms of 8 x 8 and 32 x 32 numbers: %s the definition says\n", right ? "as" : "not as");
  return right ? 0 : 1;
}
