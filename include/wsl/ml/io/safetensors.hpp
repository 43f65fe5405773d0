// SPDX-License-Identifier: MIT
// safetensors: named tensors in a file that describes itself (huggingface/safetensors, README.md): 8 bytes of
// length, a header in JSON, the numbers. It is read without trust, and written completely or not at all.
//   write_safetensors("w.safetensors", {tensor_view("w", {2, 3}, numbers)});
//   safetensors_file in("w.safetensors");
//   const std::vector<f32> w = in.numbers("w", {2, 3});
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <span>

#include "../../core/half.hpp"
#include "../../support/whole_file.hpp"
#include "input_file.hpp"
#include "safetensors_header.hpp"

namespace wsl::ml {

namespace detail {

template <class T>
constexpr std::string_view type_name_of() {
  if constexpr (std::is_same_v<T, f32>) return "F32";
  else if constexpr (std::is_same_v<T, f64>) return "F64";
  else if constexpr (std::is_same_v<T, f16>) return "F16";
  else if constexpr (std::is_same_v<T, bf16>) return "BF16";
  else if constexpr (std::is_same_v<T, u8>) return "U8";
  else if constexpr (std::is_same_v<T, i8>) return "I8";
  else if constexpr (std::is_same_v<T, u16>) return "U16";
  else if constexpr (std::is_same_v<T, i16>) return "I16";
  else if constexpr (std::is_same_v<T, u32>) return "U32";
  else if constexpr (std::is_same_v<T, i32>) return "I32";
  else if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) return std::is_signed_v<T> ? "I64" : "U64";
}

}  // namespace detail

/// A shape as text: "(2, 3)".
inline std::string text_of(const std::vector<u64>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

/// A tensor to write: its name, its shape, and a view of its numbers in row-major order.
struct tensor_view {
  std::string name;
  tensor_type type;
  std::vector<u64> shape;
  std::span<const std::byte> bytes;

  /// Throws std::invalid_argument if the shape has another number of elements.
  template <class T>
  tensor_view(std::string n, std::vector<u64> s, std::span<const T> numbers)
      : name(std::move(n)),
        type{detail::type_name_of<T>(), 8 * static_cast<int>(sizeof(T))},
        shape(std::move(s)),
        bytes(std::as_bytes(numbers)) {
    if (const u64 count = tensor_info{{}, {}, shape}.count(); count != numbers.size())
      throw std::invalid_argument(
          fmt::format("wsl: tensor '{}' of shape {} has {} numbers", name, text_of(shape), numbers.size()));
  }
  template <class T>
  tensor_view(std::string n, std::vector<u64> s, const std::vector<T>& numbers)
      : tensor_view(std::move(n), std::move(s), std::span<const T>(numbers)) {}
};

/// Writes tensors and metadata. {"format", "pt"}, which readers of other projects expect, is always added.
/// Throws std::invalid_argument if two tensors have the same name, file_error if the file cannot be
/// written; then the file that was there before stays.
inline void write_safetensors(const std::string& name, std::vector<tensor_view> tensors,
                              text_by_name metadata = {}) {
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

class safetensors_file {
 public:
  /// Reads and checks the header. Throws file_error.
  explicit safetensors_file(const std::string& name) : in_(name) {
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

  const std::string& name() const { return in_.name(); }
  const std::vector<tensor_info>& tensors() const { return header_.tensors; }
  const text_by_name& metadata() const { return header_.metadata; }
  /// Throws file_error if there is no such text.
  const std::string& text(const std::string& key) const {
    const auto found = header_.metadata.find(key);
    if (found == header_.metadata.end())
      throw file_error(
          fmt::format("wsl: {} says nothing of '{}': it was not written by this program", name(), key));
    return found->second;
  }

  /// Null if there is none of that name.
  const tensor_info* find(std::string_view tensor) const {
    const auto found = std::find_if(tensors().begin(), tensors().end(),
                                    [&](const tensor_info& t) { return t.name == tensor; });
    return found == tensors().end() ? nullptr : &*found;
  }
  /// Throws file_error if there is no tensor of that name, or one of another shape.
  const tensor_info& get(std::string_view tensor, const std::vector<u64>& shape) const {
    const tensor_info* t = find(tensor);
    if (!t)
      throw file_error(fmt::format("wsl: {} has no tensor '{}': it is of another model", name(), tensor));
    if (t->shape != shape)
      throw file_error(fmt::format("wsl: {}: tensor '{}' has the shape {}, not {}: it is of another model",
                                   name(), t->name, text_of(t->shape), text_of(shape)));
    return *t;
  }

  /// The numbers as they are. Throws file_error if they are of another type than T.
  template <class T>
  std::vector<T> read(const tensor_info& t) {
    if (t.type.name != detail::type_name_of<T>())
      throw file_error(fmt::format("wsl: {}: tensor '{}' has the type {}, not {}", name(), t.name,
                                   t.type.name, detail::type_name_of<T>()));
    in_.go_to(data_ + t.begin);
    return in_.take<T>(t.count(), "the tensor");
  }
  /// The numbers as f32, rounded if they are wider. Throws file_error if they are not floating-point numbers
  /// of 16, 32 or 64 bits.
  std::vector<f32> numbers(const tensor_info& t) {
    if (t.type.name == "F32") return read<f32>(t);
    if (t.type.name == "F16") return converted(read<f16>(t));
    if (t.type.name == "BF16") return converted(read<bf16>(t));
    if (t.type.name == "F64") return converted(read<f64>(t));
    throw file_error(fmt::format("wsl: {}: tensor '{}' has the type {}; numbers are F32, F16, BF16 or F64",
                                 name(), t.name, t.type.name));
  }
  std::vector<f32> numbers(std::string_view tensor, const std::vector<u64>& shape) {
    return numbers(get(tensor, shape));
  }
  /// The bytes of all tensors, which stay on the disk until they are read; a tensor's begin at `begin`.
  mapped<std::byte> map() {
    in_.go_to(data_);
    return in_.map<std::byte>(in_.left(), "the tensors");
  }

  /// A sum over the bytes of all tensors as they lie in the file, part by part: sum = f(sum, bytes, size),
  /// from 0.
  unsigned long checksum(unsigned long (*f)(unsigned long, const void*, std::size_t)) {
    unsigned long sum = 0;
    in_.go_to(data_);
    while (in_.left()) {
      const std::vector<char> part = in_.take<char>(std::min<u64>(in_.left(), 1 << 20), "the tensors");
      sum = f(sum, part.data(), part.size());
    }
    return sum;
  }

 private:
  std::string beginning() {
    in_.go_to(0);
    return in_.take_text(std::min<u64>(in_.size(), 64), "the beginning");
  }
  template <class T>
  static std::vector<f32> converted(const std::vector<T>& from) {
    std::vector<f32> to(from.size());
    std::transform(from.begin(), from.end(), to.begin(), [](T x) { return static_cast<f32>(x); });
    return to;
  }

  input_file in_;
  u64 data_ = 0;
  safetensors_header header_;
};

}  // namespace wsl::ml
