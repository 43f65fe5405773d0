// SPDX-License-Identifier: MIT
// Reads and writes checkpoints, for ../checkpoint.hpp: a part of the library that can be compiled once, see
// ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <zlib.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "../checkpoint.hpp"

namespace wsl::ml {

namespace detail {

inline unsigned long checksum(unsigned long sum, const void* bytes, std::size_t size) {
  return ::crc32_z(sum, static_cast<const Bytef*>(bytes), size);
}

/// A sum over the facts, and the names and shapes of the tensors in the order in which they lie in the file.
template <class Tensors>
std::string checksum_of_facts(const text_by_name& facts, const Tensors& tensors) {
  unsigned long sum = 0;
  // the length, too, so that no letter can move from one text to the next
  const auto add = [&](const std::string& text) {
    const u64 size = text.size();
    sum = checksum(checksum(sum, &size, sizeof size), text.data(), text.size());
  };
  for (const auto& [key, text] : facts)
    if (key != "format" && key != checkpoint_facts_sum) add(key), add(text);
  for (const auto& t : tensors) add(t.name), add(text_of(t.shape));
  return std::to_string(sum);
}

/// Whether it is the name of something that an optimizer keeps for one of the arrays.
inline bool is_kept_for(std::span<const named_array> arrays, const std::string& name) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [&](const named_array& a) { return name.starts_with(a.name + "/"); });
}

}  // namespace detail

WSL_ML_DATA_COMPILED_PART checkpoint::checkpoint(const std::string& name) : in_(name) {
  if (in_.text(detail::checkpoint_form) != "1")
    throw file_error(fmt::format("wsl: {} is a checkpoint of form {}; this program reads form 1", name,
                                 in_.text(detail::checkpoint_form)));
}

WSL_ML_DATA_COMPILED_PART void checkpoint::require_undamaged() {
  if (const auto facts_sum = facts().find(detail::checkpoint_facts_sum);
      facts_sum != facts().end() && facts_sum->second != detail::checksum_of_facts(facts(), in_.tensors()))
    throw file_error(fmt::format(
        "wsl: {}: the header is damaged, its checksum is another: go on from an earlier checkpoint", name()));
  const std::string sum = std::to_string(in_.checksum(&detail::checksum));
  if (sum != fact(detail::checkpoint_sum))
    throw file_error(fmt::format(
        "wsl: {}: the numbers are damaged, their checksum is {}, not {}: go on from an earlier checkpoint",
        name(), sum, fact(detail::checkpoint_sum)));
}

WSL_ML_DATA_COMPILED_PART bool checkpoint::has(std::string_view name) const {
  return std::any_of(in_.tensors().begin(), in_.tensors().end(),
                     [&](const tensor_info& t) { return t.name == name; });
}

WSL_ML_DATA_COMPILED_PART std::vector<std::string> checkpoint::masked() const {
  std::vector<std::string> names;
  for (const tensor_info& t : in_.tensors())
    if (t.name.ends_with(named_mask::suffix)) {
      const std::string array = t.name.substr(0, t.name.size() - named_mask::suffix.size());
      if (has(array)) names.push_back(array);
    }
  return names;
}

WSL_ML_DATA_COMPILED_PART std::vector<u8> checkpoint::mask_of(const std::string& array,
                                                              const std::vector<u64>& shape) {
  return in_.read_bool(in_.get(array + std::string(named_mask::suffix), shape));
}

WSL_ML_DATA_COMPILED_PART void checkpoint::require(
    std::span<const named_array> arrays, const std::function<bool(std::string_view suffix)>& leaves_out) {
  const auto belongs_to = [&](const named_array& a, const std::string& name) {
    return a.name == name || (leaves_out && name.starts_with(a.name) &&
                              leaves_out(std::string_view(name).substr(a.name.size())));
  };
  for (const named_array& a : arrays) in_.get(a.name, a.shape);
  for (const tensor_info& t : in_.tensors())
    if (std::none_of(arrays.begin(), arrays.end(),
                     [&](const named_array& a) { return belongs_to(a, t.name); }))
      throw file_error(fmt::format(
          "wsl: {} has a tensor '{}' for which there is no place: it is of {}", name(), t.name,
          detail::is_kept_for(arrays, t.name) ? "the same model with another optimizer" : "another model"));
  require_undamaged();
}

WSL_ML_DATA_COMPILED_PART void checkpoint::restore(
    std::span<const named_array> arrays, const std::function<bool(std::string_view suffix)>& leaves_out) {
  require(arrays, leaves_out);
  for (const named_array& a : arrays) {
    const std::vector<f32> numbers = in_.numbers(a.name, a.shape);
    std::copy(numbers.begin(), numbers.end(), a.numbers.begin());
  }
}

WSL_ML_DATA_COMPILED_PART checkpoints::checkpoints(std::string folder, int keep)
    : folder_(std::move(folder)), keep_(keep) {
  if (keep < 0) throw std::invalid_argument(fmt::format("wsl: 0 or more checkpoints are kept, not {}", keep));
}

WSL_ML_DATA_COMPILED_PART std::string checkpoints::save(i64 step, std::span<const named_array> arrays,
                                                        text_by_name facts,
                                                        std::span<const named_mask> masks) const {
  std::error_code why;
  std::filesystem::create_directories(folder_, why);
  if (why)
    throw std::runtime_error(fmt::format(
        "wsl: cannot make the folder {} for checkpoints: {}: take another one", folder_, why.message()));
  std::vector<tensor_view> tensors;
  for (const named_array& a : arrays) tensors.emplace_back(a.name, a.shape, std::span<const f32>(a.numbers));
  for (const named_mask& m : masks)
    tensors.push_back(tensor_view::of_bool(m.name + std::string(named_mask::suffix), m.shape, m.places));
  // the order in which they will lie in the file
  std::sort(tensors.begin(), tensors.end(), [](const tensor_view& a, const tensor_view& b) {
    return a.type.bits != b.type.bits ? a.type.bits > b.type.bits : a.name < b.name;
  });
  unsigned long sum = 0;
  for (const tensor_view& t : tensors) sum = detail::checksum(sum, t.bytes.data(), t.bytes.size());
  facts[detail::checkpoint_form] = "1", facts[detail::checkpoint_step] = std::to_string(step),
  facts[detail::checkpoint_sum] = std::to_string(sum);
  facts[detail::checkpoint_facts_sum] = detail::checksum_of_facts(facts, tensors);
  const std::string name = name_of(step);
  write_safetensors(name, std::move(tensors), std::move(facts));
  remove_oldest(step);
  return name;
}

WSL_ML_DATA_COMPILED_PART std::vector<i64> checkpoints::steps() const {
  std::vector<i64> all;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder_, none)) {
    const std::string name = file.path().filename().string();
    constexpr std::string_view begin = "checkpoint_", end = ".safetensors";
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    i64 step = 0;
    const char *first = name.data() + begin.size(), *last = name.data() + name.size() - end.size();
    if (const auto r = std::from_chars(first, last, step); r.ec == std::errc{} && r.ptr == last && step >= 0)
      all.push_back(step);
  }
  std::sort(all.begin(), all.end());
  return all;
}

WSL_ML_DATA_COMPILED_PART std::string checkpoints::name_of(i64 step) const {
  return fmt::format("{}/checkpoint_{}.safetensors", folder_, step);
}

WSL_ML_DATA_COMPILED_PART std::optional<std::string> checkpoints::newest(
    std::vector<std::string>* rejected) const {
  const std::vector<i64> all = steps();
  for (auto step = all.rbegin(); step != all.rend(); ++step) try {
      checkpoint c(name_of(*step));
      c.require_undamaged();
      if (c.step() == *step) return c.name();
      throw file_error(fmt::format("wsl: {} is of another step than its name says", name_of(*step)));
    } catch (const file_error& e) {
      if (rejected) rejected->push_back(e.what());
    }
  return {};
}

WSL_ML_DATA_COMPILED_PART void checkpoints::remove_oldest(i64 newest) const {
  if (!keep_) return;
  std::vector<i64> all = steps();
  std::erase_if(all, [&](i64 s) { return s > newest; });
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) < all.size(); ++i)
    std::filesystem::remove(name_of(all[i]));
}

}  // namespace wsl::ml
