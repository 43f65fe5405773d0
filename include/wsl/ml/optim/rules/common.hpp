// SPDX-License-Identifier: MIT
// The common part of the update rules: what a rule is, and the checks of its coefficients.
//
// A rule is a struct whose members are its coefficients, with
//   name                          in messages
//   kept(is_matrix)               the arrays that it keeps for a parameter
//   check()                       throws std::invalid_argument for coefficients that make no sense
//   update(run, step)             updates numbers that lie together
// A rule that needs sums over the whole parameter has, instead of the last, a number of `rounds` and
//   measure(round, part, step, whole, to)          in each round but the last: adds to the sums of an owner
//   combine(round, parameter, step, sums, whole)   after such a round, with the sums of all owners together
//   update(part, step, whole)                      in the last round
// where `whole` is what `combine` has made of the sums, for all owners to read.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "../../op/functions.hpp"
#include "../../op/loop.hpp"
#include "../part.hpp"

namespace wsl::ml::rules {

template <class Rule>
concept needs_whole_parameter = requires { Rule::rounds; };

namespace detail {

/// Throws std::invalid_argument unless least <= x < end.
inline void require_in(const char* rule, const char* what, f32 x, f32 least, f32 end) {
  if (!(x >= least && x < end))
    throw std::invalid_argument(
        fmt::format("wsl: {} has a {} of at least {} and below {}, not {}", rule, what, least, end, x));
}
/// Throws std::invalid_argument unless 0 <= x <= 1.
inline void require_part(const char* rule, const char* what, f32 x) {
  if (!(x >= 0 && x <= 1))
    throw std::invalid_argument(
        fmt::format("wsl: {} has a {} of at least 0 and at most 1, not {}", rule, what, x));
}
inline void require_positive(const char* rule, const char* what, f32 x) {
  if (!(x > 0) || std::isinf(x))
    throw std::invalid_argument(fmt::format("wsl: {} has a positive {}, not {}", rule, what, x));
}
inline void require_not_negative(const char* rule, const char* what, f32 x) {
  if (!(x >= 0) || std::isinf(x))
    throw std::invalid_argument(fmt::format("wsl: {} has a {} of at least 0, not {}", rule, what, x));
}

/// 1 - beta^step, by which a running mean that began with 0 is divided.
inline f64 bias_correction(f32 beta, i64 step) {
  return 1 - std::pow(static_cast<f64>(beta), static_cast<f64>(step));
}
[[gnu::always_inline]] inline f32 sign(f32 x) { return static_cast<f32>((x > 0) - (x < 0)); }
[[gnu::always_inline]] inline f32 absolute(f32 x) { return x < 0 ? -x : x; }

/// The sum of f(i) for i below n: f32 within a thousand numbers, f64 beyond.
template <class F>
[[gnu::always_inline]] inline f64 long_sum(int n, F f) {
  constexpr int chunk = 1024;
  f64 total = 0;
  for (int from = 0; from < n; from += chunk)
    total +=
        static_cast<f64>(sum_of(n - from < chunk ? n - from : chunk, [&](int i) { return f(from + i); }));
  return total;
}

}  // namespace detail
}  // namespace wsl::ml::rules
