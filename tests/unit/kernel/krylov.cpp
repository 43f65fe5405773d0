// SPDX-License-Identifier: MIT
// Krylov methods on sparse matrices against their oracles: the serial methods in f64, residuals in f64, and
// systems on which methods must break down.
#include <wsl/engine/reference.hpp>
#include <wsl/kernel/sparse_solver.hpp>

#include <catch2/catch.hpp>
#include <functional>

using namespace wsl;
using namespace wsl::solver;

namespace {

/// Numbers without a pattern, from -1 to 1.
std::vector<f64> noise(std::size_t n, u32 seed = 1) {
  std::vector<f64> x(n);
  for (f64& v : x) v = static_cast<f64>(static_cast<i32>(seed = seed * 1664525 + 1013904223) / 65536) / 32768;
  return x;
}
u32 next_random(u32& seed) { return (seed = seed * 1664525 + 1013904223) >> 8; }

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
/// Some entries anywhere, and a dominant diagonal.
sparse_matrix scattered(int n, bool symmetric, int each = 5) {
  std::vector<sparse_matrix::entry> all;
  u32 seed = 7;
  std::vector<f64> sums(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r)
    for (int k = 0; k < each; ++k) {
      const int c = static_cast<int>(next_random(seed) % static_cast<u32>(n));
      const f64 v = static_cast<f64>(next_random(seed) % 1000) / 500 - 1;
      if (c == r) continue;
      all.push_back({r, c, v}), sums[static_cast<std::size_t>(r)] += std::abs(v);
      if (symmetric) all.push_back({c, r, v}), sums[static_cast<std::size_t>(c)] += std::abs(v);
    }
  for (int r = 0; r < n; ++r) all.push_back({r, r, sums[static_cast<std::size_t>(r)] + 0.1 + r % 5});
  return sparse_matrix::from_entries(n, n, all);
}
/// Diffusion with a wind along both axes of a grid: not symmetric.
sparse_matrix wind(int n) {
  std::vector<sparse_matrix::entry> all;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int r = y * n + x;
      all.push_back({r, r, 4.1});
      if (x > 0) all.push_back({r, r - 1, -1.4});
      if (x + 1 < n) all.push_back({r, r + 1, -0.6});
      if (y > 0) all.push_back({r, r - n, -1.2});
      if (y + 1 < n) all.push_back({r, r + n, -0.8});
    }
  return sparse_matrix::from_entries(n * n, n * n, all);
}
sparse_matrix poisson(std::vector<int> size, side_condition sides = side_condition::dirichlet) {
  return of_rows(grid_system{std::move(size), sides}.matrix());
}

f64 difference(const std::vector<f64>& x, const std::vector<f64>& y) {
  REQUIRE(x.size() == y.size());
  f64 error = 0, whole = 0;
  for (std::size_t i = 0; i < x.size(); ++i) error += (x[i] - y[i]) * (x[i] - y[i]), whole += y[i] * y[i];
  return std::sqrt(error / whole);
}
void throws_with(const std::function<void()>& call, const char* sentence) {
  CHECK_THROWS_WITH(call(), Catch::Matchers::Contains(sentence));
}

constexpr int pe_numbers[] = {1, 2, 3, 7};

/// The residuals of PEs and of the serial method agree, and so does x. Where the recurrence reaches the
/// tolerance a rounding before x does, the PEs go on for a few iterations.
void compare(const sparse_solution& s, const solution<f64>& expected, f64 rounding, int more_iterations = 4) {
  for (std::size_t i = 0; i < std::min(s.residuals.size(), expected.residuals.size()); ++i) {
    INFO("iteration " << i);
    CHECK(s.residuals[i] == Approx(expected.residuals[i]).epsilon(rounding).margin(rounding));
  }
  INFO(s.iterations() << " iterations, the reference takes " << expected.iterations());
  CHECK(std::abs(s.iterations() - expected.iterations()) <= more_iterations);
  CHECK(difference(s.x, expected.x) < 1e-5);
}

}  // namespace

TEST_CASE("sparse solver: the product is the serial one, on any number of PEs") {
  for (const sparse_matrix& a : {scattered(100, false), scattered(37, true, 20), poisson({13, 11}),
                                 poisson({5, 6, 7}, side_condition::periodic), wind(9), poisson({40})})
    for (int pes : pe_numbers) {
      INFO(a.rows() << " rows on " << pes << " PEs");
      const std::vector<f64> u = noise(static_cast<std::size_t>(a.rows())), expected = serial::product(a, u);
      for (const arithmetic numbers : {arithmetic::in_f64, arithmetic::mixed})
        CHECK(difference(sparse_product(a, u, {.numbers = numbers, .pes = pes, .threads = 2}), expected) <
              1e-14);
      CHECK(difference(sparse_product(a, u, {.numbers = arithmetic::in_f32, .pes = pes, .threads = 2}),
                       expected) < 1e-6);
    }
}

TEST_CASE("sparse solver: residuals fall as those of the serial methods") {
  const limits most{.tolerance = 1e-9, .iterations = 60};
  const sparse_matrix symmetric = scattered(120, true), any = wind(10), plate = poisson({9, 8});
  for (int pes : {1, 3}) {
    const sparse_options how{.with = preconditioner::jacobi, .restart = 12, .pes = pes, .threads = 1};
    const auto with = [&](preconditioner p) {
      sparse_options o = how;
      o.with = p;
      return o;
    };
    INFO(pes << " PEs");
    for (const sparse_matrix* a : {&symmetric, &plate}) {
      const std::vector<f64> b = noise(static_cast<std::size_t>(a->rows()));
      compare(sparse_solver(*a, conjugate_gradients{}, how).solve(b, most),
              serial::conjugate_gradient(*a, b, most, serial::jacobi(*a)), 1e-6);
      compare(sparse_solver(*a, conjugate_gradients{}, with(preconditioner::none)).solve(b, most),
              serial::conjugate_gradient(*a, b, most), 1e-6);
      compare(sparse_solver(*a, pipelined_conjugate_gradients{}, how).solve(b, most),
              serial::conjugate_gradient(*a, b, most, serial::jacobi(*a)), 1e-4);
      sparse_options bounds = how;
      bounds.smallest = 0.05, bounds.largest = 2;
      compare(sparse_solver(*a, chebyshev_iteration{}, bounds).solve(b, most),
              serial::chebyshev(*a, b, most, 0.05, 2, serial::jacobi(*a)), 1e-6);
    }
    const std::vector<f64> b = noise(static_cast<std::size_t>(any.rows()));
    compare(sparse_solver(any, stabilized_bicg{}, how).solve(b, most),
            serial::bicgstab(any, b, most, serial::jacobi(any)), 1e-3);
    compare(sparse_solver(any, generalized_minimal_residual{}, how).solve(b, most),
            serial::gmres(any, b, most, 12, serial::jacobi(any)), 1e-6);
    if (pes == 1)  // blocks end where a PE's rows end
      compare(sparse_solver(any, stabilized_bicg{}, with(preconditioner::block_jacobi)).solve(b, most),
              serial::bicgstab(any, b, most, serial::block_jacobi(any, how.block)), 1e-3);
  }
}

TEST_CASE("sparse solver: every method with every preconditioner and arithmetic reaches its tolerance") {
  const sparse_matrix a = poisson({21, 19});
  const std::vector<f64> b = noise(static_cast<std::size_t>(a.rows()));
  const auto check = [&](auto method) {
    for (preconditioner p : {preconditioner::none, preconditioner::jacobi, preconditioner::block_jacobi,
                             preconditioner::polynomial})
      for (arithmetic numbers : {arithmetic::in_f64, arithmetic::mixed, arithmetic::in_f32}) {
        const f64 tolerance = numbers == arithmetic::in_f32 ? 1e-4 : 1e-11;
        INFO(method.name << ", preconditioner " << int(p) << ", arithmetic " << int(numbers));
        sparse_solver s(a, method, {.with = p, .numbers = numbers, .restart = 50, .pes = 2, .threads = 1});
        const sparse_solution x = s.solve(b, {.tolerance = tolerance, .iterations = 3000});
        CHECK(x.converged());
        const f64 left = serial::relative_residual(a, x.x, b);
        CHECK(left <= tolerance * (numbers == arithmetic::in_f32 ? 1.5 : 1.001));
        CHECK(x.residual == Approx(left).epsilon(0.5));
      }
  };
  check(conjugate_gradients{});
  check(pipelined_conjugate_gradients{});
  check(stabilized_bicg{});
  check(generalized_minimal_residual{});
  check(chebyshev_iteration{});
}

TEST_CASE("sparse solver: preconditioners save iterations") {
  const sparse_matrix a = poisson({40, 40});
  const std::vector<f64> b = noise(1600);
  const auto iterations = [&](preconditioner p) {
    return sparse_solver(a, conjugate_gradients{}, {.with = p, .pes = 2, .threads = 1})
        .solve(b, {.tolerance = 1e-8})
        .iterations();
  };
  const int plain = iterations(preconditioner::none);
  CHECK(iterations(preconditioner::jacobi) == plain);  // the diagonal is constant
  CHECK(iterations(preconditioner::block_jacobi) < 0.9 * plain);
  CHECK(iterations(preconditioner::polynomial) < 0.3 * plain);
  // rows of very different sizes
  sparse_matrix steep = scattered(300, true);
  std::vector<f64> size(300);
  for (std::size_t r = 0; r < 300; ++r) size[r] = std::pow(10, static_cast<f64>(r % 7) - 3);
  steep.places.each([&](int r, int c, i64, i64 k) {
    steep.values[static_cast<std::size_t>(k)] *=
        size[static_cast<std::size_t>(r)] * size[static_cast<std::size_t>(c)];
  });
  const auto of_steep = [&](preconditioner p) {
    return sparse_solver(steep, conjugate_gradients{}, {.with = p})
        .solve(noise(300), {.tolerance = 1e-8, .iterations = 5000})
        .iterations();
  };
  CHECK(of_steep(preconditioner::jacobi) < 0.1 * of_steep(preconditioner::none));
}

TEST_CASE("sparse solver: threads change no bit, and several right sides share a matrix") {
  const sparse_matrix a = wind(10);
  const std::vector<std::vector<f64>> b{noise(100), noise(100, 5)};
  const limits most{.tolerance = 1e-6};
  const auto equal = [&](auto method, const sparse_options& how) {
    sparse_options one = how;
    one.threads = 1, one.pes = 4;
    const std::vector<sparse_solution> first = solve_each(a, method, b, most, one);
    CHECK(first[0].x != first[1].x);
    for (int threads : {2, 3}) {
      sparse_options several = one;
      several.threads = threads;
      const std::vector<sparse_solution> s = solve_each(a, method, b, most, several);
      for (std::size_t k = 0; k < 2; ++k) {
        CHECK(s[k].x == first[k].x);
        CHECK(s[k].residuals == first[k].residuals);
      }
    }
  };
  equal(stabilized_bicg{}, {.with = preconditioner::jacobi});
  equal(generalized_minimal_residual{}, {.with = preconditioner::block_jacobi, .numbers = arithmetic::mixed});
}

TEST_CASE("sparse solver: a few iterations at a time") {
  const sparse_matrix a = poisson({15, 15});
  const std::vector<f64> b = noise(225);
  const auto check = [&](auto method) {
    INFO(method.name);
    sparse_solver s(a, method, {.restart = 7, .pes = 2, .threads = 1});
    const sparse_solution whole = s.solve(b, {.tolerance = 0, .iterations = 11});
    CHECK(whole.how == ending::all_iterations);
    CHECK(whole.iterations() == 11);
    CHECK(whole.residual == Approx(serial::relative_residual(a, whole.x, b)).epsilon(1e-6));
    CHECK(whole.residual < 1);
    s.load(b, {.tolerance = 0});
    CHECK(s.iterate(4) == ending::none);
    CHECK(s.iterate(7) == ending::none);
    CHECK(s.close() == ending::all_iterations);
    CHECK(s.result().x == whole.x);
    CHECK(s.history() == whole.residuals);
    throws_with([&] { s.iterate(1); }, "load() begins anew");
  };
  check(conjugate_gradients{});
  check(pipelined_conjugate_gradients{});
  check(stabilized_bicg{});
  check(generalized_minimal_residual{});
  check(chebyshev_iteration{});
  CHECK(sparse_solver(a, conjugate_gradients{}).solve(b, {.iterations = 0}).how == ending::all_iterations);
}

TEST_CASE("sparse solver: scales far from 1 do no harm") {
  sparse_matrix a = poisson({10, 10});
  std::vector<f64> b = noise(100);
  const sparse_options how{
      .with = preconditioner::jacobi, .numbers = arithmetic::in_f32, .pes = 2, .threads = 1};
  const limits most{.tolerance = 1e-4};
  const sparse_solution plain = sparse_solver(a, conjugate_gradients{}, how).solve(b, most);
  for (f64& v : a.values) v *= 0x1p300;
  for (f64& v : b) v *= 0x1p-200;
  const sparse_solution scaled = sparse_solver(a, conjugate_gradients{}, how).solve(b, most);
  CHECK(scaled.residuals == plain.residuals);
  for (std::size_t i = 0; i < b.size(); ++i) REQUIRE(scaled.x[i] == plain.x[i] * 0x1p-500);
}

TEST_CASE("sparse solver: an x that f64 cannot hold has not converged") {
  const sparse_matrix a = sparse_matrix::from_entries(3, 3, {{0, 0, 1e-10}, {1, 1, 1e-10}, {2, 2, 1e-10}});
  sparse_solver s(a, conjugate_gradients{}, {});
  CHECK(s.solve(std::vector<f64>{1e300, 1, 1e300}).how == solver::ending::not_finite);
}

TEST_CASE("sparse solver: how a method ends is said") {
  const std::vector<f64> zeros(30), b = noise(30);
  const sparse_matrix a = poisson({30});
  CHECK(sparse_solver(a, conjugate_gradients{}).solve(zeros).converged());
  CHECK(sparse_solver(a, conjugate_gradients{}).solve(zeros).x == zeros);
  CHECK(sparse_solver(a, stabilized_bicg{}).solve(zeros).x == zeros);

  sparse_matrix negative = a;
  for (f64& v : negative.values) v = -v;
  sparse_matrix indefinite = a;
  indefinite.places.each([&](int r, int c, i64, i64 k) {
    if (r == c) indefinite.values[static_cast<std::size_t>(k)] = r % 2 ? 2 : -2;
  });
  for (const sparse_matrix& m : {negative, indefinite}) {
    CHECK(sparse_solver(m, conjugate_gradients{}).solve(b).how == ending::indefinite);
    CHECK(sparse_solver(m, pipelined_conjugate_gradients{}).solve(b).how == ending::indefinite);
    CHECK(sparse_solver(m, chebyshev_iteration{}).solve(b).how == ending::indefinite);
    const sparse_solution s = sparse_solver(m, generalized_minimal_residual{}).solve(b, {.tolerance = 1e-9});
    CHECK(s.converged());
    CHECK(serial::relative_residual(m, s.x, b) < 1e-8);
  }
  // (b, A b) is 0
  const sparse_matrix turn = sparse_matrix::from_entries(2, 2, {{0, 1, 1.}, {1, 0, -1.}});
  CHECK(sparse_solver(turn, stabilized_bicg{}).solve(std::vector<f64>{1, 1}).how == ending::breakdown);
  CHECK(sparse_solver(turn, generalized_minimal_residual{}).solve(std::vector<f64>{1, 1}).converged());
  // GMRES(1) makes no progress at all with it
  CHECK(
      sparse_solver(turn, generalized_minimal_residual{}, {.restart = 1}).solve(std::vector<f64>{1, 1}).how ==
      ending::stagnation);
  // singular, and b is not in the range
  const sparse_matrix singular =
      sparse_matrix::from_entries(2, 2, {{0, 0, 1.}, {0, 1, 1.}, {1, 0, 1.}, {1, 1, 1.}});
  for (const sparse_solution& s :
       {sparse_solver(singular, stabilized_bicg{}).solve(std::vector<f64>{1, 0}),
        sparse_solver(singular, generalized_minimal_residual{}).solve(std::vector<f64>{1, 0}),
        sparse_solver(singular, conjugate_gradients{}).solve(std::vector<f64>{1, 0})}) {
    CHECK(!s.converged());
    CHECK(s.how != ending::all_iterations);
    CHECK(s.residual > 0.5);
  }
  // in f64 that, and a tolerance below rounding, are told apart
  CHECK(sparse_solver(singular, generalized_minimal_residual{}).solve(std::vector<f64>{1, 0}).how ==
        ending::nearly_singular);
  CHECK(sparse_solver(poisson({20}), conjugate_gradients{}).solve(noise(20), {.tolerance = 1e-18}).how ==
        ending::as_exact_as_f64);
  CHECK(sparse_solver(poisson({20}), conjugate_gradients{}, {.numbers = arithmetic::mixed})
            .solve(noise(20), {.tolerance = 1e-18})
            .how == ending::as_exact_as_f64);
  // more than f32 can hold
  const sparse_solution rounded =
      sparse_solver(poisson({200}), conjugate_gradients{}, {.numbers = arithmetic::in_f32})
          .solve(noise(200), {.tolerance = 1e-9, .iterations = 5000});
  CHECK(rounded.how == ending::as_exact_as_numbers);
  CHECK(rounded.residual < 1e-2);
  // bounds that are far too small: the method widens them by itself
  const sparse_solution widened = sparse_solver(a, chebyshev_iteration{}, {.smallest = 0.01, .largest = 2})
                                      .solve(b, {.tolerance = 1e-6, .iterations = 3000});
  CHECK(widened.converged());
}

TEST_CASE(
    "sparse solver: with the tolerance 0 x becomes as exact as its numbers allow, and no more is tried") {
  const sparse_matrix a = poisson({12, 12});
  const std::vector<f64> b = noise(144);
  const auto check = [&](auto method) {
    for (const arithmetic numbers : {arithmetic::in_f64, arithmetic::mixed, arithmetic::in_f32}) {
      INFO(method.name << ", arithmetic " << int(numbers));
      const bool is_single = numbers == arithmetic::in_f32;
      const sparse_solution s = sparse_solver(a, method, {.numbers = numbers, .pes = 2, .threads = 1})
                                    .solve(b, {.tolerance = 0, .iterations = 1500});
      CHECK(s.how == (is_single ? ending::as_exact_as_numbers : ending::as_exact_as_f64));
      CHECK(s.residual < (is_single ? 1e-6 : 1e-15));
    }
  };
  check(conjugate_gradients{});
  check(pipelined_conjugate_gradients{});
  check(stabilized_bicg{});
  check(generalized_minimal_residual{});
  check(chebyshev_iteration{});
}

TEST_CASE("sparse solver: GMRES on a singular matrix ends with the x of least residual, and says its own") {
  constexpr int n = 12;
  const std::vector<f64> numbers = noise(n * n, 3);
  const auto at = [](int r, int c) { return static_cast<std::size_t>(r * n + c); };
  std::vector<sparse_matrix::entry> entries;
  for (int r = 0; r + 1 < n; ++r)
    for (int c = 0; c < n; ++c) {
      const f64 v = numbers[at(r, c)] + (r == c ? 4 : 0);
      entries.push_back({r, c, v});
      if (r < 2) entries.push_back({n - 1, c, (r + 1) * v});
    }
  const sparse_matrix rows = sparse_matrix::from_entries(n, n, entries);
  // the last row minus the first minus twice the second is zero, and so is that of any product
  const auto least_residual = [](const std::vector<f64>& b) {
    return std::abs(b[n - 1] - b[0] - 2 * b[1]) / std::sqrt(6.) / serial::norm(b);
  };
  const std::vector<f64> inconsistent = noise(n, 5), consistent = serial::product(rows, inconsistent);
  for (const preconditioner with : {preconditioner::none, preconditioner::jacobi})
    for (const arithmetic numbers_of : {arithmetic::in_f64, arithmetic::mixed})
      for (const int restart : {1, 5, n}) {
        INFO("preconditioner " << int(with) << ", arithmetic " << int(numbers_of) << ", restart " << restart);
        sparse_solver s(rows, generalized_minimal_residual{},
                        {.with = with, .numbers = numbers_of, .restart = restart, .pes = 2, .threads = 1});
        const limits most{.tolerance = 1e-10, .iterations = 500};
        const sparse_solution known = s.solve(consistent, most), best = s.solve(inconsistent, most);
        CHECK(known.residual == Approx(serial::relative_residual(rows, known.x, consistent)).margin(1e-12));
        if (restart > 1) CHECK(known.converged());

        const f64 residual = serial::relative_residual(rows, best.x, inconsistent),
                  least = least_residual(inconsistent);
        CHECK(best.residual == Approx(residual).epsilon(1e-6));
        CHECK(best.residuals.back() == Approx(residual).epsilon(0.02));
        CHECK(residual > 0.999 * least);
        CHECK(residual < (restart == n ? 1.1 * least : 1));
        if (restart == n)
          CHECK(best.how == (numbers_of == arithmetic::in_f64 ? ending::nearly_singular
                                                              : ending::nearly_singular_in_f32));
        else CHECK(best.how == ending::stagnation);
      }
}

TEST_CASE("sparse solver: a correction of rounding leaves x what it was") {
  // after the first step the residual is one that the matrix takes to zero
  const sparse_matrix ones =
      sparse_matrix::from_entries(2, 2, {{0, 0, 1.}, {0, 1, 1.}, {1, 0, 1.}, {1, 1, 1.}});
  for (const int restart : {1, 2, 5}) {
    const sparse_solution s = sparse_solver(ones, generalized_minimal_residual{}, {.restart = restart})
                                  .solve(std::vector<f64>{1, 0});
    CHECK(s.x[0] + s.x[1] == Approx(0.5));
    CHECK(s.residual == Approx(std::sqrt(0.5)));
    CHECK(s.residuals.back() == Approx(std::sqrt(0.5)));
  }
}

TEST_CASE("sparse solver: an invalid problem is named in a sentence") {
  const sparse_matrix a = poisson({6});
  const std::vector<f64> b(6, 1);
  throws_with([] { sparse_matrix::from_entries(2, 2, {{0, 2, 1.}}); },
              "the entry (0, 2) is outside of a matrix (2, 2)");
  throws_with([] { sparse_matrix::from_entries(2, 2, {{1, 0, NAN}}); },
              "has the number nan in row 1, column 0");
  throws_with([] { sparse_matrix::from_rows<f32>(1, 2, {0, 2}, {0, 1}, std::vector<f32>{1}); },
              "has 2 places and 1 values");
  throws_with(
      [] { sparse_solver(sparse_matrix::from_entries(2, 3, {{0, 0, 1.}, {1, 1, 1.}}), stabilized_bicg{}); },
      "the matrix is (2, 3): a system of equations has as many unknowns as equations");
  throws_with(
      [] { sparse_solver(sparse_matrix::from_entries(3, 3, {{0, 0, 1.}, {2, 2, 1.}}), stabilized_bicg{}); },
      "row 1 of the matrix is zero");
  throws_with([] { sparse_solver(sparse_matrix{}, stabilized_bicg{}); }, "the matrix has no rows");
  throws_with([] { sparse_solver(wind(3), conjugate_gradients{}); },
              "the matrix is not symmetric, and conjugate gradients is for symmetric positive definite ones");
  const sparse_matrix hollow = sparse_matrix::from_entries(2, 2, {{0, 1, 1.}, {1, 0, 1.}});
  for (preconditioner p : {preconditioner::jacobi, preconditioner::polynomial})
    throws_with(
        [&] { sparse_solver(hollow, stabilized_bicg{}, {.with = p}); },
        "the diagonal of the matrix is zero in row 0, and the preconditioner takes its inverse: take none");
  throws_with(
      [&] { sparse_solver(hollow, stabilized_bicg{}, {.with = preconditioner::block_jacobi, .block = 1}); },
      "the block of rows 0 to 0 of the matrix is singular, and the preconditioner takes its inverse: take "
      "blocks of another size, or none");
  CHECK(sparse_solver(hollow, generalized_minimal_residual{}).solve(std::vector<f64>{1, 2}).converged());
  CHECK(sparse_solver(hollow, stabilized_bicg{}, {.with = preconditioner::block_jacobi, .block = 2})
            .solve(std::vector<f64>{1, 2})
            .converged());
  throws_with([&] { sparse_solver(a, conjugate_gradients{}, {.with = preconditioner::multigrid}); },
              "a matrix does not tell its grid");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}, {.pes = 7}); },
              "6 unknowns do not give each of 7 PEs one");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}, {.restart = 0}); },
              ".restart} is 0; it is from 1 to");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}, {.block = 1000}); }, ".block} is 1000");
  throws_with([&] { sparse_solver(a, chebyshev_iteration{}, {.smallest = 1, .largest = 0.5}); },
              "the smaller one first");
  throws_with([&] { sparse_solver(a, chebyshev_iteration{}, {.smallest = -1e-9, .largest = 1}); },
              ".largest} are -1e-09 and 1; bounds of eigenvalues are positive");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}).solve(std::vector<f64>(5)); },
              "the right side has 5 numbers, and the system 6 unknowns");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}).solve(std::vector<f64>(6, INFINITY)); },
              "the right side has the number inf at place 0");
  for (const f64 tolerance : {-1e-9, f64{NAN}, 1.5})
    throws_with([&] { sparse_solver(a, conjugate_gradients{}).solve(b, {.tolerance = tolerance}); },
                "it is the part of |b| that is small enough, from 0 to 1");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}).solve(b, {.tolerance = -1e-9}); },
              "limits{.tolerance} is -1e-09");
  throws_with([&] { sparse_solver(a, conjugate_gradients{}).iterate(1); }, "iterate() follows load()");
  throws_with(
      [&] {
        sparse_solver s(a, conjugate_gradients{});
        s.load(b), s.iterate(-2);
      },
      "iterate(-2)");
  throws_with([] { grid_system{.size = {3, 0}}.check(); }, "at least one cell along each axis, not 0");
  throws_with([] { grid_system{.size = {2, 2, 2, 2}}.check(); }, "one to three axes, not 4");
  throws_with([] { grid_system{.size = {40000, 40000}}.check(); }, "is not numbered with 32 bits");
  throws_with([] { grid_system{.size = {1}, .sides = side_condition::periodic}.check(); }, "has no equation");
}

TEST_CASE("sparse solver: any engine computes the same bits") {
  const sparse_matrix a = scattered(90, true);
  const std::vector<f64> b = noise(90);
  for (const sparse_options& how :
       {sparse_options{.with = preconditioner::jacobi, .pes = 4, .threads = 1},
        sparse_options{.with = preconditioner::block_jacobi, .numbers = arithmetic::mixed, .pes = 3}}) {
    const sparse_solution expected = sparse_solver(a, conjugate_gradients{}, how).solve(b);
    sparse_solver s(a, conjugate_gradients{}, how, reference{});
    const sparse_solution found = s.solve(b);
    CHECK(found.x == expected.x);
    CHECK(found.residuals == expected.residuals);
    CHECK(found.how == ending::converged);
    CHECK(sparse_product(a, b, how, threaded{.threads = 3, .queues = depth::machine}) ==
          sparse_product(a, b, how));
  }
}

TEST_CASE("sparse solver: entries in any order make compressed rows") {
  const sparse_matrix a =
      sparse_matrix::from_entries(3, 3, {{2, 0, 1.}, {0, 2, 2.}, {0, 0, 3.}, {0, 2, 0.5}, {2, 2, 4.}});
  CHECK(a.count() == 4);
  CHECK(a.values == std::vector<f64>{3, 2.5, 1, 4});
  CHECK(a.places.row(0).size() == 2);
  CHECK(a.places.row(1).empty());
  CHECK(!a.is_symmetric());
  CHECK(poisson({4, 3}).is_symmetric());
  CHECK(!poisson({4, 3}).takes_constants_to_zero());
  CHECK(poisson({4, 3}, side_condition::neumann).takes_constants_to_zero());
}
