// SPDX-License-Identifier: MIT
// A pass over some vectors of a PE, number by number, with sums: the updates and dot products of a Krylov
// method. A function object with two arguments, the numbers of all vectors at one place, c[0], c[1], ..., and
// the sums, says what happens to them:
//   f64 rr = 0;
//   sweep<1>(n, {x, p, r}, [=](const auto& c, auto& sum) { c[0] += a * c[1]; sum[0] += c[2] * c[2]; }, &rr);
// A function object is compiled for the vectors of each processor (linalg/vector_code.hpp).
#pragma once
#include <array>

#include "number_lanes.hpp"

namespace wsl::solver {

namespace loops {

/// The numbers of all vectors at one place.
template <class T, int count, int vectors>
class places_of {
 public:
  [[gnu::always_inline]] places_of(T* const* first, i64 at) : first_(first), at_(at) {}
  [[gnu::always_inline]] numbers<T, count>& operator[](int v) const {
    return numbers_at<T, count>(first_[v] + at_);
  }

 private:
  T* const* first_;
  i64 at_;
};

/// The sums of a line. (A pointer to registers would forget that they need no alignment.)
template <class T, int count, int sums>
class line_sums {
 public:
  [[gnu::always_inline]] numbers<T, count>& operator[](int k) { return sum_[k]; }

 private:
  numbers<T, count> sum_[std::size_t{sums + 1}]{};  // an array has at least one element
};

template <class T, class F, int vectors, int sums>
struct sweeping {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const F& given, T* const* vector, i64 n, f64* total) {
    constexpr int count = lanes * 4 / static_cast<int>(sizeof(T));
    const F f = given;  // a local copy, which the stores to the vectors cannot alias
    T* first[std::size_t{vectors}];
    for (int v = 0; v < vectors; ++v) first[v] = vector[v];
    i64 at = 0;
    while (at + count <= n) {
      line_sums<T, count, sums> sum;
      for (const i64 end = n < at + line_of_sums ? n : at + line_of_sums; at + count <= end; at += count)
        f(places_of<T, count, vectors>(first, at), sum);
      for (int k = 0; k < sums; ++k) total[k] += folded<T, count>(sum[k]);
    }
    for (; at < n; ++at) {
      line_sums<T, 1, sums> sum;
      f(places_of<T, 1, vectors>(first, at), sum);
      for (int k = 0; k < sums; ++k) total[k] += static_cast<f64>(sum[k][0]);
    }
  }
};

template <class T, class F, int vectors, int sums>
inline const auto sweep_code =
    vector_code<sweeping<T, F, vectors, sums>, const F&, T* const*, i64, f64*>::best();

}  // namespace loops

/// Calls f for all n numbers of the vectors; its sums are added to `totals`.
template <int sums, class T, std::size_t vectors, class F>
void sweep(i64 n, T* const (&vector)[vectors], const F& f, f64* totals = nullptr) {
  loops::sweep_code<T, F, static_cast<int>(vectors), sums>(f, vector, n, totals);
}

}  // namespace wsl::solver
