// SPDX-License-Identifier: MIT
// The front end of the solvers, on arrays of the host:
//   const solver::solution<f32> s = solver::bicgstab(a, b);
//   s.x, s.residuals, text(s.how)
// `solver_on` does more: several right-hand sides with one operator, a few iterations at a time, or one line
// a PE within the limits of a machine. Results do not depend on threads, bit for bit; the partition of the
// grid sets the order of additions in totals.
#pragma once

#include "../../host/device.hpp"
#include "../../support/bad_argument.hpp"
#include "bicgstab.hpp"
#include "conjugate_gradient.hpp"
#include "mixed_pe.hpp"
#include "power_method.hpp"

namespace wsl::solver {

/// The resources of this computer for a solver; 0 leaves a choice to the library.
struct options {
  int wide = 0, high = 1;  ///< PEs
  int threads = 0;         ///< as threaded{.threads}
};

template <class Method, class Storage = block>
class solver_on {
  using program = program_for<Method, Storage>;
  using number = typename program::vector_store::number;

 public:
  /// The bytes of a PE's SRAM that the program takes, with one line a PE.
  static constexpr int bytes = program_v<program>.bytes;

  /// On this computer: blocks of many lines, one for each thread unless `how` chooses otherwise. Throws
  /// std::invalid_argument if the operator or the grid of PEs is invalid.
  explicit solver_on(const stencil& a, const options& how = {})
      : solver_on(a, width(a.size, how), how.high, host,
                  threaded{.threads = how.threads, .pes_per_partition = 1}) {}
  /// On wide x high PEs of a machine; throws fault if it is too small for them, and std::invalid_argument for
  /// blocks on a machine whose PEs have a memory of some size: blocks lie on the heap of this computer.
  template <class Engine>
  solver_on(const stencil& a, int wide, int high, const machine& target, const Engine& engine)
      : size_(checked(a, wide, high)),
        wide_(wide),
        high_(high),
        fabric_(plan<Method, Storage>(checked(target), wide, high), engine) {
    scale_ = power_of_two_above(a);
    each_pe([&](program& p, coord pe) { prepare(p, pe, a); });
  }

  int wide() const { return wide_; }
  int high() const { return high_; }

  /// Loads a right-hand side, or the start vector of the power method, and begins anew with x = 0. `b` has
  /// one number for each cell. Throws std::invalid_argument if it has not, or for limits below 0.
  void load(std::span<const f32> b, const limits& most = {}) {
    most.check();
    tolerance_ = most.tolerance, is_loaded_ = true;
    checks::vector(size_, "the vector", b);
    right_scale_ = power_of_two_above(b);
    if constexpr (requires { Method{most}; }) method_ = Method{most};
    if constexpr (Storage::is_mixed) method_.round_factors();
    for (int v = 0; v < Method::vectors; ++v)
      if (!keeps(v))
        each_line([&](program& p, int x, int y, std::size_t) {
          std::fill_n(p.store.line(v, x, y), size_.z, number{});
        });
    each_pe([&](program& p, coord) { p.method = method_; });
    scatter(Method::right_side, b);
    if constexpr (requires { Method::starts_as_right_side; })
      for (int v : Method::starts_as_right_side) scatter(v, b);
    history_.clear();
  }

  /// Does up to `iterations` iterations, or until the method ends; returns how it ended, or `none`. Throws
  /// std::invalid_argument for fewer than 0.
  ending iterate(int iterations) {
    if (!is_loaded_)
      support::bad_argument({"solver: iterate() follows load(), which brings the right-hand side"});
    if (iterations < 0)
      support::bad_argument({"solver: iterate(", iterations, ") asks for fewer than 0 iterations"});
    while (iterations > 0 && how() == ending::none) {
      const int now = std::min(iterations, most_iterations_a_launch);
      cycles_ += fabric_.template launch<&program::iterate>(all, now).cycles;
      const std::span<const f32> measured = first().history();
      history_.insert(history_.end(), measured.begin(), measured.end());
      iterations -= now;
    }
    return how();
  }
  /// Ends the iterations: applies postponed updates to x.
  ending close() {
    fabric_.template launch<&program::close>(all);
    return how();
  }
  /// In mixed precision, `beyond_precision` for what has converged to a tolerance below that of f16.
  ending how() {
    const ending reached = first().method.how();
    const bool is_exact = history_.empty();  // b = 0
    return Storage::is_mixed && !is_exact && reached == ending::converged && tolerance_ < 4 * rounding_of_half
               ? ending::beyond_precision
               : reached;
  }
  /// The cycles of all iterations, on an engine that counts them.
  u64 cycles() const { return cycles_; }
  /// The measure of each iteration: |r| / |b|, or the eigenvalue.
  const std::vector<f64>& history() const { return history_; }
  /// The power of two by which the weights of A were divided, so that totals neither overflow nor vanish.
  f64 scale() const { return scale_; }
  /// x as far as it has come, or the product, or the vector of the power method, one number for each cell.
  /// After `iterate` alone it may lack an update that the next iteration makes, or `close`.
  std::vector<f32> result() {
    constexpr auto measures = Method::measures;
    const f64 factor = measures == measure_of_result::solution  ? right_scale_ / scale_
                       : measures == measure_of_result::product ? right_scale_ * scale_
                                                                : 1;
    std::vector<f32> x(size_.count());
    each_line([&](program& p, int lx, int ly, std::size_t at) {
      const number* line = p.store.line(Method::result, lx, ly);
      for (int z = 0; z < size_.z; ++z)
        x[at + static_cast<std::size_t>(z)] = static_cast<f32>(static_cast<f32>(line[z]) * factor);
    });
    return x;
  }

 private:
  static constexpr f64 rounding_of_half = 1. / 2048;
  static const machine& checked(const machine& target) {
    if (!Storage::is_for_wafers && target.memory < host.memory)
      support::bad_argument({"solver: blocks lie on the heap of this computer, and a PE of ", target.name,
                             " has ", target.memory, " bytes: take one_line<nz>, which lies in them"});
    return target;
  }
  static int width(const cells& size, const options& how) {
    const int cores = how.threads > 0 ? how.threads : default_threads();
    return how.wide ? how.wide : std::clamp(size.x / 8, 1, cores);
  }
  static const cells& checked(const stencil& a, int wide, int high) {
    a.check();
    if (wide < 1 || high < 1 || wide > a.size.x || high > a.size.y)
      support::bad_argument({"solver: ", text(a.size), " cells have no block for each of ", wide, " x ", high,
                             " PEs; take at most one PE for each line along z"});
    if (const std::string why = Storage::misfit(a.size, wide, high); !why.empty())
      support::bad_argument({"solver: ", why});
    if constexpr (has_inverse)
      for (f32 w : a.centre)
        if (w == 0)
          support::bad_argument(
              {"solver: the centre of the operator has a zero, and its inverse is the preconditioner: take a "
               "method without one"});
    return a.size;
  }
  static constexpr bool has_inverse = requires { requires Method::inverse_diagonal >= 0; };
  static constexpr bool keeps(int vector) {
    if constexpr (has_inverse) return vector == Method::inverse_diagonal;
    else return false;
  }

  static f64 power_of_two_above(std::span<const f32> x) {
    f32 most = 0;
    for (f32 v : x) most = std::max(most, std::abs(v));
    return most > 0 ? std::ldexp(1., std::ilogb(most)) : 1;
  }
  static f64 power_of_two_above(const stencil& a) {
    f64 most = 0;
    for (const side_of_stencil& s : stencil_sides)
      for (f32 v : a.*s.weights) most = std::max(most, std::abs(f64{v}));
    return most > 0 ? std::ldexp(1., std::ilogb(most)) : 1;
  }

  /// A weight divided by the scale, in the numbers of the PEs. In f16 a small one beside a large one
  /// vanishes.
  number rounded(f64 weight, const cells& at) const {
    const auto w = static_cast<number>(weight);
    if (Storage::is_mixed && weight != 0 && static_cast<f32>(w) == 0)
      support::bad_argument(
          {"solver: in mixed precision a weight of cell (", at.x, ", ", at.y, ", ", at.z,
           ") vanishes beside the largest one, which is more than 2^24 times as large: scale the "
           "equations, or compute in f32"});
    return w;
  }
  grid::lines own(coord pe) const {
    return {grid::share(size_.x, wide_, pe.x), grid::share(size_.y, high_, pe.y)};
  }
  program& program_of(coord pe) { return fabric_.template program_at<program>(pe); }
  program& first() { return program_of({0, 0}); }
  template <class F>
  void each_pe(F f) {
    for (int y = 0; y < high_; ++y)
      for (int x = 0; x < wide_; ++x) f(program_of({x, y}), coord{x, y});
  }
  /// Calls f(program, x, y, index) for each line of all PEs: x and y in the block, and the index of the line
  /// in an array of the host.
  template <class F>
  void each_line(F f) {
    each_pe([&](program& p, coord pe) {
      const grid::lines l = own(pe);
      for (int x = 0; x < l.x.size(); ++x)
        for (int y = 0; y < l.y.size(); ++y) f(p, x, y, size_.index({l.x.from + x, l.y.from + y, 0}));
    });
  }

  void prepare(program& p, coord pe, const stencil& a) {
    const grid::lines l = own(pe);
    const int columns = l.x.size(), rows = l.y.size();
    const grid::lines inner{{pe.x > 0, columns - (pe.x + 1 < wide_)}, {pe.y > 0, rows - (pe.y + 1 < high_)}};
    p.shape(a, {columns, rows, size_.z}, inner);
    for (int x = 0; x < columns; ++x)
      for (int y = 0; y < rows; ++y)
        for (int z = 0; z < size_.z; ++z) {
          const cells at{l.x.from + x, l.y.from + y, z};
          for (int k = 0; k < stencil_points; ++k)
            if (const int there = z + stencil_sides[k].offset.z; there >= 0 && there < size_.z)
              p.store.weights(k, x, y)[z] =
                  rounded(weight_at(a, a.*stencil_sides[k].weights, at) / scale_, at);
          if constexpr (has_inverse)
            p.store.line(Method::inverse_diagonal, x, y)[z] = 1 / p.store.weights(0, x, y)[z];
        }
  }
  void scatter(int vector, std::span<const f32> b) {
    each_line([&](program& p, int x, int y, std::size_t at) {
      number* line = p.store.line(vector, x, y);
      for (int z = 0; z < size_.z; ++z)
        line[z] = static_cast<number>(b[at + static_cast<std::size_t>(z)] / right_scale_);
    });
  }

  cells size_;
  int wide_, high_;
  fabric fabric_;
  Method method_;
  f64 scale_ = 1, right_scale_ = 1, tolerance_ = 0;
  std::vector<f64> history_;
  u64 cycles_ = 0;
  bool is_loaded_ = false;
};

/// x of A x = b, as far as the solver has come.
template <class Solver>
solution<f32> solve(Solver& s, std::span<const f32> b, const limits& most) {
  s.load(b, most);
  if (s.iterate(most.iterations) == ending::none) s.close();
  return {s.result(), s.history(), s.how()};
}

// Templates, so that a program compiles only the methods that it calls.

/// BiCGStab, for any operator. Throws std::invalid_argument if the operator or b is invalid.
template <class Storage = block>
solution<f32> bicgstab(const stencil& a, std::span<const f32> b, const limits& most = {},
                       const options& how = {}) {
  solver_on<bicgstab_method, Storage> s{a, how};
  return solve(s, b, most);
}
/// Conjugate gradients, for symmetric positive definite operators; exceptions as those of bicgstab.
template <class Storage = block>
solution<f32> conjugate_gradient(const stencil& a, std::span<const f32> b, const limits& most = {},
                                 const options& how = {}) {
  solver_on<conjugate_gradient_method<preconditioner::none>, Storage> s{a, how};
  return solve(s, b, most);
}
/// Conjugate gradients with the inverse of the diagonal as preconditioner (Jacobi).
template <class Storage = block>
solution<f32> jacobi_conjugate_gradient(const stencil& a, std::span<const f32> b, const limits& most = {},
                                        const options& how = {}) {
  solver_on<conjugate_gradient_method<preconditioner::jacobi>, Storage> s{a, how};
  return solve(s, b, most);
}
/// The eigenvalue of largest absolute value of a symmetric operator, and its eigenvector, from a start
/// vector that is not orthogonal to it.
template <class Storage = block>
eigenpair<f32> power_method(const stencil& a, std::span<const f32> start, const limits& most = {},
                            const options& how = {}) {
  solver_on<power_iteration, Storage> s{a, how};
  s.load(start, most);
  if (s.iterate(most.iterations) == ending::none) s.close();
  eigenpair<f32> e{0, s.result(), s.history(), s.how()};
  for (f64& value : e.values) value *= s.scale();
  if (!e.values.empty()) e.value = e.values.back();
  return e;
}
/// The product A u.
template <class Storage = block>
std::vector<f32> product(const stencil& a, std::span<const f32> u, const options& how = {}) {
  solver_on<product_method, Storage> s{a, how};
  s.load(u);
  s.iterate(1);
  return s.result();
}

}  // namespace wsl::solver
