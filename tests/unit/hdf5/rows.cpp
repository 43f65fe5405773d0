// SPDX-License-Identifier: MIT
// Rows of datasets: every form of storage and type gives the numbers that were written, whichever rows are
// asked for and on how many threads; what is damaged is an error with its place.
#include <thread>

#include "make.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace files;
using Catch::Matchers::Contains;

/// Numbers of an array of that shape, from 0 on, are read as they are, in all pieces of up to three rows.
void is_counted(const hdf5_rows& x, i64 from = 0) {
  for (i64 count : {i64{1}, i64{2}, i64{3}, x.count()})
    for (i64 first = 0; first + count <= x.count(); ++first) {
      const std::vector<i32> got = make::read(x, first, count);
      const std::vector<i64> wanted = make::counted(count * x.row(), from + first * x.row());
      REQUIRE(std::equal(got.begin(), got.end(), wanted.begin(), wanted.end()));
    }
}

TEST_CASE("rows of datasets in one piece and in chunks, compressed or not, are what was written") {
  const folder here;
  const std::vector<hsize_t> shape{7, 3, 10};
  for (const std::vector<hsize_t>& chunk :
       {std::vector<hsize_t>{}, {1, 3, 10}, {2, 3, 10}, {3, 2, 4}, {7, 3, 10}, {1, 1, 10}, {4, 3, 1}})
    for (const int gzip : {0, 6})
      for (const bool shuffles : {false, true})
        for (const bool sums : {false, true}) {
          if (chunk.empty() && (gzip || shuffles || sums)) continue;
          CAPTURE(chunk, gzip, shuffles, sums);
          make::hdf5(here / "x.h5")
              .add("data", {.shape = shape, .chunk = chunk, .gzip = gzip, .shuffles = shuffles, .sums = sums},
                   make::counted(210));
          const hdf5_rows x(here / "x.h5", "data");
          CHECK(x.shape() == std::vector<i64>{7, 3, 10});
          is_counted(x);
        }
}

TEST_CASE("whole numbers of every size, sign and order of bytes become 32 bits") {
  const folder here;
  const std::vector<hid_t> types{H5T_STD_I8LE,  H5T_STD_U8BE,  H5T_STD_I16LE, H5T_STD_I16BE, H5T_STD_U16LE,
                                 H5T_STD_U16BE, H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_U32LE, H5T_STD_U32BE,
                                 H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_U64LE, H5T_STD_U64BE};
  for (const hid_t type : types)
    for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>{}, {4, 5}}) {
      const bool has_sign = H5Tget_sign(type) == H5T_SGN_2;
      make::hdf5(here / "x.h5")
          .add("data", {.shape = {6, 5}, .chunk = chunk, .type = type, .gzip = chunk.empty() ? 0 : 1},
               make::counted(30, has_sign ? -12 : 90));
      is_counted(hdf5_rows(here / "x.h5", "data"), has_sign ? -12 : 90);
    }
}

TEST_CASE("numbers beyond 32 bits and numbers that are not whole are refused with their row") {
  const folder here;
  for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>{}, {3}}) {
    make::hdf5(here / "x.h5")
        .add("wide", {.shape = {5}, .chunk = chunk, .type = H5T_STD_I64LE}, {1, 2, 3, 4, i64{1} << 40})
        .add("unsigned", {.shape = {5}, .chunk = chunk, .type = H5T_STD_U32LE}, {1, 4000000000, 3, 4, 5})
        .add("real", {.shape = {5}, .chunk = chunk, .type = H5T_IEEE_F32LE}, {1, 2, 3, 4, 5});
    const hdf5_rows wide(here / "x.h5", "wide"), natural(here / "x.h5", "unsigned");
    CHECK(make::read(wide, 0, 3) == std::vector<i32>{1, 2, 3});
    CHECK_THROWS_WITH(make::read(wide, 4, 1),
                      "wsl: " + (here / "x.h5") +
                          ", dataset 'wide', row 4: 1099511627776 has more than 32 bits, and is no token");
    CHECK_THROWS_WITH(make::read(natural, 0, 5), Contains("row 1: 4000000000 has more than 32 bits"));
    CHECK_THROWS_WITH(
        hdf5_rows(here / "x.h5", "real"),
        Contains("dataset 'real': its numbers are floating-point ones, and whole ones are read here"));
  }
}

TEST_CASE("several threads read the same dataset at a time") {
  const folder here;
  make::hdf5(here / "x.h5")
      .add("data", {.shape = {64, 3, 40}, .chunk = {5, 3, 17}, .gzip = 4, .shuffles = true},
           make::counted(64 * 120));
  const hdf5_rows x(here / "x.h5", "data", std::make_shared<chunk_cache>(5000));  // some chunks
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<i32> row(120);
      for (i64 k = 0; k < 200; ++k) {
        const i64 i = (k * 37 + 11 * t) % 64;
        x.read(i, 1, row);
        for (std::size_t j = 0; j < row.size(); ++j) wrong += row[j] != i * 120 + static_cast<i64>(j);
      }
    });
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("more files than libhdf5 is left with open are read in turns") {
  const folder here;
  std::vector<hdf5_rows> all;
  for (int k = 0; k < 300; ++k) {
    const std::string name = here / fmt::format("{}.h5", k);
    make::hdf5(name).add("data", {.shape = {2}}, {k, k + 1});
    all.emplace_back(name, "data");
  }
  for (int turn = 0; turn < 2; ++turn)
    for (int k = 0; k < 300; ++k)
      REQUIRE(make::read(all[static_cast<std::size_t>(k)], 1, 1) == std::vector<i32>{k + 1});
}

TEST_CASE("files that are not whole are errors with the file, the dataset and the remedy") {
  const folder here;
  CHECK_THROWS_WITH(hdf5_rows(here / "none.h5", "data"),
                    Contains("cannot read " + (here / "none.h5") + ": No such file"));
  write(here / "text.h5", "This is no HDF5.");
  CHECK_THROWS_WITH(
      hdf5_rows(here / "text.h5", "data"),
      Contains("this is no whole file of HDF5 (libhdf5: ") && Contains("make or fetch it again"));
  make::hdf5(here / "x.h5")
      .add("data", {.shape = {4, 3, 100}, .chunk = {1, 3, 100}, .gzip = 4}, make::counted(1200))
      .add("plain", {.shape = {4, 100}}, make::counted(400))
      .add("empty", {.shape = {4, 100}, .chunk = {2, 100}}, {});
  CHECK_THROWS_WITH(hdf5_rows(here / "x.h5", "other"),
                    Contains("dataset 'other': there is none of this name"));
  CHECK_THROWS_WITH(
      make::read(hdf5_rows(here / "x.h5", "empty"), 2, 1),
      Contains("dataset 'empty', row 2: its chunk is not there: the file was not written to its end"));
  CHECK_THROWS_WITH(make::read(hdf5_rows(here / "x.h5", "data"), 3, 2),
                    Contains("has 4 rows, not those from 3 to 5"));
  const std::string whole = read_whole(here / "x.h5");
  write(here / "short.h5", whole.substr(0, whole.size() / 2));
  CHECK_THROWS_AS(make::read(hdf5_rows(here / "short.h5", "data"), 0, 4), file_error);
  // Each bit of the chunks' bytes is guarded by the checksum of zlib's streams.
  int refused = 0;
  for (std::size_t at = whole.size() / 2; at < whole.size(); at += 13) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write(here / "bad.h5", bad);
    try {
      const hdf5_rows x(here / "bad.h5", "data");
      const std::vector<i32> got = make::read(x, 0, 4);
      const std::vector<i64> wanted = make::counted(1200);
      REQUIRE(std::equal(got.begin(), got.end(), wanted.begin(), wanted.end()));
    } catch (const file_error& e) {
      ++refused;
      CHECK_THAT(e.what(), Contains("bad.h5"));
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("links to other files and datasets whose numbers lie there are refused") {
  const folder here;
  make::hdf5(here / "there.h5").add("data", {.shape = {4}}, make::counted(4));
  {
    make::hdf5 x(here / "x.h5");
    H5Lcreate_external("there.h5", "/data", x.id(), "data", H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t n = 4;
    const hdf5_id space(H5Screate_simple(1, &n, nullptr), &H5Sclose),
        how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    H5Pset_external(how.get(), "/etc/hostname", 0, 16);
    const hdf5_id set(
        H5Dcreate2(x.id(), "outside", H5T_STD_I32LE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
        &H5Dclose);
    REQUIRE(set);
  }
  CHECK_THROWS_WITH(hdf5_rows(here / "x.h5", "data"), Contains("it is a link to another file"));
  CHECK_THROWS_WITH(hdf5_rows(here / "x.h5", "outside"), Contains("its numbers are in other files"));
}

TEST_CASE("files that h5py wrote are read as libhdf5 reads them, where they are there") {
  const auto at = data_set("hdf5");
  if (!at) return;
  for (const auto& [file, set] : {std::pair("chunked", "dataset1"),
                                  {"compressed", "dataset1"},
                                  {"compressed", "dataset2"},
                                  {"resizable", "dataset2"},
                                  {"resizable", "dataset3"},
                                  {"fletcher32", "dataset1"}}) {
    CAPTURE(file, set);
    is_counted(hdf5_rows(*at + "/" + file + ".hdf5", set));
  }
  CHECK(make::read(hdf5_rows(*at + "/latest.hdf5", "dataset1"), 0, 4) == std::vector<i32>{0, 1, 2, 3});
  CHECK(hdf5_attribute(*at + "/latest.hdf5", "attr1") == -123);
  CHECK(hdf5_attribute(*at + "/latest.hdf5", "n_examples") == std::nullopt);
  CHECK(hdf5_datasets(*at + "/latest.hdf5") == std::vector<std::string>{"dataset1"});
}

}  // namespace
