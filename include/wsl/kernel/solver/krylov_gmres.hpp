// SPDX-License-Identifier: MIT
// GMRES(m) for any sparse matrix on PEs (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986), with the
// preconditioner on the right. A new basis vector is made orthogonal to all others at once and then again
// (classical Gram-Schmidt twice, which is as exact as the modified one): two totals an iteration, however
// many vectors there are. Every PE rotates the Hessenberg matrix by itself. One call is the iterations
// between two restarts; krylov_refinement.hpp begins the next one with the residual of the new x. A singular
// matrix makes that of Hessenberg singular but for rounding (Brown and Walker, SIAM J. Matrix Anal. Appl. 18,
// 1997); then the residual itself decides how much of it counts, if it is more than rounding.
#pragma once
#include "krylov_precondition.hpp"

namespace wsl::solver {

struct generalized_minimal_residual {
  static constexpr const char* name = "GMRES";
  static constexpr bool needs_symmetry = false;
  static int vectors(int restart) { return restart + 2; }
  template <class T>
  static procedure run(krylov_pe& k);

 private:
  /// This PE's parts of the dot products of vector w with those from `first` on, and, last, with itself.
  template <class T>
  static void dots(krylov_pe& k, int first, int count, int w, std::vector<f64>& own) {
    own.clear();
    for (int i = 0; i <= count; ++i)
      own.push_back(k.sweep<T, 1>({i < count ? first + i : w, w},
                                  [](const auto& c, auto& sum)
                                      __attribute__((always_inline)) { sum[0] += c[0] * c[1]; })[0]);
  }
  /// w -= the sum of factor[i] times vector first + i
  template <class T>
  static void remove(krylov_pe& k, int first, std::span<const f64> factor, int w) {
    for (std::size_t i = 0; i < factor.size(); ++i) {
      const T by = static_cast<T>(factor[i]);
      k.sweep<T>({w, first + static_cast<int>(i)},
                 [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] -= by * c[1]; });
    }
  }

  /// Changes the last bits of each number, by another step for numbers that are near to each other: what
  /// cancels out in A d does so no more.
  template <class T>
  static void change_last_bits(krylov_pe& k, int v) {
    T* x = k.vector<T>(v);
    for (u32 i = 0; i < static_cast<u32>(k.size_of<T>(v)); ++i) {
      // the top bits of multiples of the golden ratio
      const f64 steps = static_cast<f64>(i * 0x9e3779b1u >> 28) / 2 - 3.75;
      x[i] += static_cast<T>(steps) * std::numeric_limits<T>::epsilon() * x[i];
    }
  }

  /// The triangular system between two restarts. Column j of the matrix has j + 1 numbers; `right` is the
  /// rotated right side.
  struct least_squares {
    std::vector<std::vector<f64>> columns;
    std::vector<f64> right;
    f64 longest = 0;  ///< of the vectors that A took or gave

    int count() const { return static_cast<int>(columns.size()); }
    /// The factors of the first basis vectors.
    std::vector<f64> solve(int first) const;
    /// The length of a part of the right side; from some columns on that is the residual which they leave.
    f64 length_of_right(int from, int to) const;
    f64 left_by(int first) const { return length_of_right(first, count() + 1); }
    /// Whether neither what the first columns leave nor what they take away is near to rounding, which grows
    /// with the factors; a residual below the target need not be exact.
    template <class T>
    bool is_sound(int first, f64 target) const;
    /// How many columns are sound. The factors grow with the columns.
    template <class T>
    int sound_columns() const;
  };
  /// d = the correction by some columns; `sum` becomes their combination.
  template <class T>
  static procedure combine(krylov_pe& k, const least_squares& system, int columns, int sum);
  /// The residual with x + d, computed anew; z = A d.
  template <class T>
  static procedure left_by_correction(krylov_pe& k, int z, f64* residual);
  /// The columns that leave the least residual, and that residual: those that are sound, or as many more as
  /// still help.
  template <class T>
  static procedure choose(krylov_pe& k, const least_squares& system, int z, int* columns, f64* residual);
};

inline std::vector<f64> generalized_minimal_residual::least_squares::solve(int first) const {
  std::vector<f64> y(right.begin(), right.begin() + first);
  for (std::size_t i = y.size(); i-- > 0;) {
    for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= columns[j][i] * y[j];
    y[i] /= columns[i][i];
  }
  return y;
}

inline f64 generalized_minimal_residual::least_squares::length_of_right(int from, int to) const {
  f64 square = 0;
  for (int i = from; i < to; ++i)
    square += right[static_cast<std::size_t>(i)] * right[static_cast<std::size_t>(i)];
  return std::sqrt(square);
}

template <class T>
bool generalized_minimal_residual::least_squares::is_sound(int first, f64 target) const {
  constexpr f64 little = 0.05;
  f64 square = 0;
  for (const f64 factor : solve(first)) square += factor * factor;
  const f64 rounding = static_cast<f64>(std::numeric_limits<T>::epsilon()) * longest * std::sqrt(square);
  return rounding <= little * std::min(std::max(left_by(first), target), length_of_right(0, first));
}

template <class T>
int generalized_minimal_residual::least_squares::sound_columns() const {
  int sound = 0, too_many = count();
  while (too_many - sound > 1) {
    const int between = (sound + too_many) / 2;
    (is_sound<T>(between, 0) ? sound : too_many) = between;
  }
  return sound;
}

template <class T>
procedure generalized_minimal_residual::combine(krylov_pe& k, const least_squares& system, int columns,
                                                int sum) {
  std::vector<f64> y = system.solve(columns);
  for (f64& v : y) v = -v;  // what is removed from zero is added
  k.clear<T>({sum});
  remove<T>(k, first_of_method, y, sum);
  co_await precondition<T>(k, vector_d, sum);
}

template <class T>
procedure generalized_minimal_residual::left_by_correction(krylov_pe& k, int z, f64* residual) {
  co_await k.product<T>(0, z, vector_d);
  const std::array<f64, 1> own =
      k.sweep<T, 1>({z, vector_r}, [](const auto& c, auto& s) __attribute__((always_inline)) {
        const auto left = c[1] - c[0];
        s[0] += left * left;
      });
  *residual = std::sqrt((co_await k.total(own))[0]);
}

template <class T>
procedure generalized_minimal_residual::choose(krylov_pe& k, const least_squares& system, int z, int* columns,
                                               f64* residual) {
  // a residual that is hardly smaller would be bought with numbers of x that are rounding
  constexpr f64 smaller = 0.9;
  const int sum = first_of_method + system.count(), sound = system.sound_columns<T>();
  *columns = sound, *residual = system.left_by(sound);
  f64 least = *residual;
  for (int more = system.count(); more > sound; --more) {
    f64 left = 0, with_other_bits = 0;
    co_await combine<T>(k, system, more, sum);
    co_await left_by_correction<T>(k, z, &left);
    if (left < smaller * least) {
      // by chance, if A d is rounding: then a d that is rounded otherwise leaves another residual
      change_last_bits<T>(k, vector_d);
      co_await left_by_correction<T>(k, z, &with_other_bits);
    }
    const f64 most = std::max(left, with_other_bits);
    if (most < smaller * least) least = most, *columns = more, *residual = left;
    else if (*columns > sound) break;  // fewer columns leave more
  }
}

template <class T>
procedure generalized_minimal_residual::run(krylov_pe& k) {
  const int m = k.set.restart, basis = first_of_method, z = first_of_method + m + 1;
  enum : int { r = vector_r, d = vector_d };
  std::vector<f64> own, factors;
  dots<T>(k, r, 0, r, own);
  const f64 beta = std::sqrt((co_await k.total(own))[0]);
  const T shrink = static_cast<T>(1 / beta);
  k.clear<T>({d});
  k.sweep<T>({basis, r}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = shrink * c[1]; });
  least_squares system{.columns = {}, .right = {beta}};
  std::vector<f64>& g = system.right;
  std::vector<f64> cosine, sine;
  const auto is_doubtful = [&] { return !system.is_sound<T>(system.count(), k.target); };
  int used = -1;  // columns, once that is known
  bool ends = false;
  ending why = ending::none;
  while (system.count() < m && !ends) {
    const int j = system.count(), w = basis + j + 1;
    co_await precondition<T>(k, z, basis + j);
    co_await k.product<T>(0, w, z);
    std::vector<f64> h(static_cast<std::size_t>(j) + 2);
    f64 whole = 0, left = 0, before = 0;
    for (int pass = 0; pass < 2; ++pass) {
      dots<T>(k, basis, j + 1, w, own);
      if (pass == 0)  // the length of z too
        own.push_back(k.sweep<T, 1>(
            {z}, [](const auto& c, auto& sum) __attribute__((always_inline)) { sum[0] += c[0] * c[0]; })[0]);
      std::span<const f64> total = co_await k.total(own);
      if (pass == 0) before = total.back(), total = total.first(total.size() - 1);
      factors.assign(total.begin(), total.end() - 1);
      left = total.back();
      if (pass == 0) whole = left;
      for (std::size_t i = 0; i < factors.size(); ++i) h[i] += factors[i], left -= factors[i] * factors[i];
      remove<T>(k, basis, factors, w);
    }
    if (!std::isfinite(left)) {
      k.how = ending::not_finite;
      co_return;
    }
    // The rest of A z may be rounding only: then the basis holds the solution, or A takes z into it.
    constexpr f64 rounding = std::is_same_v<T, f32> ? 1e-12 : 1e-28;
    const bool is_full = !(left > rounding * whole);
    const f64 length = is_full ? 0 : std::sqrt(left);
    h.back() = length;
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const f64 upper = cosine[i] * h[i] + sine[i] * h[i + 1];
      h[i + 1] = cosine[i] * h[i + 1] - sine[i] * h[i], h[i] = upper;
    }
    const std::size_t last = h.size() - 2;
    const f64 diagonal = std::hypot(h[last], length);
    if (!(diagonal > 0)) {  // a column that follows from the others
      why = whole > 0 ? ending::nearly_singular : ending::singular;
      break;
    }
    // A is divided by a power of two, so that its largest number is about 1
    system.longest = std::max(system.longest, std::sqrt(std::max(whole, before)));
    cosine.push_back(h[last] / diagonal), sine.push_back(length / diagonal);
    h[last] = diagonal, h.pop_back();
    system.columns.push_back(std::move(h));
    g.push_back(-sine.back() * g[last]), g[last] *= cosine.back();
    if (!is_full) {
      const T norm = static_cast<T>(1 / length);
      k.sweep<T>({w}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = norm * c[0]; });
    }
    f64 residual = std::abs(g.back());
    const bool is_last = is_full || system.count() == m || residual <= k.target;
    if (is_last && is_doubtful()) co_await choose<T>(k, system, z, &used, &residual);
    ends = co_await k.iterated(residual) || is_last;
  }
  if (k.how == ending::not_finite) co_return;
  if (used < 0 && is_doubtful()) {
    f64 residual = 0;
    co_await choose<T>(k, system, z, &used, &residual);
  }
  if (used < 0) used = system.count();
  else if (used < system.count()) why = ending::nearly_singular;
  if (used > 0) {
    // The vector behind the basis has no further use: it becomes the combination.
    co_await combine<T>(k, system, used, basis + used);
  } else k.clear<T>({d});
  if (why != ending::none) k.how = why;
}

}  // namespace wsl::solver
