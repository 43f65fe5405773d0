// SPDX-License-Identifier: MIT
// The files that wsl-wave reads and writes, without the program: arrays of NumPy, raw models, lists of shots,
// wavelets, and models on other grids.
#include "../../npy.hpp"
#include "../model.hpp"
#include "../property.hpp"
#include "../raw_model.hpp"
#include "../shots.hpp"
#include "../turned_numbers.hpp"
#include "../wavelet_file.hpp"

#include <unistd.h>
#include <wsl/support/fingerprint.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace wave_app;
using Catch::Contains;

namespace {

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers, bool swapped = false) {
  std::string all;
  for (const Number& x : numbers) {
    std::string one(reinterpret_cast<const char*>(&x), sizeof x);
    if (swapped) one = {one.rbegin(), one.rend()};
    all += one;
  }
  return all;
}
std::string npy_file(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string size{static_cast<char>(dictionary.size() & 255), static_cast<char>(dictionary.size() >> 8)};
  if (version == 2) size += std::string(2, '\0');
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + size + dictionary + data;
}
std::string header(const std::string& lines) { return "wsl-wave model\n" + lines; }

}  // namespace

TEST_CASE("wsl-wave: arrays of NumPy are read in both orders, byte orders, sizes and versions") {
  const std::vector<f32> c{1, 2, 3, 4, 5, 6};
  const std::vector<f32> by_columns{1, 4, 2, 5, 3, 6};
  const std::vector<f64> wide(c.begin(), c.end());
  const auto reads = [&](const std::string& bytes) {
    const app::number_array<f32> a = app::npy_from_bytes<f32>(bytes, "a.npy");
    CHECK(a.shape == std::vector<std::size_t>{2, 3});
    CHECK(a.numbers == c);
  };
  reads(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", bytes_of(c)));
  reads(npy_file("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}\n", bytes_of(c, true)));
  reads(npy_file("{'shape': (2, 3), 'fortran_order': True, 'descr': '<f4'}", bytes_of(by_columns)));
  reads(npy_file("{\"descr\": \"<f8\", 'fortran_order': False, 'shape': (2, 3), }\n", bytes_of(wide), 2));
  reads(npy_file("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }\n", bytes_of(wide, true)));
  reads(app::npy_bytes<f32>({2, 3}, c));
  CHECK(app::npy_bytes<f32>({2, 3}, c).size() % 64 == 24);
}

TEST_CASE("wsl-wave: an array of NumPy that cannot be read is named with its fault") {
  const std::string data(24, '\0');
  const auto says = [&](const std::string& bytes, const std::string& words) {
    CHECK_THROWS_WITH(app::npy_from_bytes<f32>(bytes, "a.npy"), Contains("a.npy") && Contains(words));
  };
  const auto entry = [&](const std::string& descr, const std::string& shape) {
    return npy_file("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + ")}", data);
  };
  says("PK\x03\x04", "no array of NumPy");
  says("\x93NUMPY\x01", "ends too early");
  says(npy_file("{}", data), "is missing");
  says(npy_file("{'a': 1}", data), "'a', which the format does not know");
  says(npy_file(entry("<f4", "6"), "").substr(0, 30), "was cut short");
  says(entry("<i4", "6"), "numbers of the type '<i4'; f4 and f8 are read");
  says(entry("<f4", "7"), "the array (7) of <f4 is not what 24 bytes");
  says(entry("<f4", "5"), "not what 24 bytes");
  says(entry("<f4", "4294967296, 4294967296"), "not what 24 bytes");
  says(entry("<f4", "-1"), "'shape' is no list of sizes");
  says(npy_file("{'descr': '<f4', 'fortran_order': 1, 'shape': (6,)}", data), "neither True nor False");
  says(std::string("\x93NUMPY\x03\0", 8) + data, "version 3");
}

TEST_CASE(
    "wsl-wave: the header of a raw model has its size, its cells, and the order of its axes and bytes") {
  const std::string lines = "size 2 1 3 # cells\nspacing 5 6 7.5\n", plain = header(lines + "end\n"),
                    turned = header(lines + "order xyz\nbytes big\nend\n");
  const raw_header a = raw_header_of(plain + "1234", "m"), b = raw_header_of(turned, "m");
  CHECK((a.size == cells{2, 1, 3} && a.spacing == extent{5, 6, 7.5} && a.length == plain.size()));
  CHECK((a.order == "zyx" && !a.big_endian && a.data.empty()));
  CHECK((b.order == "xyz" && b.big_endian && b.length == turned.size()));
  CHECK(raw_header_of(header(lines + "\ndata other.bin\nend\n"), "m").data == "other.bin");
}

TEST_CASE("wsl-wave: numbers with their axes in any order are read in slabs, of which some are kept") {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("wsl_turned_{}", ::getpid());
  const auto is_read = [&](const cells& size, const std::string& order, const slabs& by, bool is_wide,
                           bool is_swapped) {
    const auto value = [](int x, int y, int z) { return static_cast<f32>(x + 2000 * y + 20000 * z); };
    // the file, the fastest axis first
    const auto length = [&](char axis) { return axis == 'x' ? size.x : axis == 'y' ? size.y : size.z; };
    std::string bytes = "head";
    int at[3] = {};
    for (at[2] = 0; at[2] < length(order[2]); ++at[2])
      for (at[1] = 0; at[1] < length(order[1]); ++at[1])
        for (at[0] = 0; at[0] < length(order[0]); ++at[0]) {
          const auto of = [&](char axis) { return at[order.find(axis)]; };
          const f32 v = value(of('x'), of('y'), of('z'));
          bytes +=
              is_wide ? bytes_of(std::vector<f64>{v}, is_swapped) : bytes_of(std::vector<f32>{v}, is_swapped);
        }
    std::ofstream(path, std::ios::binary) << bytes;
    const auto file = std::make_shared<const wsl::support::file_reader>(path.string());
    const stored_volume v = turned_numbers(file, 4, size, {}, {is_wide, is_swapped, order}, by);
    bool right = v.size == size && !v.is_plain;
    const auto read = [&](const wsl::grid::lines& some) {
      std::vector<f32> numbers(static_cast<std::size_t>(some.count() * size.z));
      v.read(some, numbers);
      auto next = numbers.begin();
      for (int x = some.x.from; x < some.x.to; ++x)
        for (int y = some.y.from; y < some.y.to; ++y)
          for (int z = 0; z < size.z; ++z) right &= *next++ == value(x, y, z);
    };
    // all at once, plane by plane and back, and a line; a part that begins and ends in slabs
    read({{0, size.x}, {0, size.y}});
    for (int x = 0; x < size.x; x += std::max(size.x / 20, 1)) read({{x, x + 1}, {0, size.y}});
    for (int x = size.x - 1; x > 0; x -= std::max(size.x / 20, 1))
      read({{x - 1, x + 1}, {size.y / 2, size.y}});
    read({{size.x / 3, size.x / 3 + 1}, {size.y - 1, size.y}}), read({{1, size.x}, {1, size.y}});
    CHECK(right);
  };
  for (const char* order : {"xyz", "yxz", "xzy", "zxy", "yzx", "zyx"})
    for (const slabs& by : {slabs{1, 1}, slabs{4, 1}, slabs{3, 2}, slabs{11, 1}})
      is_read({11, 3, 5}, order, by, by.planes == 4, by.planes != 3);
  // runs of numbers that lie far apart are read one by one
  for (const char* order : {"xyz", "xzy", "yxz", "zxy"}) is_read({1500, 3, 2}, order, {7, 2}, false, false);
  is_read({1500, 1, 2}, "xyz", {700, 1}, true, true);
  // one that is cut short after it was opened
  const auto file = std::make_shared<const wsl::support::file_reader>(path.string());
  std::filesystem::resize_file(path, 1000);
  const stored_volume cut = turned_numbers(file, 4, {1500, 1, 2}, {}, {true, true, "xyz"}, {7, 2});
  std::vector<f32> plane(2);
  CHECK_THROWS_WITH(cut.read({{5, 6}, {0, 1}}, plane), Contains(path.string() + ": it ends too early"));
  std::filesystem::remove(path);

  const auto plan = [](const cells& size, int processes, int threads) {
    const slabs s = slabs_of(size, processes, threads);
    return std::pair(s.planes, s.kept);
  };
  CHECK(plan({1200, 1200, 600}, 4, 2) == std::pair(38, 3));
  CHECK(plan({1200, 1200, 600}, 4, 64) == std::pair(38, 10));   // of 300 planes, and those beside them
  CHECK(plan({1200, 1200, 600}, 1, 64) == std::pair(150, 8));   // all of them
  CHECK(plan({512, 16, 128}, 4, 1) == std::pair(128, 2));       // small planes
  CHECK(plan({3, 100'000, 10'000}, 64, 4) == std::pair(1, 3));  // large ones
}

TEST_CASE("wsl-wave: the header of a raw model that cannot be read is named with its line") {
  const auto says = [&](const std::string& lines, const std::string& words) {
    CHECK_THROWS_WITH(raw_header_of(header(lines), "m.hdr"), Contains("m.hdr, line ") && Contains(words));
  };
  says("", "no line `end`");
  says("end\n", "without `size` and `spacing`");
  says("size 1 2\n", "line 2: 'size' is followed by 2 words, not by 3");
  says("size 1 2 0\n", "'0' is no number of cells");
  says("spacing 1 2 nan\n", "'nan' is no spacing");
  says("\norder xxz\n", "line 3: 'xxz' is no order of axes");
  says("bytes middle\n", "'middle' is no byte order");
  says("data ../../etc/passwd\n", "no name of a file beside the header");
  says("colour red\n", "'colour' is none of size");
  CHECK_THROWS_WITH(raw_header_of("size 1 1 1", "m.hdr"), Contains("begins with the line `wsl-wave model`"));
}

TEST_CASE("wsl-wave: a raw model in the order of the grid is read where it is needed") {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("wsl_raw_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name, const std::string& bytes) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  std::vector<f32> numbers;
  for (int i = 0; i < 30; ++i) numbers.push_back(1500.f + static_cast<f32>(i * 7 % 30));
  const auto source = [&](const std::string& path, bool has_grid = true, cells size = {2, 3, 5},
                          const std::vector<f64>& spacing = {}, keeping how = keeping::in_plain_files) {
    run_grid grid{size, 10, 24, has_grid};
    const property found = of_file({"--model", path, ""}, velocity_rule, spacing, grid, how, false);
    if (found.source) CHECK((grid.is_given && grid.bytes_of_whole < 5));
    if (found.source) CHECK(found.numbers.empty());
    else CHECK(found.numbers.size() == grid.size.count());
    return found.source;
  };
  const auto says = [&](const std::string& path, const std::string& sentence) {
    CHECK_THROWS_WITH(source(path), Contains(sentence));
  };
  const std::string lines = "size 2 3 5\nspacing 10 10 10\n";
  for (const std::string& path :
       {file("bare", bytes_of(numbers)), file("headed", header(lines + "end\n") + bytes_of(numbers)),
        file("array.npy", app::npy_bytes<f32>({2, 3, 5}, numbers)),
        file("big.npy", npy_file("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3, 5)}",
                                 bytes_of(std::vector<f64>(numbers.begin(), numbers.end()), true))),
        file("big", header(lines + "bytes big\nend\n") + bytes_of(numbers, true)),
        file("apart", header(lines + "data bare\nend\n"))}) {
    const auto found = source(path);
    REQUIRE(found);
    CHECK((found.least == 1500 && found.greatest == 1529));
    CHECK(found.fingerprint == wsl::support::fingerprint_of_blocks(numbers.data(), 120));
    std::vector<f32> part(20);
    found.read({{0, 2}, {1, 3}}, part);
    CHECK(std::equal(part.begin(), part.begin() + 10, numbers.begin() + 5));
    CHECK(std::equal(part.begin() + 10, part.end(), numbers.begin() + 20));
  }
  CHECK(source((folder / "headed").string(), false, {101, 101, 101}));
  // what is in another order, or of other cells, is not, unless there is no room for all of it
  const std::string turned = file("turned", header(lines + "order xyz\nend\n") + bytes_of(numbers)),
                    finer = file("finer", header("size 3 3 5\nspacing 5 5 5\nend\n") +
                                              bytes_of(std::vector<f32>(45, 2000)));
  CHECK_FALSE(source(turned));
  std::vector<f32> by_x;
  for (std::size_t i = 0; i < 30; ++i) by_x.push_back(numbers[i % 2 * 15 + i / 2 % 3 * 5 + i / 6]);
  const std::string fortran = file(
      "fortran.npy", npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 5)}", bytes_of(by_x)));
  const auto part_of_fortran = source(fortran, true, {2, 3, 5}, {}, keeping::in_files);
  REQUIRE(part_of_fortran);
  CHECK(part_of_fortran.fingerprint == wsl::support::fingerprint_of_blocks(numbers.data(), 120));
  CHECK(source(turned, true, {2, 3, 5}, {}, keeping::in_files));
  CHECK_FALSE(source(finer, true, {2, 2, 3}));
  const auto part_of_finer = source(finer, true, {2, 2, 3}, {}, keeping::in_files);
  REQUIRE(part_of_finer);
  std::vector<f32> plane(6);
  part_of_finer.read({{1, 2}, {0, 2}}, plane);
  CHECK(plane == std::vector<f32>(6, 2000));
  CHECK(source(file("own", header("size 2 3 5\nspacing 5 5 5\nend\n") + bytes_of(numbers)), true, {2, 3, 5},
               {10, 10, 10}));
  CHECK_FALSE(source((folder / "headed").string(), true, {2, 3, 4}));
  CHECK_FALSE(source((folder / "headed").string(), true, {2, 3, 5}, {}, keeping::in_memory));

  says(file("short", "12345678"), "--model: " + (folder / "short").string() +
                                      " has 8 bytes; a grid of 2 x 3 x 5 cells takes 120 (4 a cell)");
  says(file("headed_short", header(lines + "end\n") + "1234"), "has 4 bytes of numbers; a grid of");
  says(file("lost", header(lines + "data nothing\nend\n")),
       "lost has the line `data nothing`, and there is no file " + (folder / "nothing").string());
  says(file("longer", header(lines + "data bare\nend\n") + "x"), "goes on after its line `end`");
  CHECK_THROWS_WITH(
      source(
          file("claims", header("size 2000000000 2000000000 2000000000\nspacing 10 10 10\nend\n") + "1234"),
          false),
      Contains("has 4 bytes of numbers; a grid of 2000000000 x"));
  numbers[17] = -3;
  says(file("wrong", bytes_of(numbers)),
       "--model: number 17 of " + (folder / "wrong").string() + " is -3 m/s");
  numbers[17] = 1600;
  says(file("swapped", bytes_of(numbers, true)), "is big-endian: write it with little-endian numbers");
  std::filesystem::remove_all(folder);
}

TEST_CASE("wsl-wave: a list of shots") {
  const auto shots = shots_from_text(
      "kind,x,y,z\nsource,500,700,20 # the first\nreceiver,250.5,700,10,,\nline, 100, 700 "
      ",10,200,40\r\n\nsource,1,2,3\n",
      "shots.csv");
  REQUIRE(shots.size() == 2);
  CHECK(shots[0].source == wsl::wave25::point{500, 700, 20});
  REQUIRE(shots[0].receivers.size() == 2);
  CHECK(shots[0].receivers[0].at(0) == wsl::wave25::point{250.5, 700, 10});
  CHECK(shots[0].receivers[1].count == 3);
  CHECK(shots[0].receivers[1].at(2) == wsl::wave25::point{180, 700, 10});
  CHECK(shots[1].receivers.empty());
  const auto says = [&](const std::string& lines, const std::string& words) {
    CHECK_THROWS_WITH(shots_from_text(lines, "s"), Contains("s") && Contains(words));
  };
  says("", "there is no shot in it");
  says("x,y,z\n", "line 1: a list of shots begins with the line `kind,x,y,z`");
  says("kind\nreceiver,1,2,3\n", "line 2: a receiver belongs to the source before it");
  says("kind\nsource,1,2\n", "followed by 2 numbers, not by 3");
  says("kind\nsource,1,2,x\n", "'x' is no number of metres");
  says("kind\nsource,1,2,inf\n", "no number of metres");
  says("kind\nsink,1,2,3\n", "'sink' is none of source, receiver and line");
  says("kind\nsource,1,2,3\nline,1,2,3,0,1\n", "larger x");
  says("kind\nsource,1,2,3\nline,1,2,3,1e30,1\n", "a shot has at most 1000000");
  says("kind\nsource,1,2,3\nline,0,2,3,9e5,1\nline,0,2,3,9e5,1\n", "shot 1 has more than 1000000");
}

TEST_CASE("wsl-wave: a wavelet as text") {
  const signal plain = signal_from_text("# a wavelet\n1\n-2.5e0\n\n3", "w"),
               timed = signal_from_text("0.1 1\n0.3, 2\n0.5\t3\n", "w");
  CHECK(plain.samples == std::vector<f32>{1, -2.5f, 3});
  CHECK(plain.interval == 0);
  CHECK(timed.samples == std::vector<f32>{1, 2, 3});
  CHECK(timed.first == 0.1);
  CHECK(timed.interval == Approx(0.2));
  const auto says = [&](const std::string& lines, const std::string& words) {
    CHECK_THROWS_WITH(signal_from_text(lines, "w"), Contains("w") && Contains(words));
  };
  says("# nothing\n", "there is no number in it");
  says("1\nx\n", "line 2: 'x' is no number");
  says("1e60\n", "is no number of 32 bits");
  says("1\n2 3\n", "line 2: 2 numbers");
  says("1 2 3\n", "line 1: 3 numbers");
  says("0 1\n1 1\n3 1\n", "time 2 is 1 s, and with equal distances it would be 1.5 s");
  says("1 1\n0 1\n", "its times do not grow");
  says("1 1\n", "at least two lines");
}

TEST_CASE("wsl-wave: a signal at other times") {
  signal s{0.25, 0.01, {}};
  const auto wave = [](f64 t) { return std::exp(-200 * (t - 0.5) * (t - 0.5)) * std::cos(60 * t); };
  for (int i = 0; i < 60; ++i) s.samples.push_back(static_cast<f32>(wave(0.25 + 0.01 * i)));
  const auto v = at_times(s, 0, 0.0037, 300);
  for (std::size_t i = 0; i < v.size(); ++i)
    CHECK(v[i] == Approx(wave(0.0037 * static_cast<f64>(i))).margin(2e-3));
  CHECK(at_times(s, s.first, s.interval, s.samples.size()) == s.samples);
}

TEST_CASE("wsl-wave: a model on another grid is trilinear between its cells") {
  volume all{{3, 4, 5}, {20, 30, 40}, {}};
  const auto f = [](f64 x, f64 y, f64 z) {
    return 2000 + x - 2 * y + 3 * z + x * y / 100 - y * z / 200 + x * y * z / 1e4;
  };
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 4; ++y)
      for (int z = 0; z < 5; ++z) all.numbers.push_back(static_cast<f32>(f(20 * x, 30 * y, 40 * z)));
  const stored_volume m = stored(std::make_shared<volume>(all));
  const cells size{5, 10, 17};
  const stored_volume on_grid = resampled(m, size, 10, "m");
  const auto v = numbers_of(on_grid);
  for (int x = 0; x < 5; ++x)
    for (int y = 0; y < 10; ++y)
      for (int z = 0; z < 17; ++z) CHECK(v[size.index({x, y, z})] == Approx(f(10 * x, 10 * y, 10 * z)));
  // a part of the lines is that of all
  std::vector<f32> part(2 * 3 * 17);
  on_grid.read({{2, 4}, {4, 7}}, part);
  for (int x = 0; x < 2; ++x)
    for (int y = 0; y < 3; ++y)
      for (int z = 0; z < 17; ++z)
        CHECK(part[cells{2, 3, 17}.index({x, y, z})] == v[size.index({2 + x, 4 + y, z})]);
  CHECK(numbers_of(resampled(m, m.size, 10, "m")).size() == 60);
  CHECK_THROWS_WITH(resampled(m, {5, 10, 20}, 10, "m.npy"),
                    Contains("m.npy ends at z = 160 m, and the grid at 190 m"));
  const stored_volume line = stored(std::make_shared<volume>(volume{{1, 1, 2}, {5, 5, 10}, {1000, 2000}}));
  CHECK(numbers_of(resampled(line, {2, 1, 3}, 5, "m")) ==
        std::vector<f32>{1000, 1500, 2000, 1000, 1500, 2000});
}

TEST_CASE("wsl-wave: a property of the model is a number, layers, or a file") {
  run_grid grid{{2, 3, 5}, 10, 24, true};
  const auto property = [&](const std::vector<std::string>& words) {
    const property_rule any{"density", [](f32) { return true; }, "", ""};
    return of_words("--density", any, words, {}, grid, keeping::in_memory, false).numbers;
  };
  const auto says = [&](const std::vector<std::string>& words, const std::string& sentence) {
    CHECK_THROWS_WITH(property(words), Contains(sentence));
  };
  CHECK(property({"1.2e3"}) == std::vector<f32>{1200});
  CHECK(property({"-0.1"}) == std::vector<f32>{-0.1f});
  CHECK(property({"0", "1000", "15", "2000", "1e9", "3"}) == std::vector<f32>{1000, 1000, 2000, 2000, 2000});
  says({"no_such_file"}, "--density: cannot read no_such_file: No such file");
  says({"inf"}, "--density: cannot read inf");
  says({"0", "1000", "15", "x"},
       "--density: 'x' is no number; layers are given as a depth and a density each");
  says({"0", "1000", "15"},
       "--density: each layer has a depth and a density; of 3 numbers the last, 15, has no other");
  says({"1", "1000"}, "--density: the first layer begins at a depth of 0 m, not 1 m");
  says({"0", "1", "20", "2", "20", "3"}, "--density: depths grow from layer to layer");

  const auto folder = std::filesystem::temp_directory_path() / fmt::format("wsl_property_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name, const std::string& bytes) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  std::vector<f32> numbers;
  for (int i = 0; i < 30; ++i) numbers.push_back(static_cast<f32>(i));
  CHECK(property({file("bare", bytes_of(numbers))}) == numbers);
  CHECK(property({file("whole.npy", app::npy_bytes<f32>({2, 3, 5}, numbers))}) == numbers);
  // a line along z with cells of another size is one number for each z
  const property_rule positive{"density", [](f32 x) { return x > 0; }, " t/m^3", "densities are positive"};
  CHECK(of_words("--density", positive,
                 {file("line.npy", app::npy_bytes<f32>({3}, std::vector<f32>{1, 11, 21}))}, {20, 20, 20},
                 grid, keeping::in_files, false)
            .numbers == std::vector<f32>{1, 6, 11, 16, 21});
  for (const keeping how : {keeping::in_memory, keeping::in_files}) {
    CHECK_THROWS_WITH(
        of_words("--density", positive, {(folder / "whole.npy").string()}, {}, grid, how, false),
        Contains("--density: number 0 of " + (folder / "whole.npy").string() +
                 " is 0 t/m^3; densities are positive"));
    CHECK_THROWS_WITH(
        of_words("--density", positive, {(folder / "whole.npy").string()}, {20, 20, 20}, grid, how, false),
        Contains("whole.npy in cell (0, 0, 0) is 0 t/m^3"));
  }
  says({file("short", "12345678")}, "short has 8 bytes; a grid of 2 x 3 x 5 cells takes 120 (4 a cell)");
  says({file("line2.npy", app::npy_bytes<f32>({3}, std::vector<f32>{0, 10, 20}))},
       "line2.npy ends at z = 20 m, and the grid at 40 m");
  says({file("false.npy", "nothing")}, "--density: ");
  // no number is none in the other byte order
  const property_rule small{"epsilon", [](f32 x) { return x > -0.5f && x <= 2; }, "", "epsilon is small"};
  CHECK_THROWS_WITH(of_words("--epsilon", small, {file("nan", bytes_of(std::vector<f32>(30, NAN)))}, {}, grid,
                             keeping::in_memory, false),
                    Contains("--epsilon: number 0 of ") && Contains("nan is nan; epsilon is small"));
  // without a grid it is that of the file
  run_grid open{{101, 101, 101}, 10, 24, false};
  for (f32& x : numbers) x += 1500;
  CHECK(of_file({"--model", file("own.npy", app::npy_bytes<f32>({2, 3, 5}, numbers)), ""}, velocity_rule, {},
                open, keeping::in_memory, false)
            .numbers == numbers);
  CHECK(open.size == cells{2, 3, 5});
  CHECK(open.is_given);
  std::filesystem::remove_all(folder);
}
