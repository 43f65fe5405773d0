// SPDX-License-Identifier: MIT
// Systems from a grid and their multigrid preconditioner: eigenvalues of the Laplacian, sides of all kinds,
// and numbers of iterations that do not grow with the grid.
#include <wsl/kernel/sparse_solver.hpp>

#include <catch2/catch.hpp>
#include <numeric>

using namespace wsl;
using namespace wsl::solver;

namespace {

constexpr f64 pi = 3.14159265358979323846;
constexpr side_condition all_sides[] = {side_condition::dirichlet, side_condition::neumann,
                                        side_condition::periodic};

std::vector<f64> noise(int n, u32 seed = 1) {
  std::vector<f64> x(static_cast<std::size_t>(n));
  for (f64& v : x) v = static_cast<f64>(static_cast<i32>(seed = seed * 1664525 + 1013904223) / 65536) / 32768;
  return x;
}
std::vector<f64> product(const row_source& a, const std::vector<f64>& u) {
  std::vector<f64> v;
  std::vector<row_entry> row;
  for (int r = 0; r < a.rows; ++r) {
    row.clear();
    a.append(r, row);
    f64 sum = 0;
    for (const row_entry& e : row) sum += e.value * u[static_cast<std::size_t>(e.column)];
    v.push_back(sum);
  }
  return v;
}
f64 mean(const std::vector<f64>& x) {
  f64 sum = 0;
  for (f64 v : x) sum += v;
  return sum / static_cast<f64>(x.size());
}
/// |b - its mean if `centred` - A x| / |b|
f64 residual(const grid_system& g, const std::vector<f64>& x, const std::vector<f64>& b) {
  std::vector<f64> r = product(g.matrix(), x);
  const f64 removed = g.is_singular() ? mean(b) : 0;
  f64 left = 0, whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const f64 right = b[i] - removed;
    left += (right - r[i]) * (right - r[i]), whole += right * right;
  }
  return std::sqrt(left / whole);
}

sparse_matrix of_rows(const row_source& a) {
  std::vector<sparse_matrix::entry> all;
  std::vector<row_entry> row;
  for (int r = 0; r < a.rows; ++r) {
    row.clear();
    a.append(r, row);
    for (const row_entry& e : row) all.push_back({r, e.column, e.value});
  }
  return sparse_matrix::from_entries(a.rows, a.columns, all);
}

/// A V-cycle as textbooks have it: Gauss and Seidel's method changes cell by cell in place, first those whose
/// coordinates have an even sum; the coarsest system is solved.
std::vector<f64> v_cycle(const grid_level& g, const std::vector<f64>& right, int sweeps) {
  const std::size_t n = right.size();
  const row_source a = g.matrix();
  std::vector<row_entry> row;
  const auto row_of = [&](std::size_t r) {
    row.clear();
    a.append(static_cast<int>(r), row);
  };
  if (n <= 64) {
    std::vector<f64> dense(n * n);
    for (std::size_t r = 0; r < n; ++r) {
      row_of(r);
      for (const row_entry& e : row) dense[r * n + static_cast<std::size_t>(e.column)] += e.value;
    }
    const std::vector<f64> inverse = symmetric_pseudo_inverse(dense, static_cast<int>(n));
    std::vector<f64> sum(n);
    for (std::size_t r = 0; r < n; ++r)
      sum[r] = std::inner_product(right.begin(), right.end(), inverse.begin() + static_cast<i64>(r * n), 0.);
    return sum;
  }
  const std::size_t m = static_cast<std::size_t>(g.axes().back().size());
  std::vector<f64> sum(n);
  const auto relax = [&](std::size_t parity) {
    for (std::size_t r = 0; r < n; ++r) {
      if ((r / m + r % m) % 2 != parity) continue;
      row_of(r);
      f64 left = right[r], diagonal = 0;
      for (const row_entry& e : row)
        if (e.column == static_cast<int>(r)) diagonal = e.value;
        else left -= e.value * sum[static_cast<std::size_t>(e.column)];
      sum[r] = left / diagonal;
    }
  };
  for (int s = 0; s < sweeps; ++s) relax(0), relax(1);
  std::vector<f64> rest = product(a, sum);
  for (std::size_t r = 0; r < n; ++r) rest[r] = right[r] - rest[r];
  const grid_level next = g.coarser();
  const std::vector<f64> more =
      product(g.interpolation_from(next), v_cycle(next, product(g.restriction_to(next), rest), sweeps));
  for (std::size_t r = 0; r < n; ++r) sum[r] += more[r];
  for (int s = 0; s < sweeps; ++s) relax(1), relax(0);
  return sum;
}

}  // namespace

TEST_CASE("multigrid: red-black sweeps are Gauss and Seidel's, cell by cell") {
  for (const std::vector<int>& size : {std::vector{24, 30}, {19, 13}})
    for (const auto& [sweeps, pes] : {std::pair{1, 1}, {1, 3}, {2, 4}}) {
      const grid_system g{size};
      INFO(g.cells() << " cells, " << sweeps << " sweeps, " << pes << " PEs");
      const std::vector<f64> b = noise(g.cells());
      const limits most{.tolerance = 1e-9, .iterations = 30};
      const solution<f64> expected = serial::conjugate_gradient(
          of_rows(g.matrix()), b, most,
          [&](const std::vector<f64>& r) { return v_cycle(g.finest(), r, sweeps); });
      const sparse_solution found = sparse_solver(g, conjugate_gradients{},
                                                  {.with = preconditioner::multigrid,
                                                   .sweeps = sweeps,
                                                   .smoother = relaxation::red_black,
                                                   .pes = pes,
                                                   .threads = 1})
                                        .solve(b, most);
      CHECK(found.converged());
      REQUIRE(found.iterations() >= expected.iterations());
      for (std::size_t i = 0; i < expected.residuals.size(); ++i)
        CHECK(found.residuals[i] == Approx(expected.residuals[i]).epsilon(1e-6).margin(1e-12));
    }
}

TEST_CASE("grid system: waves are eigenvectors") {
  const int n = 12, m = 7;
  for (side_condition sides : all_sides) {
    const grid_system g{{n, m}, sides};
    for (const auto& [kx, ky] : {std::pair{1, 1}, {2, 0}, {3, 2}}) {
      if (sides == side_condition::dirichlet && ky == 0) continue;
      const auto wave = [&](int k, int cells, int i) {
        if (sides == side_condition::dirichlet) return std::sin(pi * k * (i + 1) / (cells + 1));
        if (sides == side_condition::neumann) return std::cos(pi * k * (i + 0.5) / cells);
        return std::cos(2 * pi * k * i / cells);
      };
      const auto eigenvalue = [&](int k, int cells) {
        const f64 phase = sides == side_condition::dirichlet ? pi * k / (cells + 1)
                          : sides == side_condition::neumann ? pi * k / cells
                                                             : 2 * pi * k / cells;
        return 2 - 2 * std::cos(phase);
      };
      std::vector<f64> u;
      for (int x = 0; x < n; ++x)
        for (int y = 0; y < m; ++y) u.push_back(wave(kx, n, x) * wave(ky, m, y));
      const std::vector<f64> v = product(g.matrix(), u);
      const f64 factor = eigenvalue(kx, n) + eigenvalue(ky, m);
      for (std::size_t i = 0; i < u.size(); ++i) REQUIRE(v[i] == Approx(factor * u[i]).margin(1e-12));
    }
  }
}

TEST_CASE("grid system: interpolation keeps constants, and restriction is its transpose") {
  for (side_condition sides : all_sides)
    for (const std::vector<int>& size : {std::vector{8, 6}, {7, 5}, {9}, {5, 4, 3}, {2, 1}, {3, 2}}) {
      const grid_level fine = grid_system{size, sides}.finest(), coarse = fine.coarser();
      const row_source up = fine.interpolation_from(coarse), down = fine.restriction_to(coarse);
      REQUIRE(up.rows == fine.cells());
      REQUIRE(up.columns == coarse.cells());
      if (sides != side_condition::dirichlet)
        for (f64 v : product(up, std::vector<f64>(static_cast<std::size_t>(coarse.cells()), 1)))
          CHECK(v == Approx(1));
      const std::vector<f64> u = noise(fine.cells()), v = noise(coarse.cells(), 3);
      CHECK(serial::dot(product(down, u), v) == Approx(serial::dot(u, product(up, v))));
      // the coarse matrix is symmetric, and takes constants to zero where the fine one does
      const std::vector<f64> w = noise(coarse.cells(), 9);
      CHECK(serial::dot(product(coarse.matrix(), v), w) ==
            Approx(serial::dot(v, product(coarse.matrix(), w))));
      if (sides != side_condition::dirichlet)
        for (f64 z : product(coarse.matrix(), std::vector<f64>(v.size(), 1)))
          CHECK(z == Approx(0).margin(1e-12));
    }
}

TEST_CASE("multigrid: iterations do not grow with the grid") {
  std::vector<int> plain, with;
  for (int n : {64, 128, 256}) {
    const grid_system g{{n, n}};
    const std::vector<f64> b = noise(g.cells());
    const sparse_solution s =
        sparse_solver(g, conjugate_gradients{}, {.with = preconditioner::multigrid, .threads = 1})
            .solve(b, {.tolerance = 1e-8});
    CHECK(s.converged());
    CHECK(residual(g, s.x, b) < 1.01e-8);
    with.push_back(s.iterations());
  }
  INFO(with[0] << ", " << with[1] << ", " << with[2] << " iterations");
  CHECK(with[2] <= with[0] + 1);
  CHECK(with[2] <= 10);
}

TEST_CASE("multigrid: all sides, numbers of axes and odd sizes") {
  for (side_condition sides : all_sides)
    for (const std::vector<int>& size : {std::vector{300}, {33, 31}, {40, 9}, {9, 10, 11}, {64, 1}, {5, 3}})
      for (int pes : {1, 3}) {
        const grid_system g{size, sides};
        INFO(g.cells() << " cells, sides " << int(sides) << ", " << pes << " PEs");
        std::vector<f64> b = noise(g.cells());
        for (const auto& [numbers, smoother] : {std::pair{arithmetic::in_f64, relaxation::jacobi},
                                                {arithmetic::mixed, relaxation::jacobi},
                                                {arithmetic::in_f64, relaxation::red_black},
                                                {arithmetic::mixed, relaxation::red_black}}) {
          sparse_solver solver(g, conjugate_gradients{},
                               {.with = preconditioner::multigrid,
                                .numbers = numbers,
                                .smoother = smoother,
                                .pes = pes,
                                .threads = 1});
          const sparse_solution s = solver.solve(b, {.tolerance = 1e-9, .iterations = 100});
          CHECK(s.converged());
          CHECK(s.iterations() < 30);
          CHECK(residual(g, s.x, b) < 1.1e-9);
          CHECK(s.removes_means == g.is_singular());
          if (g.is_singular()) {
            CHECK(s.removed_mean == Approx(mean(b)));
            CHECK(std::abs(mean(s.x)) < 1e-10);
          }
        }
      }
}

TEST_CASE("grid system: singular systems with every method") {
  const grid_system g{{14, 15}, side_condition::neumann};
  std::vector<f64> b = noise(g.cells());
  for (f64& v : b) v += 0.3;
  const auto check = [&](auto method) {
    INFO(method.name);
    const sparse_solution s =
        sparse_solver(g, method, {.with = preconditioner::jacobi, .pes = 2, .threads = 1})
            .solve(b, {.tolerance = 1e-8, .iterations = 3000});
    CHECK(s.converged());
    CHECK(s.removes_means);
    CHECK(residual(g, s.x, b) < 1.1e-8);
    CHECK(std::abs(mean(s.x)) < 1e-10);
  };
  check(conjugate_gradients{});
  check(pipelined_conjugate_gradients{});
  check(stabilized_bicg{});
  check(generalized_minimal_residual{});
  check(chebyshev_iteration{});
}

TEST_CASE("grid system: a manufactured solution comes back, to the order of second differences") {
  // -u'' = f with u = sin(pi x) sin(pi y) on the unit square: the error of second differences is O(h^2).
  std::vector<f64> errors;
  for (int n : {15, 31, 63}) {
    const grid_system g{{n, n}};
    const f64 h = 1. / (n + 1);
    std::vector<f64> b, expected;
    for (int x = 1; x <= n; ++x)
      for (int y = 1; y <= n; ++y) {
        expected.push_back(std::sin(pi * x * h) * std::sin(pi * y * h));
        b.push_back(2 * pi * pi * h * h * expected.back());
      }
    const sparse_solution s = sparse_solver(g, conjugate_gradients{}, {.with = preconditioner::multigrid})
                                  .solve(b, {.tolerance = 1e-11});
    f64 error = 0;
    for (std::size_t i = 0; i < b.size(); ++i) error = std::max(error, std::abs(s.x[i] - expected[i]));
    errors.push_back(error);
  }
  CHECK(errors[0] / errors[1] == Approx(4).epsilon(0.02));
  CHECK(errors[1] / errors[2] == Approx(4).epsilon(0.02));
}

TEST_CASE("grid system: a right side of equal numbers is zero without its mean, whatever rounding leaves") {
  const grid_system g{{9, 11}, side_condition::periodic};
  const std::vector<f64> b(99, 0.1), zeros(99);
  for (const arithmetic numbers : {arithmetic::in_f64, arithmetic::mixed, arithmetic::in_f32}) {
    const sparse_options how{.numbers = numbers, .pes = 2, .threads = 1};
    for (const sparse_solution& s : {sparse_solver(g, conjugate_gradients{}, how).solve(b),
                                     sparse_solver(g, generalized_minimal_residual{}, how).solve(b)}) {
      CHECK(s.converged());
      CHECK(bool(s.x == zeros));
      CHECK(s.removed_mean == Approx(0.1));
    }
  }
}
