// SPDX-License-Identifier: MIT
// Sparse products in f64, and conjugate gradients and BiCGStab with the diagonal as preconditioner, beside
// Eigen. Three matrices: second differences on a plane and in a box, as constant coefficients, which wsl
// keeps once, and with a coefficient of its own in each place; and sixteen entries a row anywhere. A product
// of Eigen reads 12 bytes for each entry, and 16 bytes of both vectors for each row.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <wsl/kernel/sparse_solver.hpp>

#include "../part.hpp"
#include "eigen_sparse.hpp"

using namespace wsl;

namespace {

solver::sparse_matrix of_grid(const std::vector<int>& size, bool is_constant) {
  const solver::row_source rows = solver::grid_system{size}.matrix();
  std::vector<solver::sparse_matrix::entry> all;
  std::vector<solver::row_entry> row;
  for (int r = 0; r < rows.rows; ++r) {
    row.clear();
    rows.append(r, row);
    // symmetric, and the diagonal is at least the sum of the others; numbers do not repeat along the grid
    for (const solver::row_entry& e : row) {
      const u64 pair =
          static_cast<u64>(std::min(r, e.column)) << 32 | static_cast<u64>(std::max(r, e.column));
      const f64 any = static_cast<f64>((pair * 0x9e3779b97f4a7c15u) >> 40) / (1 << 26);
      const f64 own = is_constant ? 1 : e.column == r ? 1.5 + any : 1 - any;
      all.push_back({r, e.column, e.value * own});
    }
  }
  return solver::sparse_matrix::from_entries(rows.rows, rows.columns, std::move(all));
}
solver::sparse_matrix anywhere(int n, int each) {
  std::vector<solver::sparse_matrix::entry> all;
  u64 seed = 1;
  for (int r = 0; r < n; ++r) {
    all.push_back({r, r, 2. * each});
    for (int k = 1; k < each; ++k) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      all.push_back({r, static_cast<i32>((seed >> 33) % static_cast<u64>(n)),
                     static_cast<f64>(seed >> 40 & 255) / 255});
    }
  }
  return solver::sparse_matrix::from_entries(n, n, std::move(all));
}
std::vector<f64> some_numbers(int n) {
  std::vector<f64> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<f64>(i64{i} * 7919 % 1009) / 504.5 - 1);
  return x;
}
f64 difference(const std::vector<f64>& x, const std::vector<f64>& y) {
  f64 error = 0, whole = 0;
  for (std::size_t i = 0; i < x.size(); ++i) error += (x[i] - y[i]) * (x[i] - y[i]), whole += y[i] * y[i];
  return std::sqrt(error / whole);
}

/// One matrix of both programs.
struct problem {
  solver::sparse_matrix a;
  bench::eigen_sparse theirs;
  std::vector<f64> x = some_numbers(a.rows());

  explicit problem(solver::sparse_matrix m)
      : a(std::move(m)),
        theirs(a.rows(), {a.places.first().begin(), a.places.first().end()},
               {a.places.column().begin(), a.places.column().end()}, a.values) {}
};

/// Products on one and two threads.
struct products {
  static constexpr int times = 20;
  problem p;
  std::map<int, solver::sparse_solver> ours;

  explicit products(solver::sparse_matrix m) : p(std::move(m)) {
    for (int threads : {1, 2}) {
      solver::sparse_solver& s =
          ours.emplace(std::piecewise_construct, std::forward_as_tuple(threads),
                       std::forward_as_tuple(p.a, solver::products_only{},
                                             solver::sparse_options{.pes = 2, .threads = threads}))
              .first->second;
      s.load(p.x, {.tolerance = 0});
    }
  }
  f64 entries() const { return static_cast<f64>(p.a.count()) * times / 1e9; }
  f64 rate_of_ours(int threads) {
    solver::sparse_solver& s = ours.at(threads);
    return entries() / bench::seconds([&] { s.iterate(times); });
  }
  f64 rate_of_theirs(int threads) {
    std::vector<f64> y(p.x.size());
    return entries() / bench::seconds([&] {
             for (int i = 0; i < times; ++i) p.theirs.product(y, p.x, threads);
           });
  }
  void check() {
    std::vector<f64> y(p.x.size());
    p.theirs.product(y, p.x, 2);
    for (auto& [threads, s] : ours)
      if (const f64 error = difference(s.product(p.x), y); !(error < 1e-14))
        throw std::runtime_error("spmv: the product differs from Eigen's by " + std::to_string(error));
  }
};

bench::part part_of(const std::string& work,
                    std::vector<std::pair<std::string, solver::sparse_matrix>> matrices) {
  bench::part p{work, "Gentries/s", {}, {}};
  std::vector<std::shared_ptr<products>> all;
  for (auto& [name, m] : matrices) {
    const auto c = std::make_shared<products>(std::move(m));
    all.push_back(c);
    for (int threads : {2, 1}) {
      const std::string how = name + ", threads: " + std::to_string(threads);
      // the peer that the last line names has no more words than its name
      p.contestants.push_back({"wsl, " + how, [c, threads] { return c->rate_of_ours(threads); }});
      p.contestants.push_back({p.contestants.size() == 1 ? "Eigen" : "Eigen, " + how,
                               [c, threads] { return c->rate_of_theirs(threads); }});
    }
  }
  p.check = [all] {
    for (const auto& c : all) c->check();
  };
  return p;
}

const bool spmv = bench::enter("spmv", [] {
  return part_of(
      "y = A x, second differences on 1000 x 1000 cells, f64",
      {{"constant", of_grid({1000, 1000}, true)}, {"a number in each place", of_grid({1000, 1000}, false)}});
});
const bool spmv_box = bench::enter("spmv-3d", [] {
  return part_of("y = A x, second differences on 100^3 cells, f64",
                 {{"constant", of_grid({100, 100, 100}, true)},
                  {"a number in each place", of_grid({100, 100, 100}, false)}});
});
const bool spmv_random = bench::enter("spmv-random", [] {
  return part_of("y = A x, 200,000 rows with 16 entries anywhere, f64", {{"random", anywhere(200'000, 16)}});
});

/// A method from x = 0 to a tolerance. Both have the diagonal as preconditioner and two threads.
template <class Method>
struct solves {
  static constexpr f64 tolerance = 1e-8;
  static constexpr int most = 5000;
  using peer = bench::eigen_sparse::found (bench::eigen_sparse::*)(const std::vector<f64>&, f64, int,
                                                                   int) const;
  problem p;
  peer method;
  solver::sparse_solver ours{p.a, Method{}, {.with = solver::preconditioner::jacobi, .pes = 2, .threads = 2}};
  solver::sparse_solution found;
  bench::eigen_sparse::found theirs;

  solves(solver::sparse_matrix m, peer method_) : p(std::move(m)), method(method_) {}
  f64 rate_of_ours() {
    const f64 took =
        bench::seconds([&] { found = ours.solve(p.x, {.tolerance = tolerance, .iterations = most}); });
    return found.iterations() / took;
  }
  f64 rate_of_theirs() {
    const f64 took = bench::seconds([&] { theirs = (p.theirs.*method)(p.x, tolerance, most, 2); });
    return theirs.iterations / took;
  }
  void check() const {
    const f64 left = solver::serial::relative_residual(p.a, found.x, p.x),
              of_theirs = solver::serial::relative_residual(p.a, theirs.x, p.x);
    if (!(left <= 1.01 * tolerance) || !(of_theirs <= 2 * tolerance))
      throw std::runtime_error("krylov: the residuals are " + std::to_string(left) + " and " +
                               std::to_string(of_theirs));
  }
};
template <class Method>
bench::part krylov_part(const char* name, typename solves<Method>::peer method) {
  const auto c = std::make_shared<solves<Method>>(of_grid({300, 300}, true), method),
             own = std::make_shared<solves<Method>>(of_grid({300, 300}, false), method);
  return {std::string(name) + " on 300 x 300 cells to 1e-8, f64, the diagonal as preconditioner, two threads",
          "iterations/s",
          {{"wsl, constant", [c] { return c->rate_of_ours(); }},
           {"Eigen", [c] { return c->rate_of_theirs(); }},
           {"wsl, a number in each place", [own] { return own->rate_of_ours(); }},
           {"Eigen, a number in each place", [own] { return own->rate_of_theirs(); }}},
          [c, own] { c->check(), own->check(); }};
}
const bool cg = bench::enter("krylov", [] {
  return krylov_part<solver::conjugate_gradients>("conjugate gradients",
                                                  &bench::eigen_sparse::conjugate_gradient);
});
const bool bicg = bench::enter("krylov-bicgstab", [] {
  return krylov_part<solver::stabilized_bicg>("BiCGStab", &bench::eigen_sparse::bicgstab);
});

}  // namespace
