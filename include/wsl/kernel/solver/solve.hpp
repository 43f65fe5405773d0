// SPDX-License-Identifier: MIT
// The front end of the solvers, on arrays of the host:
//   const solver::solution<f32> s = solver::bicgstab(a, b);
//   s.x, s.residuals, text(s.how)
// `solver_on` does more: several right-hand sides with one operator, a few iterations at a time, or one line
// a PE within the limits of a machine. Results do not depend on threads, nor on the ranks of `mpi::world()`,
// bit for bit; the partition of the grid sets the order of additions in totals. A rank has the cells of its
// own PEs only; then all functions of a solver are collective, take the same on all ranks, and return the
// same.
#pragma once

#include <string_view>

#include "../../fabric/host_gather.hpp"
#include "../../host/device.hpp"
#include "../../support/bad_argument.hpp"
#include "../../support/type_name.hpp"
#include "../fail_together.hpp"
#include "../pe_a_thread.hpp"
#include "bicgstab.hpp"
#include "conjugate_gradient.hpp"
#include "mixed_pe.hpp"
#include "power_method.hpp"
#include "symmetry.hpp"

namespace wsl::solver {

/// The resources of this computer for a solver; 0 leaves a choice to the library.
struct options {
  int wide = 0, high = 1;  ///< PEs
  int threads = 0;         ///< as threaded{.threads}, of each process
};

template <class Method, class Storage = block>
class solver_on {
  using program = program_for<Method, Storage>;
  using number = typename program::vector_store::number;

 public:
  /// The bytes of a PE's SRAM that the program takes, with one line a PE.
  static constexpr int bytes = program_v<program>.bytes;

  /// On this computer: blocks of many lines, one for each thread unless `how` chooses otherwise. Or
  /// `solver_on(a, how, mpi::world())`, on the threads of all ranks. Throws std::invalid_argument if the
  /// operator or the grid of PEs is invalid, or the operator is not symmetric although the method needs that,
  /// and fault if another process has others.
  template <class Engine = threaded>
  explicit solver_on(const stencil& a, const options& how = {}, const Engine& engine = {})
      : solver_on(a, width(a.size, how, kernel::threads_in_all(engine, how.threads)), how.high, host,
                  kernel::with_partitions(engine, how.threads)) {}
  /// On wide x high PEs of a machine; throws fault if it is too small for them, and std::invalid_argument for
  /// blocks on a machine whose PEs have a memory of some size: blocks lie on the heap of this computer.
  template <class Engine>
  solver_on(const stencil& a, int wide, int high, const machine& target, const Engine& engine)
      : processes_(engine),
        size_(checked(a, wide, high)),
        wide_(wide),
        high_(high),
        fabric_(plan<Method, Storage>(checked(target), wide, high), engine) {
    scale_ = power_of_two_above(a);
    kernel::each_own_pe<program>(fabric_, [&](program& p, coord pe) { prepare(p, pe, a); });
  }

  int wide() const { return wide_; }
  int high() const { return high_; }

  /// Loads a right-hand side, or the start vector of the power method, and begins anew with x = 0. `b` has
  /// one number for each cell. Throws std::invalid_argument if it has not, or for limits below 0, and fault
  /// if another process has others.
  void load(std::span<const f32> b, const limits& most = {}) {
    processes_.require_same("right side or limit of a solver", [&](support::fingerprint& f) {
      f.add(b.data(), b.size_bytes()), most.describe(f);
    });
    most.check();
    tolerance_ = most.tolerance, is_loaded_ = true;
    checks::vector(size_, "the vector", b);
    right_scale_ = power_of_two_above(b);
    if constexpr (requires { Method{most}; }) method_ = Method{most};
    if constexpr (Storage::is_mixed) method_.round_factors();
    for (int v = 0; v < Method::vectors; ++v)
      if (!keeps(v))
        each_own_line([&](program& p, int x, int y, std::size_t) {
          std::fill_n(p.store.line(v, x, y), size_.z, number{});
        });
    each_pe([&](program* p, coord) {
      if (p) p->method = method_;
    });
    scatter(Method::right_side, b);
    if constexpr (requires { Method::starts_as_right_side; })
      for (int v : Method::starts_as_right_side) scatter(v, b);
    history_.clear();
    reached_ = method_.how();
  }

  /// Does up to `iterations` iterations, or until the method ends; returns how it ended, or `none`. Throws
  /// std::invalid_argument for fewer than 0.
  ending iterate(int iterations) {
    processes_.require_same_call("call of a solver", "iterate", iterations);
    if (!is_loaded_)
      support::bad_argument({"solver: iterate() follows load(), which brings the right-hand side"});
    if (iterations < 0)
      support::bad_argument({"solver: iterate(", iterations, ") asks for fewer than 0 iterations"});
    while (iterations > 0 && how() == ending::none) {
      const int now = std::min(iterations, most_iterations_a_launch);
      cycles_ += fabric_.template launch<&program::iterate>(all, now).cycles;
      take_what_is_reached();
      iterations -= now;
    }
    return how();
  }
  /// Ends the iterations: applies postponed updates to x.
  ending close() {
    processes_.require_same_call("call of a solver", "close");
    fabric_.template launch<&program::close>(all);
    take_what_is_reached();
    return how();
  }
  /// In mixed precision, `beyond_precision` for what has converged to a tolerance below that of f16.
  ending how() const {
    const bool is_exact = history_.empty();  // b = 0
    return Storage::is_mixed && !is_exact && reached_ == ending::converged &&
                   tolerance_ < 4 * rounding_of_half
               ? ending::beyond_precision
               : reached_;
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
    processes_.require_same_call("call of a solver", "result");
    constexpr auto measures = Method::measures;
    const f64 factor = measures == measure_of_result::solution  ? right_scale_ / scale_
                       : measures == measure_of_result::product ? right_scale_ * scale_
                                                                : 1;
    std::vector<number> numbers;
    std::vector<f32> x;
    host_gather lines(fabric_);
    kernel::fail_together(fabric_, [&] {
      numbers.resize(size_.count()), x.resize(size_.count());
      each_line([&](program* p, coord pe, int cx, int cy, std::size_t at) {
        lines.add(pe, p ? p->store.line(Method::result, cx, cy) : nullptr, &numbers[at],
                  static_cast<std::size_t>(size_.z));
      });
    });
    lines.run();
    std::transform(numbers.begin(), numbers.end(), x.begin(),
                   [=](number v) { return static_cast<f32>(static_cast<f32>(v) * factor); });
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
  static int width(const cells& size, const options& how, int threads) {
    return how.wide ? how.wide : std::clamp(size.x / 8, 1, threads);
  }
  const cells& checked(const stencil& a, int wide, int high) const {
    processes_.require_same("operator, method or grid of PEs of a solver", [&](support::fingerprint& f) {
      const std::string_view name = support::type_name<program>();
      a.describe(f), f.add(wide), f.add(high), f.add(name.data(), name.size());
    });
    a.check();
    if (wide < 1 || high < 1 || wide > a.size.x || high > a.size.y)
      support::bad_argument({"solver: ", text(a.size), " cells have no block for each of ", wide, " x ", high,
                             " PEs; take at most ", a.size.x, " x ", a.size.y,
                             " of them, one for each line along z"});
    if (const std::string why = Storage::misfit(a.size, wide, high); !why.empty())
      support::bad_argument({"solver: ", why});
    if constexpr (needs_symmetry<Method>) require_symmetry(a);
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
  /// The program of a PE, null on a process that does not run it.
  program* program_of(coord pe) {
    return fabric_.here(pe) ? &fabric_.template program_at<program>(pe) : nullptr;
  }
  template <class F>
  void each_pe(F f) {
    for (int y = 0; y < high_; ++y)
      for (int x = 0; x < wide_; ++x) f(program_of({x, y}), coord{x, y});
  }
  /// Calls f(program, PE, x, y, index) for each line of all PEs: x and y in the block, and the index of the
  /// line in an array of the host. The program is null on a process that does not run the PE.
  template <class F>
  void each_line(F f) {
    each_pe([&](program* p, coord pe) {
      const grid::lines l = own(pe);
      for (int x = 0; x < l.x.size(); ++x)
        for (int y = 0; y < l.y.size(); ++y) f(p, pe, x, y, size_.index({l.x.from + x, l.y.from + y, 0}));
    });
  }
  /// Calls f(program, x, y, index) for each line of this process.
  template <class F>
  void each_own_line(F f) {
    each_line([&](program* p, coord, int x, int y, std::size_t at) {
      if (p) f(*p, x, y, at);
    });
  }
  /// All PEs come to the same decisions, so those of the first one are those of all.
  void take_what_is_reached() {
    constexpr coord first{0, 0};
    const program* const p = program_of(first);
    struct {
      ending how = ending::none;
      int iterations = 0;
      f32 measured[most_iterations_a_launch]{};
    } own, known;
    if (p) {
      own.how = p->method.how(), own.iterations = static_cast<int>(p->history().size());
      std::copy(p->history().begin(), p->history().end(), own.measured);
    }
    host_gather progress(fabric_);
    progress.add(first, &own, &known, 1);
    progress.run();
    reached_ = known.how;
    history_.insert(history_.end(), known.measured, known.measured + known.iterations);
  }

  void prepare(program& p, coord pe, const stencil& a) {
    const grid::lines l = own(pe);
    const int columns = l.x.size(), rows = l.y.size();
    const grid::lines inner{{wide_ > 2 || pe.x > 0, columns - (wide_ > 2 || pe.x + 1 < wide_)},
                            {pe.y > 0, rows - (pe.y + 1 < high_)}};
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
    each_own_line([&](program& p, int x, int y, std::size_t at) {
      number* line = p.store.line(vector, x, y);
      for (int z = 0; z < size_.z; ++z)
        line[z] = static_cast<number>(b[at + static_cast<std::size_t>(z)] / right_scale_);
    });
  }

  kernel::agreement processes_;
  cells size_;
  int wide_, high_;
  fabric fabric_;
  Method method_;
  ending reached_ = ending::none;  ///< by all PEs, at the end of the last launch
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
  solution<f32> found{s.result(), s.history(), s.how()};
  // A and b are divided by powers of two, so that what has no end may be x alone.
  if (found.how == ending::converged && !all_finite(found.x)) found.how = ending::not_finite;
  return found;
}

// Templates, so that a program compiles only the methods that it calls. The last argument may be another
// engine, such as `mpi::world()`.

/// BiCGStab, for any operator. Throws std::invalid_argument if the operator or b is invalid.
template <class Storage = block, class Engine = threaded>
solution<f32> bicgstab(const stencil& a, std::span<const f32> b, const limits& most = {},
                       const options& how = {}, const Engine& engine = {}) {
  solver_on<bicgstab_method, Storage> s{a, how, engine};
  return solve(s, b, most);
}
/// Conjugate gradients, for symmetric positive definite operators; exceptions as those of bicgstab.
template <class Storage = block, class Engine = threaded>
solution<f32> conjugate_gradient(const stencil& a, std::span<const f32> b, const limits& most = {},
                                 const options& how = {}, const Engine& engine = {}) {
  solver_on<conjugate_gradient_method<preconditioner::none>, Storage> s{a, how, engine};
  return solve(s, b, most);
}
/// Conjugate gradients with the inverse of the diagonal as preconditioner (Jacobi).
template <class Storage = block, class Engine = threaded>
solution<f32> jacobi_conjugate_gradient(const stencil& a, std::span<const f32> b, const limits& most = {},
                                        const options& how = {}, const Engine& engine = {}) {
  solver_on<conjugate_gradient_method<preconditioner::jacobi>, Storage> s{a, how, engine};
  return solve(s, b, most);
}
/// The eigenvalue of largest absolute value of a symmetric operator, and its eigenvector, from a start
/// vector that is not orthogonal to it.
template <class Storage = block, class Engine = threaded>
eigenpair<f32> power_method(const stencil& a, std::span<const f32> start, const limits& most = {},
                            const options& how = {}, const Engine& engine = {}) {
  solver_on<power_iteration, Storage> s{a, how, engine};
  s.load(start, most);
  if (s.iterate(most.iterations) == ending::none) s.close();
  eigenpair<f32> e{0, s.result(), s.history(), s.how()};
  for (f64& value : e.values) value *= s.scale();
  if (!e.values.empty()) e.value = e.values.back();
  return e;
}
/// The product A u.
template <class Storage = block, class Engine = threaded>
std::vector<f32> product(const stencil& a, std::span<const f32> u, const options& how = {},
                         const Engine& engine = {}) {
  solver_on<product_method, Storage> s{a, how, engine};
  s.load(u);
  s.iterate(1);
  return s.result();
}

}  // namespace wsl::solver
