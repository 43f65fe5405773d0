// SPDX-License-Identifier: MIT
// What a stencil's update reads and computes, as found while compiling; and what the front ends refuse, with
// the name of the mistake.
#include <catch2/catch.hpp>

#include <limits>

#include "stencil_updates.hpp"

using namespace wsl;
namespace boundary = stencils::boundary;
using Catch::Matchers::Contains;
using stencils::footprint_of, stencils::per_pe, stencils::takes;

namespace {

constexpr stencils::footprint heat = footprint_of<updates::heat>;
static_assert(heat.dimensions == 2 && heat.radius[0] == 1 && heat.radius[1] == 1);
static_assert(!heat.diagonal && !heat.before && heat.loads == 6);
// u + 0.1 (((e + w) + s) + n - 4 u): the first sum is of two lines, two more of a line and a sum, and both
// products become multiply-adds
static_assert(heat.operations.sums_alike == 1 && heat.operations.sums == 2 && heat.operations.products == 2);

constexpr stencils::footprint wave = footprint_of<updates::wave, takes{.coefficients = 1}>;
static_assert(wave.dimensions == 3 && wave.radius[0] == 4 && wave.radius[2] == 4);
static_assert(!wave.diagonal && wave.before && !wave.coefficients_around && wave.loads == 28);

constexpr stencils::footprint conduct = footprint_of<updates::conduct, takes{2, 1, 2}>;
static_assert(conduct.before && conduct.coefficients_around && !conduct.diagonal);
static_assert(footprint_of<updates::square>.diagonal && footprint_of<updates::square>.radius[1] == 2);
static_assert(footprint_of<updates::roots>.operations.roots == 1 &&
              footprint_of<updates::roots>.operations.quotients == 1);
static_assert(footprint_of<updates::line>.dimensions == 1 && footprint_of<updates::line>.radius[0] == 2);

// Updates differ in an operation, a constant, a neighbour, the field or the order of the fields.
template <auto update, takes in = {.fields = 2}>
constexpr u64 fingerprint = stencils::detail::expression_of<update, in>.fingerprint;
constexpr u64 of_sum = fingerprint<[](auto u, auto v) { return std::tuple{u(0) + 0.5f * v(1), v(0)}; }>;
static_assert(of_sum == fingerprint<[](auto v, auto u) { return std::tuple{v(0) + 0.5 * u(1), u(0)}; }>);
static_assert(of_sum != fingerprint<[](auto u, auto v) { return std::tuple{u(0) - 0.5f * v(1), v(0)}; }>);
static_assert(of_sum != fingerprint<[](auto u, auto v) { return std::tuple{u(0) + 0.25f * v(1), v(0)}; }>);
static_assert(of_sum != fingerprint<[](auto u, auto v) { return std::tuple{u(0) + 0.5f * v(-1), v(0)}; }>);
static_assert(of_sum != fingerprint<[](auto u, auto v) { return std::tuple{u(0) + 0.5f * u(1), v(0)}; }>);
static_assert(of_sum != fingerprint<[](auto u, auto v) { return std::tuple{v(0), u(0) + 0.5f * v(1)}; }>);
static_assert(of_sum !=
              fingerprint<[](auto u, auto v) { return std::tuple{u(0) + 0.5f * v(1), v.before(0)}; }>);
constexpr takes factors{.coefficients = 1, .scalars = 1};
static_assert(fingerprint<[](auto u, auto k, auto s) { return u(0) * k(0) * s; }, factors> !=
              fingerprint<[](auto u, auto k, auto s) { return u(0) * s * k(0); }, factors>);
constexpr u64 of_least = fingerprint<[](auto u) { return min(u(0), u(1)); }, takes{}>;
static_assert(of_least != fingerprint<[](auto u) { return max(u(0), u(1)); }, takes{}>);
static_assert(of_least == fingerprint<[](auto u) { return select(u(1) < u(0), u(1), u(0)); }, takes{}>);
static_assert(of_least != fingerprint<[](auto u) { return select(u(1) <= u(0), u(1), u(0)); }, takes{}>);
static_assert(fingerprint<[](auto u) { return abs(u(0)); }, takes{}> !=
              fingerprint<[](auto u) { return -u(0); }, takes{}>);

// The largest and the smallest constants that f32 has are those that are rounded to its numbers.
constexpr auto of_constant = stencils::recorder::expression::of_constant;
static_assert(!of_constant(3.4028235e38).overflows_f32 && of_constant(-3.4028236e38).overflows_f32);
static_assert(!of_constant(-1e-45).vanishes_in_f32 && of_constant(7e-46).vanishes_in_f32);
static_assert(!of_constant(0).vanishes_in_f32);
static_assert(!of_constant(std::numeric_limits<f64>::infinity()).overflows_f32);
static_assert(
    stencils::detail::expression_of<[](auto u) { return max(u(0), 1e300); }, takes{}>.overflows_f32);

/// Its members are public, so it may be an update with numbers of its own.
struct scaled {
  float factor;
  constexpr auto operator()(auto u) const { return factor * u(1); }
};

}  // namespace

TEST_CASE("stencil: sizes and boundaries that do not go together are refused by name") {
  using plane = stencils::simulation<updates::square>;
  CHECK_THROWS_WITH(plane({8}), Contains("2 offsets") && Contains("the size 8 has 1 axes"));
  CHECK_THROWS_WITH(plane({8, 8, 8}), Contains("8 x 8 x 8 has 3 axes"));
  CHECK_THROWS_WITH(plane({8, 1}),
                    Contains("axis 1 of a grid of 8 x 1 has 1 cell, and the radius of the update is 2"));
  CHECK_THROWS_WITH(plane({0, 8}), Contains("has 0 cells") && Contains("at least 1 cell"));
  CHECK_THROWS_WITH(plane({-3, 8}), Contains("has -3 cells"));
  CHECK_THROWS_WITH(plane({2147483647, 2147483647}), Contains("does not fit in any memory"));
  CHECK_THROWS_WITH(plane({8, 8}, {boundary::fixed}), Contains("boundaries for 1 axes and sizes for 2"));
  CHECK_THROWS_WITH(plane({8, 8}, {{boundary::periodic, boundary::open}, boundary::open}),
                    Contains("one side of axis 0 is periodic"));
  CHECK_THROWS_WITH(plane({8, 8}, boundary::absorbing(9)), Contains("9 cells wide; choose 1 to 8"));
  CHECK_THROWS_WITH(plane({8, 8}, boundary::absorbing(0)), Contains("0 cells wide"));
  CHECK_THROWS_WITH(plane({8, 8}, boundary::absorbing(2, -1)), Contains("strength"));
  CHECK_THROWS_WITH(plane({8, 8}, boundary::fixed_at({std::numeric_limits<f64>::infinity()})),
                    Contains("value for field 0 that is not a finite number"));
  CHECK_THROWS_WITH(boundary::fixed_at({1, 2, 3, 4, 5, 6, 7, 8, 9}), Contains("up to 8 fields"));
  CHECK_THROWS_WITH(plane({8, 8}, boundary::fixed_at({1, 2})),
                    Contains("a side of axis 0 has 2 values, and the update takes 1 field;"));
  CHECK_THROWS_WITH(plane({8, 8}, {boundary::open, {boundary::open, boundary::mirrored_times({1, 1, -1})}}),
                    Contains("a side of axis 1 has 3 values"));
  CHECK_NOTHROW(plane({8, 8}, boundary::mirrored), plane({8, 8}, boundary::absorbing(2, 0.1, {1})));
  CHECK_THROWS_WITH(stencils::serial<updates::square>({8, 8}, boundary::fixed_at({1, 2})),
                    Contains("has 2 values"));
  CHECK_THROWS_WITH(plane({8, 8}, boundary::fixed_at({1e39})),
                    Contains("value for field 0 that is larger than the numbers of f32"));
  CHECK_NOTHROW(stencils::simulation<updates::square, takes{}, f64>({8, 8}, boundary::fixed_at({1e39})));
  CHECK_THROWS_WITH(plane({}), Contains("the size {} has 0 axes"));
  CHECK_THROWS_WITH(plane({8, 8, 8, 8}), Contains("the size 8 x 8 x 8 x ... has 4 axes"));
  CHECK_THROWS_AS(plane({8, 1}), std::invalid_argument);
  CHECK_THROWS_WITH(stencils::serial<updates::square>({8, 1}), Contains("axis 1"));
}

TEST_CASE("stencil: a grid that is larger than the memory is refused with its bytes") {
  const auto refuses = [](auto make, const char* bytes) {
    CHECK_THROWS_WITH(make(), Contains("a grid of 1000000 x 1000000 cells takes 8") && Contains(bytes) &&
                                  Contains(", and there is not enough memory: take fewer cells"));
    CHECK_THROWS_AS(make(), std::invalid_argument);
  };
  const stencils::extents size{1000000, 1000000};
  refuses([&] { stencils::simulation<updates::heat> s(size); }, " bytes for its PEs");
  refuses([&] { stencils::simulation<updates::heat> s(size, {}, {.wide = 3, .high = 2}); },
          " bytes for its PEs");
  refuses([&] { stencils::serial<updates::heat> s(size); },
          "8000000000000 bytes for its fields and coefficients");
  CHECK_THROWS_WITH(stencils::checks::room_for<f32>({8, 8}, u64{1} << 60, "a slice"),
                    Contains("takes 4611686018427387904 bytes for a slice"));
}

TEST_CASE("stencil: options that do not fit the grid are refused by name") {
  using plane = stencils::simulation<updates::square>;
  CHECK_THROWS_WITH(plane({8, 8}, {}, {.wide = 9}), Contains("9 x 0 PEs cut axes of 8 and 8 cells"));
  CHECK_THROWS_WITH(plane({8, 8}, {}, {.high = -1}), Contains("PEs cut axes"));
  CHECK_THROWS_WITH(plane({8, 8}, {}, {.depth = 65}), Contains("not after 65"));
  CHECK_THROWS_WITH(plane({8, 8}, {}, {.threads = -1}), Contains("-1 threads"));
  CHECK_THROWS_WITH(plane({8, 8}, {}, {.tile_x = -4}), Contains("-4 x 0 x 0"));
  CHECK_THROWS_WITH(stencils::simulation<updates::line>({100}, {}, {.high = 2}),
                    Contains("axes of 100 and 1"));
}

TEST_CASE("stencil: arrays of a wrong length, numbers that are none, and names that do not exist") {
  constexpr takes in{2, 1, 2};
  stencils::simulation<updates::conduct, in> s({6, 5});
  stencils::serial<updates::conduct, in> r({6, 5});
  std::vector<f32> good(30), bad(29), broken(30);
  broken[17] = std::numeric_limits<f32>::quiet_NaN();
  CHECK_THROWS_WITH(s.load(bad), Contains("field 0 has 29 numbers, and the grid of 6 x 5 has 30 cells"));
  CHECK_THROWS_WITH(s.load([&](int i, int j) { return i == 3 && j == 2 ? 1e300 : 0; }),
                    Contains("field 0 is not finite in the cell (3, 2) of the grid of 6 x 5"));
  CHECK_THROWS_WITH(s.load(broken, 1), Contains("field 1 is not a finite number at index 17"));
  CHECK_THROWS_WITH(s.load(good, 2), Contains("no field 2; the update takes 2"));
  CHECK_THROWS_WITH(s.load_before(bad, 1), Contains("field 1 has 29"));
  CHECK_THROWS_WITH(s.coefficient(1, good), Contains("no coefficient 1"));
  CHECK_THROWS_WITH(s.coefficient(0, broken), Contains("coefficient 0 is not a finite number at index 17"));
  CHECK_THROWS_WITH(s.scalar(-1, 0), Contains("no scalar -1"));
  CHECK_THROWS_WITH(s.scalar(0, broken[17]), Contains("scalar 0 is not a finite number"));
  CHECK_THROWS_WITH(s.get(bad), Contains("get has an array of 29 numbers"));
  CHECK_THROWS_WITH(s.values(2), Contains("no field 2"));
  CHECK_THROWS_WITH(s.run(-1), Contains("run(-1)"));
  CHECK_THROWS_WITH(r.load(bad), Contains("field 0 has 29"));
  CHECK_THROWS_WITH(r.coefficient(0, broken), Contains("index 17"));
  CHECK_THROWS_WITH(r.values(2), Contains("no field 2"));
  CHECK_THROWS_WITH(r.run(-1), Contains("run(-1)"));
  CHECK_THROWS_WITH(r.scalar(2, 0), Contains("no scalar 2"));
}

TEST_CASE("stencil: a run without a coefficient or a scalar that the update takes") {
  constexpr auto update = [](auto u, auto k, auto l, auto s) { return k(0) * u(0) + l(0) * u(1) + s; };
  constexpr takes in{.coefficients = 2, .scalars = 1};
  const std::vector<f32> numbers(8, 0.5f);
  const auto refuses = [&](auto&& s) {
    s.load(numbers);
    CHECK_THROWS_AS(s.run(1), std::invalid_argument);
    CHECK_THROWS_WITH(
        s.run(1),
        Contains("stencil: coefficient 0 was never given, or was refused: call coefficient(0, ...)"));
    s.coefficient(0, numbers);
    CHECK_THROWS_WITH(s.run(1),
                      Contains("coefficient 1 was never given, or was refused: call coefficient(1, ...)"));
    s.coefficient(1, [](int) { return 0.25f; });
    CHECK_THROWS_WITH(s.run(1), Contains("scalar 0 was never given, or was refused: call scalar(0, ...)"));
    CHECK(s.time() == 0);
    s.scalar(0, 0), s.run(1);
    CHECK(s.values()[3] == 0.375f);
  };
  refuses(stencils::simulation<update, in>({8}));
  refuses(stencils::serial<update, in>({8}));
  refuses(stencils::wafer_simulation<update, per_pe{4}, in>({8}));
}

TEST_CASE("stencil: what a function gave until it threw is not run with") {
  constexpr auto update = [](auto u, auto k) { return k(0) * u(1); };
  const auto to_the_fourth = [](int x) { return x == 4 ? throw std::runtime_error("mine") : 100.f; };
  const auto refuses = [&](auto&& s) {
    s.load([](int) { return 1.f; }), s.coefficient(0, [](int) { return 0.5f; });
    CHECK_THROWS_WITH(s.coefficient(0, to_the_fourth), "mine");
    CHECK_THROWS_WITH(s.run(1), Contains("coefficient 0 was never given, or was refused"));
    s.coefficient(0, [](int) { return 0.5f; });
    CHECK_THROWS_WITH(s.load(to_the_fourth), "mine");
    CHECK_THROWS_WITH(s.run(1), Contains("what field 0 was to be loaded with was refused: load it again"));
    s.load([](int) { return 1.f; }), s.run(1);
    CHECK(s.values()[3] == 0.5f);
  };
  refuses(stencils::simulation<update, takes{.coefficients = 1}>({8}));
  refuses(stencils::serial<update, takes{.coefficients = 1}>({8}));
  refuses(stencils::wafer_simulation<update, per_pe{4}, takes{.coefficients = 1}>({8}));
}

TEST_CASE("stencil: a source that throws leaves all as it was") {
  const auto keeps = [](auto&& s) {
    s.load([](int i) { return static_cast<f32>(i); });
    s.receiver({3}), s.run(2);
    bool throws = true;
    s.source({3}, [](i64) { return 1.f; });
    s.source({4}, [&](i64 n) { return throws && n == 5 ? throw std::runtime_error("mine") : 1.f; });
    const std::vector<f32> u = s.values();
    CHECK_THROWS_WITH(s.run(7), "mine");
    CHECK(s.time() == 2);
    CHECK(s.values() == u);
    CHECK(s.trace(0).size() == 2);
    throws = false, s.run(7);
    return std::pair(s.values(), s.trace(0));
  };
  CHECK(keeps(stencils::serial<scaled{0.5f}>({8})) == keeps(stencils::simulation<scaled{0.5f}>({8})));
}

TEST_CASE("stencil: a function that is asked for numbers must not change who asks") {
  const auto refuses = [](auto&& s) {
    const auto called = [](const std::string& what) {
      return what + " is called by a function that the simulation asks for numbers";
    };
    CHECK_THROWS_WITH(s.load([&](int) { return s.run(1), 1.f; }), Contains(called("run")));
    CHECK_THROWS_WITH(s.load([&](int) { return s.receiver({0}), 1.f; }), Contains(called("receiver")));
    s.load([](int) { return 1.f; });
    s.source({3}, [&](i64 n) { return n == 1 ? s.restore(s.save()), 1.f : n == 2 ? s.run(1), 1.f : 1.f; });
    s.run(1);
    CHECK_THROWS_WITH(s.run(1), Contains(called("restore")));
    CHECK(s.time() == 1);
    auto later = s.save();
    later.time = 2;
    s.restore(later);
    CHECK_THROWS_WITH(s.run(1), Contains(called("run")));
  };
  refuses(stencils::simulation<scaled{0.5f}>({8}));
  refuses(stencils::serial<scaled{0.5f}>({8}));
}

TEST_CASE("stencil: coefficients by lines are given together") {
  constexpr auto update = [](auto u, auto k, auto l) { return k(0, 0, 0) * u(0, 0, 0) + l(0, 0, 0); };
  stencils::simulation<update, takes{.coefficients = 2}> s({3, 4, 5});
  s.load([](int, int, int) { return 1.f; });
  CHECK_THROWS_WITH(s.run(1), Contains("coefficient 0 was never given"));
  s.coefficients([](const auto&) {
    return [](int, int, const auto& lines) {
      std::fill(lines[0].begin(), lines[0].end(), 2.f), std::fill(lines[1].begin(), lines[1].end(), 3.f);
    };
  });
  s.run(1);
  CHECK(s.values()[59] == 5);
}

TEST_CASE("stencil: grids that a wafer's program is not for") {
  using column = stencils::wafer_simulation<updates::heat_3d, per_pe{1, 1, 16}>;
  CHECK_THROWS_WITH(column({4, 4, 17}),
                    Contains("compiled for columns of 16 cells, and the grid has 17 along "
                             "the last axis: take per_pe{1, 1, 17}"));
  CHECK_THROWS_WITH(column({1, 4, 16}, boundary::periodic), Contains("over two or more PEs"));
  CHECK_THROWS_AS(column({751, 2, 16}), fault);
  CHECK_THROWS_WITH((stencils::wafer_simulation<updates::square, per_pe{4, 2}>({12, 3})),
                    Contains("2 PEs share 3 cells along an axis, and one has at least 2, the radius"));
}
