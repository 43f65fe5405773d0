// SPDX-License-Identifier: MIT
// The compression of a matrix with numbers that no decomposition can have.
#include <wsl/kernel/tlr/compress.hpp>

#include <catch2/catch.hpp>

using namespace wsl;

TEST_CASE("compress: the first number that is not finite is named") {
  std::vector<f32> numbers(6 * 5, 1.f);
  numbers[2 * 5 + 4] = std::nanf(""), numbers[5 * 5] = INFINITY;
  CHECK_THROWS_WITH(tlr::compress<f32>({numbers.data(), 6, 5}, 4, 1e-3),
                    "wsl: the element (2, 4) of a matrix of (6, 5) to compress is not finite");
  std::vector<std::complex<f32>> pairs(4 * 4, {1, 1});
  pairs[1] = {0, -INFINITY};
  CHECK_THROWS_WITH(tlr::compress<std::complex<f32>>({pairs.data(), 4, 4}, 2, 0),
                    "wsl: the element (0, 1) of a matrix of (4, 4) to compress is not finite");
}

TEST_CASE("compress: factors that f32 does not hold are refused") {
  const std::vector<f32> numbers(4 * 4, 3e38f);  // the largest singular value is four times as large
  CHECK_THROWS_WITH(tlr::compress<f32>(
                        {numbers.data(), 4, 4}, 4, 1e-3, [] {}, 1),
                    "wsl: tile (0, 0): number 0 of its U is not finite as f32");
}
