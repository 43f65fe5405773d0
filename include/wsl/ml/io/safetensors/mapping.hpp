// SPDX-License-Identifier: MIT
// Maps the weights of a model in safetensors files, for ../mapped_weights.hpp: a part of the library that can
// be compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "../mapped_weights.hpp"

namespace wsl::ml {

WSL_ML_DATA_COMPILED_PART void file_mapper::add(std::size_t k, safetensors_file& in, const tensor_info& t,
                                                std::span<const i32> rows, bool transposed) {
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

WSL_ML_DATA_COMPILED_PART std::span<f32> file_mapper::vector(std::size_t k, std::size_t n) {
  auto& numbers = vectors_[k];
  if (!numbers) {
    numbers = std::make_shared<std::vector<f32>>(n);
    to_.keep(numbers);
    to_.add(k, {.rows = 1, .first = numbers->data(), .row_stride = static_cast<i64>(n)});
  }
  return *numbers;
}

WSL_ML_DATA_COMPILED_PART std::optional<precision> file_mapper::format_of(const tensor_type& t) {
  if (t.name == "F32") return precision::f32;
  if (t.name == "BF16") return precision::bfloat16;
  if (t.name == "F16") return precision::float16;
  return {};
}

WSL_ML_DATA_COMPILED_PART std::span<const std::byte> file_mapper::bytes_of(safetensors_file& in) {
  auto& found = files_[in.name()];
  if (!found.owner) found = in.map(), to_.keep(found.owner);
  return found.numbers;
}

WSL_ML_DATA_COMPILED_PART stored_weights mapped_weights(const std::string& name, const network& n,
                                                        const std::string& suffix) {
  safetensors_file in(name);
  stored_weights w(n);
  file_mapper file(w);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const std::string tensor = n.parameters()[k].frozen ? w[k].name : w[k].name + suffix;
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
