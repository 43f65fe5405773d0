// SPDX-License-Identifier: MIT
// Volumes in HDF5, as wsl-wave writes and reads them.
#include "../hdf5_volume.hpp"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>
#include <wsl/ml/data/hdf5/library.hpp>

using namespace wave_app;
using Catch::Contains;

TEST_CASE("wsl-wave: a volume in HDF5 comes back, and what is no volume is named") {
  volume v{{2, 3, 4}, {5, 6, 7}, {}};
  for (int i = 0; i < 24; ++i) v.numbers.push_back(static_cast<f32>(i));
  const std::string name =
      (std::filesystem::temp_directory_path() / ("wave_hdf5_" + std::to_string(::getpid()) + ".h5")).string();
  const volume_format around = hdf5_format(v.size, v.spacing);
  std::ofstream(name, std::ios::binary)
      << around.head
      << std::string_view(reinterpret_cast<const char*>(v.numbers.data()), v.numbers.size() * sizeof(f32))
      << around.tail;
  {
    const stored_volume back = hdf5_volume(name, "u");
    CHECK(back.size == v.size);
    CHECK(back.spacing == v.spacing);
    CHECK(numbers_of(back) == v.numbers);
  }
  CHECK_THROWS_WITH(hdf5_volume(name, "velocity"),
                    Contains(name) && Contains("'velocity'") && Contains("--model-dataset"));
  std::filesystem::resize_file(name, 500);
  CHECK_THROWS_AS(hdf5_volume(name, "u"), std::invalid_argument);
  std::filesystem::remove(name);
}

TEST_CASE("wsl-wave: parts of compressed datasets of 1 to 3 axes are read by several threads") {
  const std::string name =
      (std::filesystem::temp_directory_path() / ("wave_chunks_" + std::to_string(::getpid()) + ".h5"))
          .string();
  const cells size{6, 7, 8};
  std::vector<wsl::f64> numbers;
  for (std::size_t i = 0; i < size.count(); ++i) numbers.push_back(static_cast<wsl::f64>(i));
  {
    const wsl::ml::hdf5_gate gate;
    const wsl::ml::hdf5_id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose);
    const auto add = [&](const char* dataset, std::vector<hsize_t> shape, std::vector<hsize_t> chunk) {
      const int axes = static_cast<int>(shape.size());
      const wsl::ml::hdf5_id space(H5Screate_simple(axes, shape.data(), nullptr), &H5Sclose),
          how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
      REQUIRE(H5Pset_chunk(how.get(), axes, chunk.data()) >= 0);
      REQUIRE(H5Pset_deflate(how.get(), 4) >= 0);
      const wsl::ml::hdf5_id set(
          H5Dcreate2(file.get(), dataset, H5T_IEEE_F64BE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
          &H5Dclose);
      REQUIRE(H5Dwrite(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
    };
    add("xyz", {6, 7, 8}, {4, 3, 5}), add("xz", {6, 8}, {4, 4}), add("z", {8}, {3});
  }
  const stored_volume xyz = hdf5_volume(name, "xyz"), xz = hdf5_volume(name, "xz"),
                      z = hdf5_volume(name, "z");
  CHECK((xyz.size == size && xz.size == cells{6, 1, 8} && z.size == cells{1, 1, 8}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<f32> part(2 * 3 * 8);
      for (int x = 0; x < 5; ++x) {
        xyz.read({{x, x + 2}, {t, t + 3}}, part);
        for (int i = 0; i < 2; ++i)
          for (int y = 0; y < 3; ++y)
            for (int k = 0; k < 8; ++k)
              wrong +=
                  part[cells{2, 3, 8}.index({i, y, k})] != static_cast<f32>(size.index({x + i, t + y, k}));
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  std::vector<f32> line(8);
  xz.read({{4, 5}, {0, 1}}, line);
  CHECK((line.front() == 32 && line.back() == 39));
  z.read({{0, 1}, {0, 1}}, line);
  CHECK((line.front() == 0 && line.back() == 7));
  std::filesystem::remove(name);
}
