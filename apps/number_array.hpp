// SPDX-License-Identifier: MIT
// Arrays of numbers, as the applications read them from files of others (npy.hpp, hdf5_numbers.hpp).
#pragma once
#include <complex>
#include <cstddef>
#include <vector>
#include <wsl/core/scalar.hpp>

namespace app {

enum class number_kind { whole, real, complex };

/// The kind and the shape of an array in a file whose numbers are not read.
struct array_about {
  number_kind kind;
  std::vector<std::size_t> shape;
};

/// T is f32, std::complex<f32> or i64.
template <class T>
struct number_array {
  std::vector<std::size_t> shape;
  std::vector<T> numbers;  ///< in C order: the last axis is fastest
};

/// Whether an array of T takes numbers of a kind: real numbers are also complex ones.
template <class T>
constexpr bool takes(number_kind kind) {
  if constexpr (std::is_same_v<T, wsl::i64>) return kind == number_kind::whole;
  else if constexpr (std::is_same_v<T, wsl::f32>) return kind == number_kind::real;
  else return kind != number_kind::whole;
}

}  // namespace app
