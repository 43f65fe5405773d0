// SPDX-License-Identifier: MIT
// The weights of a model in safetensors files that are mapped: nothing is read before it is used, and what a
// checkpoint keeps beside the weights is not read at all.
//   stored_weights w = mapped_weights("run/checkpoint_2000.safetensors", net);
//   writer text{config, w};
#pragma once
#include <fmt/format.h>

#include <map>

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
           bool transposed = false) {
    const int columns = to_[k].columns, count = static_cast<int>(t.count()) / columns;
    stored_rows all{.rows = count, .row_stride = columns};
    if (transposed) all.row_stride = 1, all.column_stride = count;
    const std::optional<precision> format = format_of(t.type);
    const std::byte* const at = bytes_of(in).data() + t.begin;
    if (format && reinterpret_cast<std::uintptr_t>(at) % ml::bytes_of(*format) == 0)
      all.first = at, all.format = *format;
    else {
      const auto numbers = std::make_shared<const std::vector<f32>>(in.numbers(t));
      all.first = numbers->data();
      to_.keep(numbers);
    }
    if (rows.empty()) return to_.add(k, all);
    const i64 apart = all.row_stride * static_cast<i64>(ml::bytes_of(all.format));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      stored_rows one = all;
      one.row = rows[i], one.rows = 1;
      one.first = static_cast<const std::byte*>(all.first) + static_cast<i64>(i) * apart;
      to_.add(k, one);
    }
  }
  /// The n numbers of parameter k, a vector, to be set by the caller.
  std::span<f32> vector(std::size_t k, std::size_t n) {
    auto& numbers = vectors_[k];
    if (!numbers) {
      numbers = std::make_shared<std::vector<f32>>(n);
      to_.keep(numbers);
      to_.add(k, {.rows = 1, .first = numbers->data(), .row_stride = static_cast<i64>(n)});
    }
    return *numbers;
  }

 private:
  static std::optional<precision> format_of(const tensor_type& t) {
    if (t.name == "F32") return precision::f32;
    if (t.name == "BF16") return precision::bfloat16;
    if (t.name == "F16") return precision::float16;
    return {};
  }
  std::span<const std::byte> bytes_of(safetensors_file& in) {
    auto& found = files_[in.name()];
    if (!found.owner) found = in.map(), to_.keep(found.owner);
    return found.numbers;
  }

  stored_weights& to_;
  std::map<std::string, mapped<std::byte>> files_;
  std::map<std::size_t, std::shared_ptr<std::vector<f32>>> vectors_;
};

/// The parameters of a network in a file that has them under their own names, with a suffix: a checkpoint,
/// or with "/ema" the averages that it keeps. Throws file_error if one is missing or has another shape.
inline stored_weights mapped_weights(const std::string& name, const network& n,
                                     const std::string& suffix = "") {
  safetensors_file in(name);
  stored_weights w(n);
  file_mapper file(w);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const std::string tensor = w[k].name + suffix;
    const tensor_info* t = in.find(tensor);
    const u64 size = static_cast<u64>(w[k].rows) * static_cast<u64>(w[k].columns);
    if (!t || t->count() != size)
      throw file_error(fmt::format("wsl: {} has no tensor '{}' of {} numbers: it is of another model", name,
                                   tensor, size));
    file.add(k, in, *t);
  }
  w.complete();
  return w;
}

}  // namespace wsl::ml
