// SPDX-License-Identifier: MIT
// The product y = A x, and the power method that repeats it to find the eigenvalue of largest absolute value
// of a symmetric operator. An iteration has one pass and one reduction, as x is scaled where it is
// multiplied. A cell moves 4 words (y read, x written, y fetched and written). See
// examples/80_stencil_product.cpp and 81_power_method.cpp.
#pragma once
#include "solution.hpp"
#include "solver_pe.hpp"

namespace wsl::solver {

/// One product a launch.
class product_method {
  enum : int { x, y };

 public:
  static constexpr int vectors = 2;
  static constexpr auto measures = measure_of_result::product;
  static constexpr int right_side = x, result = y;

  ending how() const { return ending::none; }
  f32 measured() const { return 0; }
  template <class F>
  void present(F f) const {
    f(multiplication{});
  }
  bool close() { return false; }
  verdict decide(const f32*) { return verdict::next_iteration; }

 private:
  struct multiplication {
    static constexpr int vectors = 2, sums = 0, operations = 0, from = x, to = y;
    static constexpr unsigned of_update = 1 << x, of_product = 1 << y;
    static constexpr bool multiplies = true;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells&, typename Cells::numbers*) const {}
    template <class Cells>
    [[gnu::always_inline]] void sum(const Cells&, const typename Cells::numbers&,
                                    typename Cells::numbers*) const {}
  };
};

class power_iteration {
  enum : int { x, y };

 public:
  static constexpr int vectors = 2;
  static constexpr auto measures = measure_of_result::direction;
  static constexpr int right_side = y, result = x;

  explicit power_iteration(const limits& most = {}) : tolerance_(static_cast<f32>(most.tolerance)) {}

  ending how() const { return how_; }
  f32 measured() const { return value_; }

  template <class F>
  void present(F f) const {
    if (measuring_) f(measure{});
    else f(iteration{scale_});
  }
  bool close() {
    if (how_ == ending::none) how_ = ending::all_iterations;
    return false;
  }
  verdict decide(const f32* total) {
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(total[k])) return end(ending::not_finite);
    if (total[0] == 0) return end(ending::singular);
    scale_ = 1 / std::sqrt(total[0]);
    if (measuring_) {
      measuring_ = false;
      return verdict::next_pass;
    }
    const f32 before = value_;
    value_ = total[1] / total[2];
    if (begun_ && std::abs(value_ - before) <= tolerance_ * std::abs(value_)) how_ = ending::converged;
    begun_ = true;
    return how_ == ending::none ? verdict::next_iteration : verdict::last_iteration;
  }

 private:
  struct measure {
    static constexpr int vectors = 2, sums = 1, operations = 1;
    static constexpr unsigned of_update = 1 << y;
    static constexpr bool multiplies = false;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers* sum) const {
      sum[0] += c[y] * c[y];
    }
  };
  /// x = y / |y|, then y = A x.
  struct iteration {
    static constexpr int vectors = 2, sums = 3, operations = 4, from = x, to = y;
    static constexpr unsigned of_update = 1 << x | 1 << y, of_product = 0;
    static constexpr bool multiplies = true;
    f32 scale;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers*) const {
      c[x] = scale * c[y];
    }
    template <class Cells>
    [[gnu::always_inline]] void sum(const Cells& c, const typename Cells::numbers& ax,
                                    typename Cells::numbers* sum) const {
      sum[0] += ax * ax;
      sum[1] += c[x] * ax;
      sum[2] += c[x] * c[x];
    }
  };

  verdict end(ending how) {
    how_ = how;
    return verdict::end;
  }

  bool measuring_ = true, begun_ = false;
  ending how_ = ending::none;
  f32 tolerance_, scale_ = 0, value_ = 0;
};

}  // namespace wsl::solver
