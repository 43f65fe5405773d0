// SPDX-License-Identifier: MIT
// The solvers against their oracles: the serial methods in f64, eigenvalues of the Laplacian, manufactured
// solutions, and problems on which methods must break down.
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/solver.hpp>

#include <catch2/catch.hpp>
#include <functional>

using namespace wsl;
using namespace wsl::solver;

namespace {

constexpr f64 pi = 3.14159265358979323846;

/// Numbers without a pattern, from -1 to 1.
std::vector<f32> noise(std::size_t n, u32 seed = 1) {
  std::vector<f32> x(n);
  for (f32& v : x) v = static_cast<f32>(static_cast<i32>(seed = seed * 1664525 + 1013904223) / 65536) / 32768;
  return x;
}
std::vector<f64> wide(const std::vector<f32>& x) { return {x.begin(), x.end()}; }

/// |x - y| / |y|
template <class X, class Y>
f64 difference(const X& x, const Y& y) {
  REQUIRE(x.size() == y.size());
  f64 error = 0, whole = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const f64 d = static_cast<f64>(x[i]) - static_cast<f64>(y[i]);
    error += d * d, whole += static_cast<f64>(y[i]) * static_cast<f64>(y[i]);
  }
  return std::sqrt(error / whole);
}

/// Neither symmetric nor equal anywhere: all weights differ from cell to cell.
stencil convection(const cells& size) {
  stencil a{.size = size};
  for (const side_of_stencil& s : stencil_sides) {
    std::vector<f32>& w = a.*s.weights;
    const bool centre = s.weights == &stencil::centre;
    w = noise(size.count(), static_cast<u32>(&s - stencil_sides) + 7);
    for (f32& v : w) v = centre ? 6.5f + v / 4 : -1 + v / 3;
  }
  return a;
}
/// Symmetric and positive definite: a conductivity between each two cells, very different along z.
stencil diffusion(const cells& size) {
  stencil a{.size = size};
  const auto between = [&](const cells& c, const cells& there) {
    return 1 + static_cast<f32>((size.index(c) + (size.has(there) ? size.index(there) : 0)) % 5) +
           static_cast<f32>(c.z + there.z);
  };
  for (const side_of_stencil& s : stencil_sides) (a.*s.weights).assign(size.count(), 0);
  for (int x = 0; x < size.x; ++x)
    for (int y = 0; y < size.y; ++y)
      for (int z = 0; z < size.z; ++z)
        for (const side_of_stencil& s : std::span(stencil_sides).subspan(1)) {
          const cells here{x, y, z}, there{x + s.offset.x, y + s.offset.y, z + s.offset.z};
          (a.*s.weights)[size.index(here)] = -between(here, there);
          a.centre[size.index(here)] += between(here, there);
        }
  return a;
}

/// Compiled once: each assertion of Catch2 is some hundred lines of code.
void throws_with(const std::function<void()>& call, const char* sentence) {
  CHECK_THROWS_WITH(call(), Catch::Matchers::Contains(sentence));
}

const std::vector<cells> odd_sizes{{1, 1, 1}, {1, 1, 37}, {1, 13, 5}, {17, 1, 16},
                                   {3, 2, 1}, {9, 8, 7},  {11, 7, 33}};

}  // namespace

TEST_CASE("solver: the product is the serial one, on all rectangles") {
  for (const cells& size : odd_sizes)
    for (const options& how : {options{1, 1, 1}, options{2, 1, 2}, options{3, 2, 3}, options{17, 13, 2}}) {
      const stencil a = convection(size);
      const std::vector<f32> u = noise(size.count());
      const options fits{std::min(how.wide, size.x), std::min(how.high, size.y), how.threads};
      INFO(text(size) << " cells on " << fits.wide << " x " << fits.high << " PEs");
      CHECK(difference(product(a, u, fits), serial::product(a, wide(u))) < 1e-6);
    }
}

TEST_CASE("solver: residuals fall as those of the serial methods") {
  for (const cells& size : odd_sizes) {
    INFO(text(size) << " cells");
    const std::vector<f32> b = noise(size.count());
    const limits few{.tolerance = 1e-5, .iterations = 12};
    const options how{std::min(3, size.x), std::min(2, size.y), 2};
    const stencil any = convection(size), symmetric = diffusion(size);
    const auto compare = [&](const solution<f32>& s, const solution<f64>& expected) {
      for (std::size_t i = 0; i < std::min(s.residuals.size(), expected.residuals.size()); ++i) {
        INFO("iteration " << i);
        CHECK(s.residuals[i] == Approx(expected.residuals[i]).epsilon(0.02).margin(1e-6));
      }
      CHECK(std::abs(s.iterations() - expected.iterations()) <= 1);
      CHECK(difference(s.x, expected.x) < (s.converged() ? 1e-4 : 1e-3));
    };
    compare(bicgstab(any, b, few, how), serial::bicgstab(any, wide(b), few));
    compare(conjugate_gradient(symmetric, b, few, how), serial::conjugate_gradient(symmetric, wide(b), few));
    compare(jacobi_conjugate_gradient(symmetric, b, few, how),
            serial::conjugate_gradient(symmetric, wide(b), few, true));
  }
}

TEST_CASE("solver: a manufactured solution comes back") {
  const cells size{12, 10, 20};
  std::vector<f64> expected(size.count());
  for (int x = 0; x < size.x; ++x)
    for (int y = 0; y < size.y; ++y)
      for (int z = 0; z < size.z; ++z)
        expected[size.index({x, y, z})] = std::sin(0.3 * x) + std::cos(0.7 * y) * z / 10;
  const auto check = [&](const stencil& a, auto method) {
    const std::vector<f64> right = serial::product(a, expected);
    const std::vector<f32> b(right.begin(), right.end());
    const solution<f32> s = method(a, b, limits{.tolerance = 1e-6}, options{}, threaded{});
    CHECK(s.converged());
    CHECK(serial::relative_residual(a, s.x, b) < 3e-6);
    CHECK(difference(s.x, expected) < 1e-4);
    return s.iterations();
  };
  check(convection(size), bicgstab<>);
  check(diffusion(size), bicgstab<>);
  CHECK(check(diffusion(size), jacobi_conjugate_gradient<>) < check(diffusion(size), conjugate_gradient<>));
}

TEST_CASE("solver: the power method finds the Laplacian's largest eigenvalue") {
  for (const cells& size : {cells{1, 1, 4}, cells{5, 4, 3}, cells{3, 6, 1}}) {
    const auto along = [](int n) { return 2 * std::cos(pi / (n + 1)); };
    const f64 exact = 6 + along(size.x) + along(size.y) + along(size.z);
    const eigenpair<f32> e =
        power_method({.size = size}, noise(size.count()), {.tolerance = 1e-8, .iterations = 400},
                     {std::min(2, size.x), std::min(2, size.y), 2});
    CHECK(e.value == Approx(exact).epsilon(1e-5));
    std::vector<f64> wave(size.count());
    for (int x = 0; x < size.x; ++x)
      for (int y = 0; y < size.y; ++y)
        for (int z = 0; z < size.z; ++z)
          wave[size.index({x, y, z})] = ((x + y + z) % 2 ? -1 : 1) * std::sin(pi * (x + 1) / (size.x + 1)) *
                                        std::sin(pi * (y + 1) / (size.y + 1)) *
                                        std::sin(pi * (z + 1) / (size.z + 1));
    CHECK(std::abs(serial::dot(wide(e.vector), wave)) / serial::norm(wave) == Approx(1).epsilon(1e-3));
    const eigenpair<f64> serially =
        serial::power_method({.size = size}, wide(noise(size.count())), {.tolerance = 0, .iterations = 10});
    for (std::size_t i = 0; i < std::min<std::size_t>(10, e.values.size()); ++i)
      CHECK(e.values[i] == Approx(serially.values[i]).epsilon(1e-5));
  }
}

TEST_CASE("solver: threads change no bit") {
  const cells size{13, 9, 21};
  const std::vector<f32> b = noise(size.count());
  const limits few{.tolerance = 0, .iterations = 70};  // more than one launch
  const auto equal = [&](auto method, const stencil& a) {
    const auto first = method(a, b, few, options{5, 3, 1}, threaded{});
    for (int threads : {2, 3, 8}) {
      const auto s = method(a, b, few, options{5, 3, threads}, threaded{});
      CHECK(s.x == first.x);
      CHECK(s.residuals == first.residuals);
    }
  };
  equal(bicgstab<>, convection(size));
  equal(jacobi_conjugate_gradient<>, diffusion(size));
}

TEST_CASE("solver: sides so long that they go from memory to memory") {
  const cells size{5, 91, 96};  // 8736 words, for which a neighbour listens while it computes
  const stencil a = convection(size);
  const std::vector<f32> b = noise(size.count());
  const limits most{.tolerance = 1e-3, .iterations = 20};
  const solution<f64> expected = serial::bicgstab(a, wide(b), most);
  for (const options& how : {options{3, 1, 2}, options{5, 1, 1}, options{2, 2, 3}}) {
    INFO(how.wide << " x " << how.high << " PEs");
    solver_on<bicgstab_method> s{a, how};
    const solution<f32> found = solve(s, b, most);
    CHECK(found.converged());
    CHECK(std::abs(found.iterations() - expected.iterations()) <= 1);
    CHECK(serial::relative_residual(a, found.x, b) < 1.1e-3);
    // Neighbours that have listened when the method ended hear nothing of that in the next solution.
    s.load(b, most);
    while (s.iterate(1) == ending::none) {}
    CHECK(s.history() == found.residuals);
    const bool same = s.result() == found.x;
    CHECK(same);
  }
}

TEST_CASE("solver: totals of few PEs and of many") {
  const cells size{12, 5, 3};
  const stencil a = convection(size);
  const std::vector<f32> b = noise(size.count());
  const solution<f64> expected = serial::bicgstab(a, wide(b), {.iterations = 5});
  for (const options& how : {options{12, 5, 2}, options{11, 4, 1}, options{11, 3, 3}, options{1, 5, 1}}) {
    INFO(how.wide << " x " << how.high << " PEs");
    const solution<f32> s = bicgstab(a, b, {.iterations = 5}, how);
    for (std::size_t i = 0; i < s.residuals.size(); ++i)
      CHECK(s.residuals[i] == Approx(expected.residuals[i]).epsilon(0.02).margin(1e-6));
    CHECK(bicgstab(a, b, {.iterations = 5}, how, reference{}).x == s.x);
  }
}

TEST_CASE("solver: a wafer with one line a PE, on both engines") {
  const cells size{6, 5, 21};
  const stencil a = convection(size);
  const std::vector<f32> b = noise(size.count());
  const limits most{.tolerance = 1e-5};
  const solution<f64> expected = serial::bicgstab(a, wide(b), most);
  const auto on_wafer = [&](const auto& engine) {
    solver_on<bicgstab_method, one_line<21>> s{a, size.x, size.y, wse2, engine};
    return solve(s, b, most);
  };
  const solution<f32> s = on_wafer(threaded{.threads = 2, .pes_per_partition = 4});
  CHECK(s.converged());
  CHECK(difference(s.x, expected.x) < 1e-4);
  CHECK(on_wafer(reference{}).x == s.x);
  CHECK(on_wafer(timed{}).x == s.x);
}

TEST_CASE("solver: cycles of an iteration on a wafer") {
  constexpr int nz = 100;
  const cells size{8, 8, nz};
  const auto cycles = [&](auto&& s, const std::vector<f32>& b) {
    s.load(b, {.tolerance = 0});
    s.iterate(2);
    const u64 begun = s.cycles();
    s.iterate(4);
    return (s.cycles() - begun) / 4;
  };
  const std::vector<f32> b = noise(size.count());
  const u64 any =
      cycles(solver_on<bicgstab_method, one_line<nz>>{convection(size), size.x, size.y, wse2, timed{}}, b);
  const u64 symmetric =
      cycles(solver_on<conjugate_gradient_method<preconditioner::none>, one_line<nz>>{diffusion(size), size.x,
                                                                                      size.y, wse2, timed{}},
             b);
  INFO(any << " and " << symmetric << " cycles an iteration");
  // Words out and in on four sides for each product, and the operations; then two totals of two dimensions
  // each.
  const u64 totals = 2 * 2 * (6 * 8 + 6 * 8);
  CHECK(any >= (2 * 8 + 2 * 7 + 13) * nz);
  CHECK(any < (2 * 8 + 2 * 7 + 13) * nz + 4 * totals);
  CHECK(symmetric >= (8 + 7 + 5) * nz);
  CHECK(symmetric < (8 + 7 + 5) * nz + 4 * totals);
}

TEST_CASE("solver: several right sides, and a few iterations at a time") {
  const cells size{9, 8, 7};
  const stencil a = convection(size);
  const std::vector<f32> b = noise(size.count()), c = noise(size.count(), 5);
  solver_on<bicgstab_method> s{a, {2, 2, 2}};
  const solution<f32> whole = solve(s, b, {.iterations = 9});
  CHECK(solve(s, c, {}).x != whole.x);
  s.load(b);
  CHECK(s.iterate(4) == ending::none);
  CHECK(s.iterate(5) == ending::none);
  CHECK(s.close() == ending::all_iterations);
  CHECK(s.result() == whole.x);
  CHECK(s.history() == whole.residuals);
}

TEST_CASE("solver: scales far from 1 do no harm") {
  const cells size{5, 4, 9};
  stencil a = convection(size);
  std::vector<f32> b = noise(size.count());
  const solution<f32> plain = bicgstab(a, b);
  for (const side_of_stencil& s : stencil_sides)
    for (f32& w : a.*s.weights) w *= 0x1p60f;
  for (f32& v : b) v *= 0x1p-50f;
  const solution<f32> scaled = bicgstab(a, b);
  CHECK(scaled.residuals == plain.residuals);
  for (std::size_t i = 0; i < b.size(); ++i) REQUIRE(scaled.x[i] == plain.x[i] * 0x1p-110f);
}

TEST_CASE("solver: how a method ends is said") {
  const cells size{4, 3, 5};
  const std::vector<f32> zeros(size.count()), b = noise(size.count());
  const stencil laplacian{.size = size};
  CHECK(bicgstab(laplacian, zeros).converged());
  CHECK(bicgstab(laplacian, zeros).x == zeros);
  CHECK(conjugate_gradient(laplacian, zeros).converged());
  CHECK(bicgstab(laplacian, b, {.iterations = 2}).how == ending::all_iterations);
  CHECK(conjugate_gradient(laplacian, b, {.iterations = 2}).how == ending::all_iterations);
  CHECK(serial::relative_residual(laplacian, bicgstab(laplacian, b, {.iterations = 2}).x, b) ==
        Approx(bicgstab(laplacian, b, {.iterations = 2}).residuals[1]).epsilon(1e-4));

  stencil nothing{.size = size};
  for (const side_of_stencil& s : stencil_sides) (nothing.*s.weights) = {0};
  CHECK(bicgstab(nothing, b).how == ending::singular);
  CHECK(conjugate_gradient(nothing, b).how == ending::indefinite);
  CHECK(power_method(nothing, b).how == ending::singular);
  CHECK(power_method(laplacian, zeros).how == ending::singular);

  stencil turn{.size = {2, 1, 1}};  // (0 1; -1 0): (b, A b) is 0
  turn.centre = {0}, turn.west = {-1}, turn.east = {1};
  CHECK(bicgstab(turn, std::vector<f32>{1, 1}).how == ending::breakdown);

  stencil negative{.size = size};
  negative.centre = {-7};
  CHECK(conjugate_gradient(negative, b).how == ending::indefinite);
  CHECK(jacobi_conjugate_gradient(negative, b).how == ending::indefinite);
  CHECK(bicgstab(negative, b).converged());

  // Beyond what f32 can reach the method ends by itself, or goes on with finite numbers: 64^3 divided zero by
  // zero after 426 iterations.
  const solution<f32> beyond = bicgstab(laplacian, b, {.tolerance = 0, .iterations = 600});
  CHECK(beyond.how != ending::not_finite);
  CHECK(serial::relative_residual(laplacian, beyond.x, b) < 1e-5);
}

TEST_CASE("solver: in f32 the recurrence falls on where b - A x does not") {
  const cells size{9, 8, 16};
  const stencil a = diffusion(size);
  const std::vector<f32> b = noise(size.count());
  for (const solution<f32>& s :
       {bicgstab(a, b, {.tolerance = 1e-12}), conjugate_gradient(a, b, {.tolerance = 1e-12})}) {
    CHECK(s.converged());
    CHECK(s.residuals.back() <= 1e-12);
    const f64 residual = serial::relative_residual(a, s.x, b);
    CHECK(residual > 1e-8);
    CHECK(residual < 1e-5);
  }
}

TEST_CASE("solver: weights beyond the grid, and rounding, leave an operator symmetric") {
  const std::vector<f32> b(60, 1);
  stencil rounded = diffusion({4, 3, 5});
  for (f32& v : rounded.east) v *= 1 + 1e-6f;
  CHECK(conjugate_gradient(rounded, b).converged());
  // weights for each z, of which the first down and the last up have no neighbour
  CHECK(conjugate_gradient(
            {.size = {4, 3, 5}, .centre = {20}, .down = {9, 1, 2, 3, 4}, .up = {1, 2, 3, 4, 9}}, b)
            .converged());
  CHECK(conjugate_gradient({.size = {60, 1, 1}, .north = {7}, .up = {-8}}, b).converged());
}

TEST_CASE("solver: an x that f32 cannot hold has not converged") {
  solver::stencil a{.size = {4, 4, 4}};
  for (const auto& side : solver::stencil_sides)
    for (f32& w : a.*side.weights) w = std::ldexp(w, -120);
  std::vector<f32> b(64);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<f32>(i) * 100 - 3000;
  CHECK(solver::bicgstab(a, b).how == solver::ending::not_finite);
  CHECK(solver::conjugate_gradient(a, b).how == solver::ending::not_finite);
}

TEST_CASE("solver: an invalid problem is named in a sentence") {
  const cells size{4, 3, 5};
  const std::vector<f32> b(size.count(), 1);
  throws_with([&] { bicgstab({.size = {4, 0, 5}}, b); }, "at least one cell along each axis, not 4 x 0 x 5");
  throws_with([&] { bicgstab({.size = size, .up = {1, 2}}, b); },
              "the weight up has 1 number, 5 (one for each z) or 60");
  throws_with([&] { bicgstab({.size = size, .down = {NAN}}, b); },
              "the weight down has the number nan at place 0");
  throws_with([&] { bicgstab({.size = size}, std::vector<f32>(59)); },
              "has 59 numbers; a grid of 4 x 3 x 5 cells needs 60");
  throws_with([&] { bicgstab({.size = size}, std::vector<f32>(60, INFINITY)); }, "it takes finite ones");
  throws_with([&] { bicgstab({.size = size}, b, {}, {.wide = 5}); },
              "no block for each of 5 x 1 PEs; take at most 4 x ");
  throws_with([&] { jacobi_conjugate_gradient({.size = size, .centre = {0}}, b); },
              "its inverse is the preconditioner");
  throws_with([&] { conjugate_gradient(convection(size), b); }, "the operator is not symmetric");
  throws_with([&] { jacobi_conjugate_gradient({.size = size, .south = {-2}}, b); },
              "the weight south of cell (0, 0, 0) is -2, and north of cell (0, 1, 0) is -1; ");
  stencil uneven = diffusion(size);
  uneven.up[size.index({3, 2, 3})] *= 1.001f;
  throws_with([&] { conjugate_gradient(uneven, b); }, "the weight up of cell (3, 2, 3) is ");
  throws_with([&] { conjugate_gradient({.size = size, .down = {9, 1, 2, 3, 4}, .up = {1, 2, 3, 5, 9}}, b); },
              "the weight up of cell (0, 0, 3) is 5, and down of cell (0, 0, 4) is 4; conjugate "
              "gradients are for symmetric positive definite operators: take BiCGStab");
  for (const f64 tolerance : {-1e-3, f64{NAN}, f64{INFINITY}}) {
    throws_with([&] { bicgstab({.size = size}, b, {.tolerance = tolerance}); }, "limits{.tolerance} is ");
    throws_with([&] { serial::bicgstab({.size = size}, wide(b), {.tolerance = tolerance}); }, "from 0 to 1");
  }
  throws_with([&] { power_method({.size = size}, b, {.iterations = -1}); }, "limits{.iterations} is -1");
  throws_with(
      [&] {
        solver_on<bicgstab_method> s({.size = size});
        s.load(b), s.iterate(-2);
      },
      "iterate(-2)");
  throws_with([&] { solver_on<bicgstab_method>({.size = size}).iterate(2); }, "iterate() follows load()");
  throws_with(
      [&] {
        stencil steep{.size = {2, 2, 5}};
        steep.centre.assign(20, 1), steep.centre[7] = 1e9f;
        solver_on<bicgstab_method, one_line<5, precision::mixed>>(steep, 2, 2, wse2, threaded{});
      },
      "vanishes beside the largest one");
  throws_with([&] { solver_on<bicgstab_method>({.size = size}, 4, 3, wse2, threaded{}); },
              "blocks lie on the heap of this computer, and a PE of wse2 has 49152 bytes");
  using wafer = solver_on<bicgstab_method, one_line<5>>;
  throws_with([&] { (wafer{stencil{.size = {4, 3, 6}}, 4, 3, wse2, threaded{}}); },
              "one_line<5> has 5 cells along z, and the grid has 6");
  throws_with([&] { (wafer{stencil{.size = size}, 2, 3, wse2, threaded{}}); },
              "a grid of 4 x 3 lines is on as many PEs, not on 2 x 3");
}

TEST_CASE("solver: in f16 it goes as in f32 until f16 can tell no more") {
  using gradients = conjugate_gradient_method<preconditioner::none>;
  const auto compare = [&]<class Method, int nz>(std::type_identity<Method>, std::integral_constant<int, nz>,
                                                 const stencil& a, const machine& target) {
    INFO(text(a.size) << " cells, " << target.name);
    std::vector<f64> expected = wide(noise(a.size.count(), 5));
    const std::vector<f64> right = serial::product(a, expected);
    const std::vector<f32> b(right.begin(), right.end());
    const limits most{.tolerance = 1e-4, .iterations = 60};
    const auto with = [&]<precision numbers>(std::integral_constant<precision, numbers>, auto engine) {
      solver_on<Method, one_line<nz, numbers>> s{a, a.size.x, a.size.y, target, engine};
      return solve(s, b, most);
    };
    using single = std::integral_constant<precision, precision::single>;
    using mixed = std::integral_constant<precision, precision::mixed>;
    const solution<f32> in_f32 = with(single{}, threaded{.threads = 1}), in_f16 = with(mixed{}, timed{});
    REQUIRE(in_f32.converged());
    CHECK(in_f16.how == ending::beyond_precision);
    for (std::size_t i = 0; i < std::min(in_f32.residuals.size(), in_f16.residuals.size()); ++i)
      if (in_f32.residuals[i] > 5e-3) CHECK(in_f16.residuals[i] == Approx(in_f32.residuals[i]).epsilon(0.1));
    // The rounding of f16 is 2^-11; that of x alone leaves about this residual.
    CHECK(serial::relative_residual(a, in_f16.x, b) < 2.5e-3);
    CHECK(difference(in_f16.x, expected) < 5e-3);
    CHECK(difference(in_f16.x, expected) > 1e-5);  // it is f16
    CHECK(with(mixed{}, threaded{.threads = 2, .pes_per_partition = 3}).x == in_f16.x);
    solver_on<Method, one_line<nz, precision::mixed>> coarse{a, a.size.x, a.size.y, target, threaded{}};
    CHECK(solve(coarse, b, {.tolerance = 1. / 512}).converged());
    CHECK(solve(coarse, std::vector<f32>(b.size()), most).converged());
    return in_f16.iterations();
  };
  const auto any = [](const cells& size) {
    stencil a = convection(size);
    for (f32& w : a.centre) w += 2;
    return a;
  };
  using of_7 = std::integral_constant<int, 7>;
  using of_261 = std::integral_constant<int, 261>;  // more than a block
  for (const machine* target : {&wse2, &wse3}) {
    compare(std::type_identity<bicgstab_method>{}, of_7{}, any({7, 6, 7}), *target);
    compare(std::type_identity<gradients>{}, of_7{}, {.size = {12, 1, 7}}, *target);
  }
  compare(std::type_identity<bicgstab_method>{}, of_261{}, any({1, 3, 261}), wse2);
  compare(std::type_identity<bicgstab_method>{}, of_261{}, any({1, 1, 261}), wse2);
}

TEST_CASE("solver: in f16 a wafer's layout has no faults, with 1536 cells a PE") {
  using line = one_line<1536, precision::mixed>;
  require(plan<bicgstab_method, line>(wse2, 600, 595));
  require(plan<bicgstab_method, line>(wse3, 600, 595));
}

TEST_CASE("solver: an iteration in f16 takes the cycles of its vectors") {
  const auto cycles_a_cell = [](const machine& target) {
    const auto of_cells = [&]<int nz>(std::integral_constant<int, nz>) {
      const cells size{3, 3, nz};
      solver_on<bicgstab_method, one_line<nz, precision::mixed>> s{convection(size), 3, 3, target, timed{}};
      s.load(noise(size.count()));
      s.iterate(2);
      return static_cast<f64>(s.cycles()) / 2;
    };
    const f64 few = of_cells(std::integral_constant<int, 256>{}),
              more = of_cells(std::integral_constant<int, 512>{});
    return (more - few) / 256;
  };
  // Two products of 4 and 4.5 cycles on wse2, and 2.5 for the words of each, half of that on wse3 but for the
  // words, of which a link brings one in a cycle; six sums, of which one takes two cycles; seven dot
  // products, of which four have operands in the same banks; and the instructions for a block.
  CHECK(cycles_a_cell(wse2) > 20);
  CHECK(cycles_a_cell(wse2) < 24);
  CHECK(cycles_a_cell(wse3) > 11);
  CHECK(cycles_a_cell(wse3) < 15);
}
