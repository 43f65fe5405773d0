// SPDX-License-Identifier: MIT
// Volumes in HDF5, as wsl-wave writes and reads them.
#include "../hdf5_volume.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

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
  const volume back = hdf5_volume(name, "u");
  CHECK(back.size == v.size);
  CHECK(back.spacing == v.spacing);
  CHECK(back.numbers == v.numbers);
  CHECK_THROWS_WITH(hdf5_volume(name, "velocity"),
                    Contains(name) && Contains("'velocity'") && Contains("--model-dataset"));
  std::filesystem::resize_file(name, 500);
  CHECK_THROWS_AS(hdf5_volume(name, "u"), std::invalid_argument);
  std::filesystem::remove(name);
}
