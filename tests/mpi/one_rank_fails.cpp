// SPDX-License-Identifier: MIT
// What fails on one rank alone, as memory that it does not have or a function that throws there, ends all with
// one sentence, which names the rank; then all go on.
#include <wsl/kernel/solver.hpp>
#include <wsl/kernel/sparse_solver.hpp>
#include <wsl/kernel/stencil.hpp>
#include <wsl/kernel/wave25.hpp>
#include <wsl/mpi.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>

#include "common_folder.hpp"
#include "memory_held.hpp"

using namespace wsl;

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
std::size_t longest_array = no_limit;  ///< in bytes, of this process

}  // namespace

// Those of the whole program; sanitizers have their own. A limit of the operating system would not count what
// was freed before.
#if !HAS_SANITIZER
[[gnu::noinline]] void* operator new(std::size_t n) {
  void* const p = n > longest_array ? nullptr : std::malloc(n);
  if (!p) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

int last_rank() { return mpi::world().size() - 1; }
bool is_last() { return mpi::world().rank() == last_rank(); }
std::string on_last_rank() {
  return last_rank() == 0 ? "" : " (on rank " + std::to_string(last_rank()) + ")";
}

/// What a call says, while the last rank has no memory for an array of more than 1 MiB.
template <class Call>
std::string said_without_memory(Call call) {
  std::string text;
  if (is_last()) longest_array = std::size_t{1} << 20;
  try {
    call();
  } catch (const std::exception& e) { text = e.what(); }
  longest_array = no_limit;
  return text;
}
void has_no_memory_for(const char* what, const std::string& text) {
  INFO(what << ": " << text);
  CHECK(text == (last_rank() == 0 ? "std::bad_alloc" : "wsl: there is not enough memory" + on_last_rank()));
}

constexpr auto drift = [](auto u, auto k) { return k(0, 0, 0) * u(-1, 0, 0); };

}  // namespace

TEST_CASE("memory that a rank lacks for what it gathers ends all ranks with one sentence") {
  if (has_sanitizer) return;
  const auto world = mpi::world().with({.threads = 1});
  SECTION("of a stencil") {
    stencils::simulation<drift, stencils::takes{.coefficients = 1}> s(
        {64, 128, 128}, stencils::boundary::fixed, {.wide = 4, .depth = 1, .threads = 1}, world);
    s.load([](int x, int y, int z) { return static_cast<f32>(x + y + z); });
    s.coefficient(0, [](int, int, int) { return 0.5f; });
    const auto sentence = [](const char* what) {
      return std::string("wsl: stencil: a grid of 64 x 128 x 128 cells takes 4194304 bytes for ") + what +
             ", and there is not enough memory: take fewer cells, f32 instead of f64, or more computers and "
             "mpi::world()" +
             on_last_rank();
    };
    CHECK(said_without_memory([&] { s.values(); }) == sentence("a field in one array"));
    CHECK(said_without_memory([&] { s.save(); }) == sentence("a field in the state"));
    s.run(1);
    CHECK(s.values()[128 * 128] == 0);
    CHECK(s.slice(0, 3)[1] == 1.5f);
  }
  SECTION("of a solver") {
    solver::solver_on<solver::product_method> s(solver::stencil{{64, 128, 128}}, {.wide = 4, .threads = 1},
                                                world);
    s.load(std::vector<f32>(64 * 128 * 128, 1.f));
    s.iterate(1);
    has_no_memory_for("x", said_without_memory([&] { s.result(); }));
    CHECK(s.result()[0] == 3);  // three of its neighbours are beyond the sides
  }
  SECTION("of a sparse solver") {
    solver::sparse_solver s(solver::grid_system{.size = {1 << 20}}, solver::products_only{},
                            {.pes = 4, .threads = 1}, world);
    s.load(std::vector<f64>(1 << 20, 1.));
    s.iterate(1);
    has_no_memory_for("x", said_without_memory([&] { s.result(); }));
    CHECK(s.result().x.size() == 1 << 20);
  }
  SECTION("of waves") {
    wave25::problem p{.size = {64, 128, 128}, .edge = wave25::border::pml};
    wave25::simulation s(p, {.wide = 4, .depth = 1, .threads = 1}, world);
    s.run(1);
    has_no_memory_for("field", said_without_memory([&] { s.field(); }));
    has_no_memory_for("save", said_without_memory([&] { s.save(); }));
    CHECK(s.slice(1, 3)[1] == 0);
  }
  SECTION("of what they write to a file") {
    const common_folder folder;
    const std::string name = folder.file("waves");
    wave25::problem p{.size = {64, 128, 160}};
    wave25::simulation s(p, {.wide = 4, .depth = 1, .threads = 1}, world);
    s.run(1);
    const std::string text = said_without_memory([&] {
      mpi::joint_file file(mpi::world().who, name, checkpoint_size(s));
      write_checkpoint(s, file), file.finish();
    });
    CHECK(text == "wsl: cannot write " + name + ": there is not enough memory (on rank " +
                      std::to_string(last_rank()) + ")");
    CHECK_FALSE(std::filesystem::exists(name));
    mpi::joint_file file(mpi::world().who, name, checkpoint_size(s));
    write_checkpoint(s, file), file.finish();
  }
  SECTION("of what the ranks send each other") {
    if (last_rank() == 0) return;
    stencils::simulation<drift, stencils::takes{.coefficients = 1}> s(
        {64, 128, 128}, stencils::boundary::fixed, {.wide = 4, .depth = 1, .threads = 1}, world);
    std::vector<f32> u(64 * 128 * 128);
    CHECK_THAT(said_without_memory([&] { s.get(u); }),
               Catch::Contains("there is not enough memory for the 4194304 bytes in which ranks send each") &&
                   Catch::Contains("(on rank " + std::to_string(last_rank()) + ")"));
    s.get(u);
  }
}

TEST_CASE("a function of a cell that throws on one rank ends all ranks with its sentence") {
  stencils::simulation<drift, stencils::takes{.coefficients = 1}> s(
      {40, 4, 5}, stencils::boundary::fixed, {.wide = 4, .depth = 1, .threads = 1}, mpi::world());
  const auto says = [](auto call) -> std::string {
    try {
      call();
    } catch (const std::exception& e) { return e.what(); }
    return {};
  };
  const auto of_cell = [](int x, int, int) {
    if (x > 36) throw std::runtime_error("no such plane");
    return 1.f;
  };
  const std::string sentence = "no such plane" + on_last_rank();
  CHECK(says([&] { s.load(of_cell); }) == sentence);
  CHECK(says([&] { s.coefficient(0, of_cell); }) == sentence);
  CHECK(says([&] {
          s.coefficients(
              [&](auto) { return [&](int x, int y, const auto& lines) { lines[0][0] = of_cell(x, y, 0); }; });
        }) == sentence);
  CHECK(says([&] {
          s.restore(0, {}, [](const auto& state) {
            grid::each_own_line(state.blocks, state.now[0], [](int x, int, std::span<f32>) {
              if (x > 36) throw std::runtime_error("no such plane");
            });
          });
        }) == sentence);
  CHECK_THAT(says([&] { s.load([](int x, int, int) { return x > 36 ? NAN : 1.f; }); }),
             Catch::Contains("not finite in the cell") && Catch::EndsWith(on_last_rank()));
  s.load([](int, int, int) { return 1.f; });
  s.coefficient(0, [](int, int, int) { return 2.f; });
  s.run(1);
  CHECK(s.values()[4 * 5] == 2);

  // a source is asked on each rank
  s.source({20, 2, 2}, [](i64) -> f32 {
    if (is_last()) throw std::runtime_error("no such sample");
    return 1;
  });
  CHECK(says([&] { s.run(1); }) == (is_last()
                                        ? "no such sample"
                                        : "wsl: rank " + std::to_string(last_rank()) +
                                              " has another sample that a source of a stencil emits than "
                                              "rank 0: the exception \"no such sample\" instead of a number; "
                                              "start the same program with the same arguments everywhere"));
}

TEST_CASE("ranks that call different functions are told so instead of waiting for each other") {
  if (last_rank() == 0) return;
  const auto refused = [](const char* what, auto on_last, auto on_others) {
    INFO(what);
    const auto call = [&] { is_last() ? on_last() : on_others(); };
    CHECK_THROWS_WITH(call(), Catch::Contains("rank ") && Catch::Contains(what) &&
                                  Catch::Contains("than rank 0") &&
                                  Catch::Contains("; start the same program"));
  };
  stencils::simulation<drift, stencils::takes{.coefficients = 1}> s(
      {40, 4, 5}, stencils::boundary::fixed, {.wide = 4, .depth = 1, .threads = 1}, mpi::world());
  s.coefficient(0, [](int, int, int) { return 2.f; });
  s.run(1);
  refused("stencil", [&] { s.run(1); }, [&] { s.values(); });
  refused("stencil", [&] { s.run(3); }, [&] { s.save(); });
  refused("call of a stencil's simulation", [&] { s.values(); }, [&] { s.slice(0, 0); });
  s.run(1);
  CHECK(s.time() == 2);
  wave25::simulation w(wave25::problem{.size = {40, 20, 20}}, {.wide = 4, .depth = 1, .threads = 1},
                       mpi::world());
  refused("wave25 simulation", [&] { w.run(3); }, [&] { w.field(); });
  solver::sparse_solver a(solver::grid_system{.size = {64}}, solver::conjugate_gradients{},
                          {.pes = 4, .threads = 1}, mpi::world());
  a.load(std::vector<f64>(64, 1.));
  refused("call of a solver", [&] { a.result(); }, [&] { a.close(); });
  refused("call of a solver", [&] { a.iterate(3); }, [&] { a.iterate(5); });
  a.iterate(100);
  CHECK(a.how() == solver::ending::converged);
}
