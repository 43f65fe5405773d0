// SPDX-License-Identifier: MIT
// Reads and writes safetensors files, for ../safetensors.hpp: a part of the library that can be compiled
// once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "../../../support/whole_file.hpp"
#include "../safetensors.hpp"

namespace wsl::ml {

WSL_ML_DATA_COMPILED_PART void write_safetensors(const std::string& name, std::vector<tensor_view> tensors,
                                                 text_by_name metadata) {
  // The order of the reference writer: the widest types first, so that all are aligned.
  std::sort(tensors.begin(), tensors.end(), [](const tensor_view& a, const tensor_view& b) {
    return std::pair(-a.type.bits, a.name) < std::pair(-b.type.bits, b.name);
  });
  metadata.emplace("format", "pt");
  std::string text = "{\"__metadata__\":" + nlohmann::json(metadata).dump();
  std::set<std::string_view> names;
  u64 at = 0;
  for (const tensor_view& t : tensors) {
    if (!names.insert(t.name).second)
      throw std::invalid_argument(fmt::format("wsl: {}: two tensors have the name '{}'", name, t.name));
    const nlohmann::json shape = t.shape, offsets{at, at + t.bytes.size()};
    text += "," + nlohmann::json(t.name).dump() + ":{\"dtype\":\"" + std::string(t.type.name) +
            "\",\"shape\":" + shape.dump() + ",\"data_offsets\":" + offsets.dump() + "}";
    at += t.bytes.size();
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const u64 size = text.size();
  support::whole_file out(name);
  out.write(&size, sizeof size);
  out.write(text);
  for (const tensor_view& t : tensors) out.write(t.bytes.data(), t.bytes.size());
  out.finish();
}

WSL_ML_DATA_COMPILED_PART safetensors_file::safetensors_file(const std::string& name) : in_(name) {
  constexpr u64 longest = 100'000'000;
  const u64 size = in_.take<u64>(1, "the length of the header")[0];
  if (size > longest && is_git_lfs_pointer(beginning()))
    throw file_error(fmt::format("wsl: {}: {}", name, git_lfs_remedy));
  if (size > longest)
    throw file_error(fmt::format(
        "wsl: {}: the header would have {} bytes, more than the {} of safetensors: this is no such file",
        name, size, longest));
  const std::string text = in_.take_text(size, "the header");
  data_ = in_.at();
  if (const std::string fault = parse_safetensors_header(text, in_.left(), header_); !fault.empty())
    throw file_error(fmt::format("wsl: {}: the header of safetensors is wrong: {}", name, fault));
}

WSL_ML_DATA_COMPILED_PART const std::string& safetensors_file::text(const std::string& key) const {
  const auto found = header_.metadata.find(key);
  if (found == header_.metadata.end())
    throw file_error(
        fmt::format("wsl: {} says nothing of '{}': it was not written by this program", name(), key));
  return found->second;
}

WSL_ML_DATA_COMPILED_PART const tensor_info* safetensors_file::find(std::string_view tensor) const {
  const auto found = std::find_if(tensors().begin(), tensors().end(),
                                  [&](const tensor_info& t) { return t.name == tensor; });
  return found == tensors().end() ? nullptr : &*found;
}

WSL_ML_DATA_COMPILED_PART const tensor_info& safetensors_file::get(std::string_view tensor,
                                                                   const std::vector<u64>& shape) const {
  const tensor_info* t = find(tensor);
  if (!t) throw file_error(fmt::format("wsl: {} has no tensor '{}': it is of another model", name(), tensor));
  if (t->shape != shape)
    throw file_error(fmt::format("wsl: {}: tensor '{}' has the shape {}, not {}: it is of another model",
                                 name(), t->name, text_of(t->shape), text_of(shape)));
  return *t;
}

WSL_ML_DATA_COMPILED_PART std::vector<f32> safetensors_file::numbers(const tensor_info& t) {
  if (t.type.name == "F32") return read<f32>(t);
  if (t.type.name == "F16") return converted(read<f16>(t));
  if (t.type.name == "BF16") return converted(read<bf16>(t));
  if (t.type.name == "F64") return converted(read<f64>(t));
  throw file_error(fmt::format("wsl: {}: tensor '{}' has the type {}; numbers are F32, F16, BF16 or F64",
                               name(), t.name, t.type.name));
}

WSL_ML_DATA_COMPILED_PART std::vector<f32> safetensors_file::numbers(std::string_view tensor,
                                                                     const std::vector<u64>& shape) {
  return numbers(get(tensor, shape));
}

WSL_ML_DATA_COMPILED_PART mapped<std::byte> safetensors_file::map() {
  in_.go_to(data_);
  return in_.map<std::byte>(in_.left(), "the tensors");
}

WSL_ML_DATA_COMPILED_PART unsigned long safetensors_file::checksum(unsigned long (*f)(unsigned long,
                                                                                      const void*,
                                                                                      std::size_t)) {
  unsigned long sum = 0;
  in_.go_to(data_);
  while (in_.left()) {
    const std::vector<char> part = in_.take<char>(std::min<u64>(in_.left(), 1 << 20), "the tensors");
    sum = f(sum, part.data(), part.size());
  }
  return sum;
}

WSL_ML_DATA_COMPILED_PART std::string safetensors_file::beginning() {
  in_.go_to(0);
  return in_.take_text(std::min<u64>(in_.size(), 64), "the beginning");
}

}  // namespace wsl::ml
