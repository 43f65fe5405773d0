// SPDX-License-Identifier: MIT
// Low-rank tiles as arrays, without the program: the order of the numbers, and arrays that contradict each
// other.
#include "../files.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "../../npy.hpp"

using namespace tlr_app;
using Catch::Contains;
using complex = std::complex<f32>;

namespace {

/// A folder that goes with its owner.
struct folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tlr_unit_" + std::to_string(::getpid()));
  folder() { std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

template <class T>
T number(std::mt19937& random) {
  const auto next = [&] { return static_cast<f32>(random()) * 0x1p-31f - 1; };
  if constexpr (std::is_same_v<T, f32>) return next();
  else {
    const f32 re = next();
    return {re, next()};
  }
}

template <class T>
wsl::tlr::low_rank<T> random_tiles(int rows, int columns, int side, int most) {
  std::mt19937 random(5);
  wsl::tlr::low_rank<T> a(rows, columns, side);
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      wsl::tlr::factors<T> f{(i * 2 + j) % (most + 1), {}, {}};
      for (int k = 0; k < f.rank * a.rows_of(i).size(); ++k) f.u.push_back(number<T>(random));
      for (int k = 0; k < f.rank * a.columns_of(j).size(); ++k) f.v.push_back(number<T>(random));
      a.set(i, j, std::move(f));
    }
  return a;
}

template <class T>
void require_same(const wsl::tlr::low_rank<T>& a, const wsl::tlr::low_rank<T>& b) {
  REQUIRE((a.rows() == b.rows() && a.columns() == b.columns() && a.side() == b.side()));
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      CHECK(a.at(i, j).rank == b.at(i, j).rank);
      CHECK(a.at(i, j).u == b.at(i, j).u);
      CHECK(a.at(i, j).v == b.at(i, j).v);
    }
}

/// 3 x 5 in tiles of 2: two rows of three tiles, of the ranks 1 2 0 and 1 0 1; numbers of padding are 99.
stored_bases<f32> example() {
  return {{{2, 3}, {1, 2, 0, 1, 0, 1}},
          {{10}, {1, 2, 3, 4, 5, 6, 7, 99, 8, 99}},
          {{5, 2}, {11, 21, 12, 22, 31, 41, 32, 42, 51, 99}}};
}

}  // namespace

TEST_CASE("wsl-tlr: the order of the numbers of bases") {
  const auto a = bases_from<f32>(example(), {3, 5, 2}, "a");
  // V of the first column of tiles is 2 x 2, column by column: (11, 12) and (21, 22) are its rows.
  CHECK(a.at(0, 0).v == std::vector<f32>{11, 12});
  CHECK(a.at(1, 0).v == std::vector<f32>{21, 22});
  CHECK(a.at(0, 1).v == std::vector<f32>{31, 32, 41, 42});
  CHECK(a.at(1, 2).v == std::vector<f32>{51});
  CHECK(a.at(0, 0).u == std::vector<f32>{1, 2});
  CHECK(a.at(0, 1).u == std::vector<f32>{3, 4, 5, 6});
  CHECK(a.at(1, 0).u == std::vector<f32>{7});
  CHECK(a.at(1, 2).u == std::vector<f32>{8});
  CHECK(a.at(0, 2).rank == 0);
  stored_bases<f32> expected = example();
  expected.u.numbers[7] = expected.u.numbers[9] = expected.v.numbers[9] = 0;
  const stored_bases<f32> stored = bases_of(a);
  CHECK(stored.ranks.shape == expected.ranks.shape);
  CHECK(stored.ranks.numbers == expected.ranks.numbers);
  CHECK(stored.u.numbers == expected.u.numbers);
  CHECK(stored.v.numbers == expected.v.numbers);
  CHECK((stored.u.shape == std::vector<std::size_t>{5, 2} && stored.v.shape == std::vector<std::size_t>{10}));
  // Without a shape the tiles are whole.
  const auto whole = bases_from<f32>(example(), {}, "a");
  CHECK((whole.rows() == 4 && whole.columns() == 6 && whole.side() == 2));
  CHECK(whole.at(1, 2).v == std::vector<f32>{51, 99});
}

TEST_CASE("wsl-tlr: arrays that contradict each other are named") {
  const auto says = [](const std::string& words, const bases_shape& shape, auto change) {
    stored_bases<f32> x = example();
    change(x);
    CHECK_THROWS_WITH(bases_from(x, shape, "the tiles"), Contains("the tiles") && Contains(words));
  };
  const auto nothing = [](auto&) {};
  says("2 tiles of 2 make 3 to 4 rows", {5, 5, 2}, nothing);
  says("make 3 to 4 rows", {2, 5, 2}, nothing);
  says("3 tiles of 2 make 5 to 6 columns", {3, 7, 2}, nothing);
  says("make 3 to 4 rows", {-3, 5, 2}, nothing);
  says("U has 10 numbers; ranks of 5 in all take 15 with tiles of 3", {0, 0, 3}, nothing);
  says("times the side of a tile, 1 to 4096", {0, 0, i64{1} << 62}, nothing);
  says("table of ranks is (6)", {}, [](auto& x) { x.ranks.shape = {6}; });
  says("table of ranks is (0, 4)", {}, [](auto& x) { x.ranks = {{0, 4}, {}}; });
  says("the rank of tile (1, 0) is -1", {}, [](auto& x) { x.ranks.numbers[3] = -1; });
  says("the rank of tile (0, 1) is 9223372036854775807", {},
       [](auto& x) { x.ranks.numbers[1] = std::numeric_limits<i64>::max(); });
  says("the rank of tile (0, 0) is 3, more than the side of a tile, 2", {},
       [](auto& x) { x.ranks.numbers = {3, 1, 0, 0, 0, 1}; });
  says("V has 9 numbers, and U 10", {}, [](auto& x) { x.v.numbers.pop_back(); });
  says("U has 9 numbers", {0, 0, 2}, [](auto& x) { x.u.numbers.pop_back(); });
  says("number 3 of V is not finite", {}, [](auto& x) { x.v.numbers[3] = std::nanf(""); });
  says("give it with --tile", {}, [](auto& x) { x = {{{1, 1}, {0}}, {{0}, {}}, {{0}, {}}}; });
  const auto zeros = bases_from<f32>({{{1, 2}, {0, 0}}, {{0}, {}}, {{0}, {}}}, {0, 0, 7}, "zeros");
  CHECK((zeros.rows() == 7 && zeros.columns() == 14 && zeros.ranks() == 0));
}

TEMPLATE_TEST_CASE("wsl-tlr: tiles come back from the files in which they are written", "", f32, complex) {
  const folder here;
  for (const auto& [rows, columns, side, most] : {std::array{33, 50, 8, 5}, {8, 8, 8, 1}, {1, 20, 3, 0}}) {
    const auto a = random_tiles<TestType>(rows, columns, side, most);
    write_bases(here / "tiles", a);
    CHECK(is_complex_bases(here / "tiles") == std::is_same_v<TestType, complex>);
    require_same(read_bases<TestType>(here / "tiles", {}), a);
    if (std::is_same_v<TestType, f32>)  // real tiles are complex ones too
      CHECK(read_bases<complex>(here / "tiles", {}).ranks() == a.ranks());
#ifdef WSL_TLR_HDF5
    write_bases(here / "tiles.h5", a);
    CHECK(is_complex_bases(here / "tiles.h5") == std::is_same_v<TestType, complex>);
    require_same(read_bases<TestType>(here / "tiles.h5", {}), a);
#endif
  }
  CHECK_THROWS_WITH(read_bases<TestType>(here / "tiles", {.tile = 4}),
                    Contains("3 as the side of a tile, and the command line 4"));
}

TEST_CASE("wsl-tlr: the error of tiles is their distance from the dense matrix") {
  const auto a = bases_from<f32>(example(), {3, 5, 2}, "a");
  std::vector<f32> dense(15);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < a.at(i / 2, j / 2).rank; ++k) {
        const auto& f = a.at(i / 2, j / 2);
        const int r = a.rows_of(i / 2).size(), c = a.columns_of(j / 2).size();
        dense[static_cast<std::size_t>(i * 5 + j)] +=
            f.u[static_cast<std::size_t>(k * r + i % 2)] * f.v[static_cast<std::size_t>(k * c + j % 2)];
      }
  auto b = a;
  measure_error(b, dense);
  CHECK(b.error == 0);
  dense[4] += 3, dense[12] -= 4;
  measure_error(b, dense);
  CHECK(b.error == Approx(5));
}

TEST_CASE("wsl-tlr: matrices, vectors and lists of files") {
  const folder here;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(here / name, std::ios::binary) << bytes;
    return here / name;
  };
  const std::vector<f32> numbers{1, 2, 3, 4, 5, 6};
  const std::string m = write("m.npy", app::npy_bytes<f32>({2, 3}, numbers));
  const auto a = read_matrix<f32>(m, "matrix");
  CHECK((a.rows == 2 && a.columns == 3 && a.numbers == numbers));
  CHECK(read_matrix<complex>(m, "matrix").numbers[5] == complex(6));
  CHECK((about_array(m, "").kind == app::number_kind::real &&
         about_array(m, "").shape == std::vector<std::size_t>{2, 3}));
  CHECK_THROWS_WITH(read_matrix<f32>(write("v.npy", app::npy_bytes<f32>({6}, numbers)), "matrix"),
                    Contains("v.npy: its array is (6)"));
  CHECK_THROWS_WITH(read_matrix<f32>(write("no.npy", app::npy_bytes<f32>({0, 3}, {})), "matrix"),
                    Contains("not 1 to 1048576 rows"));
  CHECK(read_vectors<f32>(here / "v.npy", "", 1, 6).numbers == numbers);
  CHECK(read_vectors<f32>(m, "", 2, 3).numbers == numbers);
  CHECK_THROWS_WITH(read_vectors<f32>(m, "", 3, 3), Contains("the product takes (3), or (3, 3)"));
  CHECK_THROWS_WITH(read_matrix<f32>(write("x", "nothing"), ""), Contains("no array of NumPy"));
  const std::string list = write("list", "m.npy # the first\n\n  v.npy\r\n/x\n");
  CHECK(names_of({"a", "@" + list}, "--matrix") ==
        std::vector<std::string>{"a", here / "m.npy", here / "v.npy", "/x"});
  CHECK_THROWS_WITH(names_of({"@"}, "--matrix"), Contains("--matrix: behind @ stands"));
}
