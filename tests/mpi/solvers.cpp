// SPDX-License-Identifier: MIT
// Solvers on several ranks: a rank has only its part of a system, and the results are, bit by bit, those of
// one process, on every rank.
#include <wsl/kernel/solver.hpp>
#include <wsl/kernel/sparse_product.hpp>
#include <wsl/kernel/sparse_solver.hpp>
#include <wsl/mpi.hpp>

#include <catch2/catch.hpp>
#include <string>

#include "memory_held.hpp"

using namespace wsl;
using namespace wsl::solver;

namespace {

/// Numbers without a pattern, from -1 to 1.
std::vector<f64> noise(std::size_t n, u32 seed) {
  std::vector<f64> x(n);
  for (f64& v : x) v = static_cast<f64>(static_cast<i32>(seed = seed * 1664525 + 1013904223) / 65536) / 32768;
  return x;
}

/// A symmetric matrix with a dominant diagonal, and entries far from it, so that ghosts travel past PEs.
std::vector<sparse_matrix::entry> network(int n) {
  std::vector<sparse_matrix::entry> all;
  std::vector<f64> sums(static_cast<std::size_t>(n));
  const auto joins = [&](int r, int c, f64 v) {
    if (r == c) return;
    all.push_back({r, c, -v}), all.push_back({c, r, -v});
    sums[static_cast<std::size_t>(r)] += v, sums[static_cast<std::size_t>(c)] += v;
  };
  for (int r = 0; r < n; ++r)
    joins(r, (r + 1) % n, 1 + r % 3), joins(r, static_cast<int>(i64{r} * r * 31 % n), 0.5);
  for (int r = 0; r < n; ++r) all.push_back({r, r, sums[static_cast<std::size_t>(r)] + 0.2});
  return all;
}
sparse_matrix matrix_of(int n) { return sparse_matrix::from_entries(n, n, network(n)); }

void same(const sparse_solution& found, const sparse_solution& expected) {
  CHECK(found.x == expected.x);
  CHECK(found.residuals == expected.residuals);
  CHECK(found.how == expected.how);
  CHECK(found.residual == expected.residual);
  CHECK(found.removed_mean == expected.removed_mean);
}

template <class Method, class System>
void compare(const System& a, Method method, sparse_options how, std::size_t unknowns,
             const limits& most = {.tolerance = 1e-9, .iterations = 40}) {
  INFO(Method::name << ", preconditioner " << static_cast<int>(how.with) << ", numbers "
                    << static_cast<int>(how.numbers) << ", " << how.pes << " PEs");
  how.threads = 1;
  sparse_solver alone(a, method, how), spread(a, method, how, mpi::world());
  CHECK(spread.levels() == alone.levels());
  CHECK(spread.matrix_bytes() == alone.matrix_bytes());
  for (u32 seed : {1u, 2u}) {
    const std::vector<f64> b = noise(unknowns, seed);
    same(spread.solve(b, most), alone.solve(b, most));
  }
}

/// The sentence that a call throws, which must be the same on all ranks, or nothing.
template <class Call>
std::string refusal(Call call) {
  std::string sentence;
  try {
    call();
  } catch (const std::exception& e) { sentence = e.what(); }
  CHECK(sentence == mpi::world().who.broadcast(sentence, 0));
  return sentence;
}

}  // namespace

TEST_CASE("Krylov methods on ranks are those of one process") {
  const sparse_matrix a = matrix_of(300);
  compare(a, conjugate_gradients{}, {.pes = 1}, 300);
  for (int pes : {2, 9}) {
    for (const arithmetic numbers : {arithmetic::in_f32, arithmetic::in_f64, arithmetic::mixed})
      compare(a, conjugate_gradients{}, {.with = preconditioner::jacobi, .numbers = numbers, .pes = pes},
              300);
    compare(a, pipelined_conjugate_gradients{}, {.with = preconditioner::block_jacobi, .pes = pes}, 300);
    compare(a, chebyshev_iteration{}, {.with = preconditioner::polynomial, .pes = pes}, 300);
    compare(a, stabilized_bicg{}, {.pes = pes}, 300);
    compare(a, generalized_minimal_residual{}, {.restart = 7, .pes = pes}, 300);
  }
}

TEST_CASE("GMRES on ranks gives up the same columns of a singular matrix as one process") {
  std::vector<sparse_matrix::entry> entries;
  for (const sparse_matrix::entry& e : network(12)) {
    if (e.row < 11) entries.push_back(e);
    if (e.row == 0) entries.push_back({11, e.column, e.value});
  }
  const sparse_matrix a = sparse_matrix::from_entries(12, 12, entries);
  for (const arithmetic numbers : {arithmetic::in_f32, arithmetic::in_f64, arithmetic::mixed})
    for (const int pes : {1, 4})
      compare(a, generalized_minimal_residual{}, {.numbers = numbers, .restart = 12, .pes = pes}, 12);
}

TEST_CASE("a multigrid on ranks is that of one process") {
  for (const side_condition sides : {side_condition::dirichlet, side_condition::neumann})
    for (const arithmetic numbers : {arithmetic::in_f64, arithmetic::mixed})
      compare(grid_system{{48, 40}, sides}, conjugate_gradients{},
              {.with = preconditioner::multigrid, .numbers = numbers, .pes = 6}, 48 * 40);
  compare(grid_system{{21, 10, 9}, side_condition::periodic}, conjugate_gradients{},
          {.with = preconditioner::multigrid, .smoother = relaxation::red_black, .pes = 5}, 21 * 10 * 9);
}

TEST_CASE("iterations on ranks can be done a few at a time") {
  const sparse_matrix a = matrix_of(200);
  const sparse_options how{.pes = 5, .threads = 1};
  sparse_solver alone(a, conjugate_gradients{}, how), spread(a, conjugate_gradients{}, how, mpi::world());
  const std::vector<f64> b = noise(200, 3);
  for (const int times : {3, 4, 100}) {
    for (sparse_solver* s : {&alone, &spread}) s->load(b, {.tolerance = 1e-7});
    CHECK(spread.history().empty());
    CHECK(spread.how() == ending::none);
    for (int k = 0; k < 2; ++k) {
      CHECK(spread.iterate(times) == alone.iterate(times));
      CHECK(spread.history() == alone.history());
    }
    CHECK(spread.close() == alone.close());
    same(spread.result(), alone.result());
  }
  spread.load(b);
  CHECK(spread.close() == ending::all_iterations);
  CHECK(spread.result().x == std::vector<f64>(200));
}

TEST_CASE("products and several right sides on ranks") {
  const sparse_matrix a = matrix_of(150);
  const sparse_options how{.pes = 4, .threads = 1};
  const std::vector<f64> u = noise(150, 4);
  CHECK(sparse_product(a, u, how, mpi::world()) == sparse_product(a, u, how));
  const std::vector<std::vector<f64>> right{noise(150, 5), noise(150, 6), std::vector<f64>(150)};
  const auto spread = solve_each(a, stabilized_bicg{}, right, {}, how, mpi::world()),
             alone = solve_each(a, stabilized_bicg{}, right, {}, how);
  for (std::size_t k = 0; k < right.size(); ++k) same(spread[k], alone[k]);
}

/// Diffusion with a coefficient of its own in each cell, and a dominant centre.
stencil plate(const cells& size) {
  stencil a{size};
  for (const side_of_stencil& s : stencil_sides) {
    std::vector<f32>& w = a.*s.weights;
    w.resize(size.count());
    for (std::size_t i = 0; i < w.size(); ++i)
      w[i] =
          &w == &a.centre ? 6.f + static_cast<f32>(i * 31 % 7) / 8 : -1.f + static_cast<f32>(i * 17 % 5) / 16;
  }
  return a;
}
std::vector<f32> noise_in_f32(std::size_t n, u32 seed) {
  const std::vector<f64> x = noise(n, seed);
  return {x.begin(), x.end()};
}

TEST_CASE("solvers for stencils on ranks are those of one process") {
  const stencil a = plate({19, 13, 11}), symmetric{{19, 13, 11}};
  const std::vector<f32> b = noise_in_f32(a.size.count(), 1);
  const limits most{.tolerance = 1e-5, .iterations = 90};  // more than those of one launch
  for (const auto& [wide, high] : {std::pair{1, 1}, {4, 1}, {3, 4}}) {
    INFO(wide << " x " << high << " PEs");
    const options how{.wide = wide, .high = high, .threads = 1};
    const auto compare = [](const solution<f32>& found, const solution<f32>& expected) {
      CHECK(found.x == expected.x);
      CHECK(found.residuals == expected.residuals);
      CHECK(found.how == expected.how);
    };
    compare(bicgstab(a, b, most, how, mpi::world()), bicgstab(a, b, most, how));
    compare(conjugate_gradient(symmetric, b, most, how, mpi::world()),
            conjugate_gradient(symmetric, b, most, how));
    compare(jacobi_conjugate_gradient(symmetric, b, {.tolerance = 0, .iterations = 70}, how, mpi::world()),
            jacobi_conjugate_gradient(symmetric, b, {.tolerance = 0, .iterations = 70}, how));
    CHECK(product(a, b, how, mpi::world()) == product(a, b, how));
    const eigenpair<f32> found = power_method(symmetric, b, most, how, mpi::world()),
                         expected = power_method(symmetric, b, most, how);
    CHECK(found.values == expected.values);
    CHECK(found.vector == expected.vector);

    solver_on<bicgstab_method> alone(a, how), spread(a, how, mpi::world());
    for (auto* s : {&alone, &spread}) s->load(b);
    CHECK(spread.iterate(3) == alone.iterate(3));
    CHECK(spread.history() == alone.history());
    CHECK(spread.result() == alone.result());
    CHECK(spread.close() == alone.close());
  }
}

TEST_CASE("solvers of one line a PE on ranks are those of one process") {
  constexpr int nz = 6;
  stencil a{{6, 5, nz}};
  const std::vector<f32> b = noise_in_f32(a.size.count(), 2);
  const auto on_ranks = mpi::world().with({.threads = 1, .pes_per_partition = 2});
  const auto compare = [&]<class Storage>(Storage) {
    using solver_of_lines = solver_on<bicgstab_method, Storage>;
    solver_of_lines alone(a, 6, 5, wse2, threaded{.threads = 1}), spread(a, 6, 5, wse2, on_ranks);
    const limits most{.tolerance = 1e-2, .iterations = 20};
    const solution<f32> found = solve(spread, b, most), expected = solve(alone, b, most);
    CHECK(found.x == expected.x);
    CHECK(found.residuals == expected.residuals);
    CHECK(found.converged());
  };
  compare(one_line<nz>{});
  compare(one_line<nz, precision::mixed>{});
  // A weight of a PE of one rank is refused on all.
  a.up.assign(a.size.count(), -1);
  a.up[a.size.index({5, 4, 2})] = -1e-9f, a.up[a.size.index({5, 4, 3})] = -1e-9f;
  CHECK(refusal([&] {
          solver_on<bicgstab_method, one_line<nz, precision::mixed>>(a, 6, 5, wse2, on_ranks);
        }).starts_with("wsl: solver: in mixed precision a weight of cell (5, 4, 2) vanishes"));
}

TEST_CASE("another operator on another rank is refused") {
  if (mpi::world().size() == 1) return;
  const bool differs = mpi::world().rank() == 1;
  const auto another =
      Catch::Contains("rank 1 has another operator, method or grid of PEs of a solver than rank 0");
  stencil a{{8, 8, 8}};
  const options how{.wide = 2, .high = 2, .threads = 1};
  if (differs) a.up = {-1.5f};
  CHECK_THAT(refusal([&] { solver_on<bicgstab_method>(a, how, mpi::world()); }), another);
  if (differs) a.up = {};
  CHECK_THAT(refusal([&] { solver_on<bicgstab_method>(a, how, mpi::world()); }), another);
  a.up = {-1};
  CHECK_THAT(refusal([&] { solver_on<bicgstab_method>(a, {.wide = differs ? 3 : 2}, mpi::world()); }),
             another);
  solver_on<bicgstab_method> s(a, how, mpi::world());
  CHECK_THAT(refusal([&] { s.load(noise_in_f32(512, 3), {.tolerance = differs ? 0.5 : 0.25}); }),
             Catch::Contains("rank 1 has another right side or limit of a solver"));
}

TEST_CASE("sparse products on a grid of PEs and on ranks are those of one process") {
  const int differs = mpi::world().rank() == 1;
  const auto matrix_with = [](int salt) {
    return sparse_pattern::where(31, 37, [=](int r, int c) { return (r * 7 + c * 5 + salt) % 4 == 0; });
  };
  const sparse_pattern a = matrix_with(0);
  const std::vector<f32> values = noise_in_f32(static_cast<std::size_t>(a.count()), 7),
                         b = noise_in_f32(37 * 2, 8);
  using product = wafer_sparse_product<{.rows = 8, .columns = 8, .nonzeros = 24, .vectors = 2}>;
  const auto by = [&](auto engine) {
    product p(a, values, 5, 4, host, engine);
    std::vector<f32> c(31 * 2);
    for (int i = 0; i < 2; ++i) p(matrix<f32>(c.data(), 31, 2), matrix<const f32>(b.data(), 37, 2));
    return c;
  };
  CHECK(by(mpi::world().with({.threads = 1, .pes_per_partition = 1})) == by(threaded{.threads = 1}));
  // All ranks refuse a block that only one of them would build.
  using small = wafer_sparse_product<{.rows = 8, .columns = 8, .nonzeros = 15, .vectors = 2}>;
  CHECK_THAT(refusal([&] { small(a, values, 5, 4, host, mpi::world()); }),
             Catch::Contains("the block of PE (0, 0) has more than the 15 nonzeros"));
  if (mpi::world().size() > 1)
    CHECK_THAT(refusal([&] {
                 product(matrix_with(differs), std::span(values).first(280), 5, 4, host, mpi::world());
               }),
               Catch::Contains("rank 1 has another sparse matrix or grid of PEs than rank 0"));
}

TEST_CASE("another system on another rank is refused") {
  if (mpi::world().size() == 1) return;
  const bool differs = mpi::world().rank() == 1;
  const auto another = Catch::Contains("rank 1 has another matrix, method or option of a solver than rank 0");
  std::vector<sparse_matrix::entry> entries = network(30);
  const sparse_matrix a = matrix_of(30);
  if (differs) entries.back().value *= 1.0000001;
  const sparse_matrix b = sparse_matrix::from_entries(30, 30, entries);
  const auto solver = [](const auto& of, auto method, const sparse_options& how = {}) {
    return refusal([&] { sparse_solver(of, method, how, mpi::world()); });
  };
  CHECK_THAT(solver(b, conjugate_gradients{}), another);
  CHECK_THAT(solver(a, conjugate_gradients{}, {.sweeps = differs ? 3 : 2}), another);
  CHECK_THAT(differs ? solver(a, stabilized_bicg{}) : solver(a, generalized_minimal_residual{}), another);
  CHECK_THAT(solver(grid_system{{8, differs ? 9 : 8}}, conjugate_gradients{}), another);
  // Not only the rank whose matrix is wrong refuses it.
  if (differs) entries.back().row = 0;
  CHECK_THAT(solver(sparse_matrix::from_entries(30, 30, entries), conjugate_gradients{}), another);

  sparse_solver s(a, conjugate_gradients{}, {}, mpi::world());
  std::vector<f64> right = noise(30, 1);
  if (differs) right[29] = 0.5;
  CHECK_THAT(refusal([&] { s.load(right); }),
             Catch::Contains("rank 1 has another right side or limit of a solver than rank 0"));
  right[29] = 0.5;
  same(s.solve(right), sparse_solver(a, conjugate_gradients{}).solve(right));
}

TEST_CASE("a block that cannot be inverted is refused on all ranks") {
  std::vector<sparse_matrix::entry> entries;
  for (int r = 0; r < 40; ++r) entries.push_back({r, (r + 20) % 40, 2.}), entries.push_back({r, r, 1.});
  for (sparse_matrix::entry& e : entries)
    if (e.row == e.column && (e.row == 33 || e.row == 38)) e.value = 0;
  CHECK(refusal([&] {
          sparse_solver(sparse_matrix::from_entries(40, 40, entries), generalized_minimal_residual{},
                        {.with = preconditioner::block_jacobi, .block = 1, .pes = 8}, mpi::world());
        }) ==
        "wsl: solver: the block of rows 33 to 33 of the matrix is singular, and the preconditioner takes its "
        "inverse: take blocks of another size, or none");
}

TEST_CASE("a rank has its part of a system only") {
  if (has_sanitizer) return;
  constexpr int side = 400, restart = 100;
  const int ranks = mpi::world().size();
  const std::vector<f64> b(side * side, 1.);
  const u64 before = memory_held();
  sparse_solver s(grid_system{{side, side}}, generalized_minimal_residual{},
                  {.restart = restart, .pes = 8, .threads = 1}, mpi::world());
  s.load(b);
  s.iterate(2);
  const u64 vectors = u64{restart} * side * side * sizeof(f64), mine = memory_held() - before;
  CHECK(mine < vectors / static_cast<u64>(ranks) * 3 / 2 + (u64{8} << 20));
  if (ranks <= 8) CHECK(mine > vectors / static_cast<u64>(ranks) / 2);
}

TEST_CASE("a rank has its part of a grid only") {
  if (has_sanitizer) return;
  const cells size{256, 128, 120};
  const int ranks = mpi::world().size();
  const std::vector<f32> b(size.count(), 1);
  const u64 before = memory_held();
  solver_on<bicgstab_method> s(stencil{size}, {.wide = 8, .threads = 1}, mpi::world());
  s.load(b);
  s.iterate(1);
  const u64 vectors = u64{bicgstab_method::vectors} * size.count() * sizeof(f32),
            mine = memory_held() - before;
  CHECK(mine < vectors / static_cast<u64>(ranks) * 3 / 2 + (u64{8} << 20));
  if (ranks <= 8) CHECK(mine > vectors / static_cast<u64>(ranks) / 2);
}
