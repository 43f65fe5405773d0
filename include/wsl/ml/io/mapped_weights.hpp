// SPDX-License-Identifier: MIT
// The weights of a model in safetensors files that are mapped: nothing is read before it is used, and what a
// checkpoint keeps beside the weights is not read at all.
//   stored_weights w = mapped_weights("run/checkpoint_2000.safetensors", net);
//   writer text{config, w};
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../model/stored_weights.hpp"
#include "safetensors.hpp"

namespace wsl::ml {

/// Tells stored weights where their rows lie in files, each of which is mapped once.
class file_mapper {
 public:
  explicit file_mapper(stored_weights& to) : to_(to) {}

  /// Parameter k has the rows of a tensor: row i of it is row rows[i] of the parameter, or row i if `rows` is
  /// empty. A transposed tensor has them as columns. Numbers that cannot be used where they lie (f64, or at
  /// an odd place) are read. Throws file_error if they are no floating-point numbers.
  void add(std::size_t k, safetensors_file& in, const tensor_info& t, std::span<const i32> rows = {},
           bool transposed = false);
  /// The n numbers of parameter k, a vector, to be set by the caller.
  std::span<f32> vector(std::size_t k, std::size_t n);

 private:
  static std::optional<precision> format_of(const tensor_type& t);
  std::span<const std::byte> bytes_of(safetensors_file& in);

  stored_weights& to_;
  std::map<std::string, mapped<std::byte>> files_;
  std::map<std::size_t, std::shared_ptr<std::vector<f32>>> vectors_;
};

/// The parameters of a network in a file that has them under their own names, with a suffix: a checkpoint,
/// or with "/ema" the averages that it keeps. Parameters that are frozen have none, and are taken without the
/// suffix. Throws file_error if one is missing or has another shape.
stored_weights mapped_weights(const std::string& name, const network& n, const std::string& suffix = "");

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "safetensors/mapping.hpp"
#endif
