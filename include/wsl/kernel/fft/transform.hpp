// SPDX-License-Identifier: MIT
// The front end of the Fourier transform, for arrays of the host with one, two or three axes in row-major
// order, on a grid of PEs that is made once:
//   fft::transform t{{128, 128, 128}};
//   t.forward(spectrum, field);
//   t.inverse(field, spectrum);
// Forward X_k = sum over j of x_j exp(-2 pi i (j0 k0 / n0 + j1 k1 / n1 + j2 k2 / n2)); the inverse has +i and
// a factor 1 / (n0 n1 n2). Results depend neither on the grid of PEs nor on threads, bit for bit. See
// examples/85_fft.cpp.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "axes.hpp"
#include "pencil.hpp"

namespace wsl::fft {

using number = std::complex<f32>;

/// The resources of this computer for a transform, and how arrays lie; 0 leaves a choice to the library.
struct options {
  int wide = 0, high = 0;  ///< PEs; arrays of one or two axes have one row of them
  int threads = 0;         ///< as threaded{.threads}
  /// so many arrays, one after the other, each of which is transformed
  int batch = 1;
  /// real arrays have room for two more numbers, or one if their length is odd, at the end of each line along
  /// the last axis, so that the spectrum may take the place of the array
  bool padded = false;
};

/// The common part of complex and real transforms: the axes, the grid, and a launch.
template <capacity r, class T = f32>
class transform_on {
 public:
  /// Throws std::invalid_argument for invalid axes or an invalid grid, and fault if the machine is too
  /// small.
  template <class Engine>
  transform_on(const std::vector<int>& axes, bool real, const options& how, const machine& target,
               const Engine& engine)
      : axes_(checked(axes, real, how)),
        real_(real),
        padded_(how.padded),
        batch_(how.batch),
        decomposition_(decompose(axes, real, how)),
        fabric_(pencil<r, T>::plan(target, decomposition_.wide, decomposition_.high), engine) {
    for (int y = 0; y < decomposition_.high; ++y)
      for (int x = 0; x < decomposition_.wide; ++x)
        fabric_.template program_at<pencil<r, T>>({x, y}).prepare(decomposition_, what(false), {x, y},
                                                                  axes_.back());
  }

  /// The distribution of the array over the PEs.
  const decomposition& distribution() const { return decomposition_; }
  /// The numbers of all arrays, complex or real, with those that a padded one leaves unused; and of their
  /// spectra.
  std::size_t size() const { return batches() * count(padded_ ? 2 * last() : axes_.back()); }
  std::size_t spectrum_size() const { return batches() * count(last()); }

 protected:
  outcome run(const T* from, std::size_t from_size, T* to, std::size_t to_size, bool inverse) {
    check_size(from_size, real_ && inverse ? spectrum_size() : size(), "is given");
    check_size(to_size, real_ && !inverse ? spectrum_size() : size(), "gets");
    check_memory(from, from_size, real_ && !inverse ? 1 : 2, to, to_size, real_ && inverse ? 1 : 2);
    job<T> j{.what = what(inverse),
             .inverse = inverse,
             .factor = inverse ? T{1} / static_cast<T>(count(axes_.back())) : T{1},
             .from = from,
             .to = to};
    const i64 spectrum_row = i64{2} * last(), row = !real_ || padded_ ? spectrum_row : axes_.back();
    strides(j.from_stride, inverse ? spectrum_row : row);
    strides(j.to_stride, inverse ? row : spectrum_row);
    if (j.what == kind::four_step)
      j.from_stride[1] = i64{2} * decomposition_.n2, j.to_stride[1] = 2,
      j.to_stride[2] = i64{2} * decomposition_.n1;
    // A batch of arrays with three axes is transformed one by one: each keeps all PEs busy.
    outcome all{};
    for (int b = 0; b < (axes_.size() == 3 ? batch_ : 1); ++b) {
      all = fabric_.template launch<&pencil<r, T>::begin>(wsl::all, j);
      j.from += j.from_stride[0] * axes_[0], j.to += j.to_stride[0] * axes_[0];
    }
    return all;
  }

 private:
  static const std::vector<int>& checked(const std::vector<int>& axes, bool real, const options& how) {
    checks::axes(axes);
    if (!real && how.padded)
      support::bad_argument(
          {"only arrays of real numbers are padded; complex ones are transformed in place "
           "without"});
    constexpr int most = 1 << 30;  // parts of a batch, which are rounded up, are still numbers of type int
    if (how.batch < 1 || how.batch > most)
      support::bad_argument({"a batch has 1 to ", most, " arrays, not ", how.batch});
    return axes;
  }
  /// A long line becomes the most nearly square array. One whose length has no radices stays a line.
  static int divisor_below_the_root(int n) {
    if (!has_radices(n)) return 1;
    int best = 1;
    for (int d = 1; i64{d} * d <= n; ++d)
      if (n % d == 0) best = d;
    return best;
  }
  /// Throws std::invalid_argument if a PE could not count the numbers of the lines that it transforms side by
  /// side.
  static void require_short_lines(const std::vector<int>& axes, bool real, const decomposition& c) {
    constexpr int most = std::numeric_limits<int>::max() / group<r.width, T>::number - 1;
    // An even number of real numbers is transformed as half as many complex ones.
    const int last = real ? axes.back() / (axes.back() % 2 ? 1 : 2) : c.n2, lines[3] = {c.n0, c.n1, last};
    for (int axis = c.batched; axis < 3; ++axis) {
      const int n = lines[axis];
      if (n > most || (!has_radices(n) && n > most / 2))
        support::bad_argument({"a transform of ", text(axes),
                               " has lines that are too long for a PE, which takes ", most,
                               " numbers, or half as many where a length has a prime factor above 13; "
                               "divide the array among more axes"});
    }
  }
  static decomposition decompose(const std::vector<int>& axes, bool real, const options& how) {
    const std::size_t d = axes.size();
    decomposition c{.n0 = d == 3 ? axes[0] : 1,
                    .n1 = d == 1 ? 1 : axes[d - 2],
                    .n2 = real ? axes.back() / 2 + 1 : axes.back(),
                    .wide = 1,
                    .high = 1,
                    .width = r.width,
                    .max_parts = r.parts};
    if (d < 3 && how.batch > 1) c.batched = d == 2 ? 1 : 2, (d == 2 ? c.n0 : c.n1) = how.batch;
    else if (d == 1 && !real) c.n1 = divisor_below_the_root(c.n2), c.n2 /= c.n1;
    // Arrays of a batch do not depend on each other in any bit, so lines that are arrays are no pairs.
    if (real && axes.back() % 2 && c.batched != 2) c.together = 2;
    require_short_lines(axes, real, c);
    const int cores = how.threads > 0 ? how.threads : default_threads();
    const bool in_columns = d == 3 || c.batched == 1;
    c.wide = how.wide ? how.wide
             : in_columns
                 ? 1
                 : std::max(1, std::min({cores, c.n1 / r.width, c.batched ? cores : c.n2 / r.width}));
    c.high = how.high ? how.high : in_columns ? std::min({cores, c.n0, c.batched ? cores : c.n1}) : 1;
    if (c.wide < 1 || c.high < 1)
      support::bad_argument({"a transform runs on at least 1 x 1 PEs, not on ", c.wide, " x ", c.high});
    if (!in_columns && c.high > 1)
      support::bad_argument({"a transform of ", text(axes), " runs on one row of PEs, not on ", c.high});
    if (c.wide > c.most_wide() || c.high > c.most_high())
      support::bad_argument({"a transform of ", text(axes), " has no lines for each of ", c.wide, " x ",
                             c.high, " PEs; take at most ", c.most_wide(), " x ", c.most_high()});
    if (std::max(c.volume(), c.plane()) >
        i64{std::numeric_limits<int>::max()} * i64{sizeof(f32)} / i64{sizeof(T)})
      support::bad_argument({"a transform of ", text(axes), " on ", c.wide, " x ", c.high,
                             " PEs gives each more numbers than it can count; use more PEs"});
    return c;
  }

  kind what(bool inverse) const {
    if (real_) return inverse ? kind::to_real : kind::from_real;
    return axes_.size() == 1 && batch_ == 1 ? kind::four_step : kind::complex;
  }
  /// The length of the last axis of the spectrum.
  int last() const { return real_ ? axes_.back() / 2 + 1 : axes_.back(); }
  std::size_t batches() const { return static_cast<std::size_t>(batch_); }
  std::size_t count(int of_last) const {
    std::size_t n = static_cast<std::size_t>(of_last);
    for (std::size_t i = 0; i + 1 < axes_.size(); ++i) n *= static_cast<std::size_t>(axes_[i]);
    return n;
  }
  void strides(i64* s, i64 row) const { s[0] = row * decomposition_.n1, s[1] = row, s[2] = 2; }
  void check_size(std::size_t given, std::size_t needed, const char* role) const {
    if (given != needed)
      support::bad_argument({"a transform of ", text(axes_), (real_ ? " real numbers" : ""),
                             " takes arrays of ", needed, " numbers where it ", role, " ", given});
  }

  /// Numbers are read while others are written, so arrays that overlap are one and the same: those of complex
  /// numbers, or a padded one and its spectrum.
  void check_memory(const T* from, std::size_t from_size, std::size_t from_parts, const T* to,
                    std::size_t to_size, std::size_t to_parts) const {
    const auto first = reinterpret_cast<std::uintptr_t>(from), second = reinterpret_cast<std::uintptr_t>(to);
    const bool apart = first + from_size * from_parts * sizeof(T) <= second ||
                       second + to_size * to_parts * sizeof(T) <= first;
    if (apart || (first == second && (!real_ || padded_))) return;
    support::bad_argument(
        {"a transform of ", text(axes_), (real_ ? " real numbers" : ""),
         " is given arrays that overlap: take ",
         real_ && !padded_ ? "options{.padded = true} to transform in place, or " : "the same one, or ",
         "two that are apart"});
  }

  std::vector<int> axes_;
  bool real_, padded_;
  int batch_;
  decomposition decomposition_;
  fabric fabric_;
};

/// Transforms of complex numbers, on this computer. `to` and `from` are the same array or do not overlap.
template <class T>
class basic_transform : public transform_on<capacity{}, T> {
 public:
  using number = std::complex<T>;

  explicit basic_transform(const std::vector<int>& axes, const options& how = {})
      : transform_on<capacity{}, T>(axes, false, how, host,
                                    threaded{.threads = how.threads, .pes_per_partition = 1}) {}

  outcome forward(std::span<number> to, std::span<const number> from) { return go(to, from, false); }
  outcome inverse(std::span<number> to, std::span<const number> from) { return go(to, from, true); }

 private:
  outcome go(std::span<number> to, std::span<const number> from, bool inverse) {
    return this->run(reinterpret_cast<const T*>(from.data()), from.size(), reinterpret_cast<T*>(to.data()),
                     to.size(), inverse);
  }
};
using transform = basic_transform<f32>;

/// Transforms of real numbers. Along the last axis, of length n, the spectrum has n / 2 + 1 numbers; the
/// others are their conjugates. Even lengths are faster than odd ones. Arrays do not overlap, unless they are
/// padded: then the field and the spectrum may be the same memory. A single line is transformed by one PE.
template <class T>
class basic_real_transform : public transform_on<capacity{}, T> {
 public:
  using number = std::complex<T>;

  explicit basic_real_transform(const std::vector<int>& axes, const options& how = {})
      : transform_on<capacity{}, T>(axes, true, how, host,
                                    threaded{.threads = how.threads, .pes_per_partition = 1}) {}

  outcome forward(std::span<number> spectrum, std::span<const T> field) {
    return this->run(field.data(), field.size(), reinterpret_cast<T*>(spectrum.data()), spectrum.size(),
                     false);
  }
  outcome inverse(std::span<T> field, std::span<const number> spectrum) {
    return this->run(reinterpret_cast<const T*>(spectrum.data()), spectrum.size(), field.data(), field.size(),
                     true);
  }
};
using real_transform = basic_real_transform<f32>;

/// The memory of a PE with one line of n complex numbers in each phase.
constexpr capacity one_line(int n) {
  return {.width = 1, .parts = 1, .volume = 2 * n, .plane = 2 * n, .group = 2 * n};
}

/// n x n x n complex numbers on n x n PEs within the limits of a machine: the same program. n has no other
/// prime factors than 2, 3, 5, 7, 11 and 13.
template <int n>
  requires(has_radices(n))
class wafer_transform : public transform_on<one_line(n)> {
 public:
  template <class Engine = threaded>
  explicit wafer_transform(const machine& target = wse2, const Engine& engine = {})
      : transform_on<one_line(n)>({n, n, n}, false, {.wide = n, .high = n}, target, engine) {}

  outcome forward(std::span<number> to, std::span<const number> from) { return run(to, from, false); }
  outcome inverse(std::span<number> to, std::span<const number> from) { return run(to, from, true); }

 private:
  outcome run(std::span<number> to, std::span<const number> from, bool inverse) {
    return transform_on<one_line(n)>::run(reinterpret_cast<const f32*>(from.data()), from.size(),
                                          reinterpret_cast<f32*>(to.data()), to.size(), inverse);
  }
};

/// Once: to = the transform of `from`, or its inverse.
inline outcome forward(const std::vector<int>& axes, std::span<number> to, std::span<const number> from) {
  return transform(axes).forward(to, from);
}
inline outcome inverse(const std::vector<int>& axes, std::span<number> to, std::span<const number> from) {
  return transform(axes).inverse(to, from);
}

}  // namespace wsl::fft
