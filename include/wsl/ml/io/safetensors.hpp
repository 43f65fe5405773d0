// SPDX-License-Identifier: MIT
// safetensors: named tensors in a file that describes itself (huggingface/safetensors, README.md): 8 bytes of
// length, a header in JSON, the numbers. It is read without trust, and written completely or not at all.
//   write_safetensors("w.safetensors", {tensor_view("w", {2, 3}, numbers)});
//   safetensors_file in("w.safetensors");
//   const std::vector<f32> w = in.numbers("w", {2, 3});
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "../../core/half.hpp"
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
  /// Bytes that are 0 or 1, as the type BOOL.
  static tensor_view of_bool(std::string n, std::vector<u64> s, std::span<const u8> bits) {
    tensor_view t(std::move(n), std::move(s), bits);
    t.type.name = "BOOL";
    return t;
  }
};

/// Writes tensors and metadata. {"format", "pt"}, which readers of other projects expect, is always added.
/// Throws std::invalid_argument if two tensors have the same name, file_error if the file cannot be
/// written; then the file that was there before stays.
void write_safetensors(const std::string& name, std::vector<tensor_view> tensors, text_by_name metadata = {});

class safetensors_file {
 public:
  /// Reads and checks the header. Throws file_error.
  explicit safetensors_file(const std::string& name);

  const std::string& name() const { return in_.name(); }
  const std::vector<tensor_info>& tensors() const { return header_.tensors; }
  const text_by_name& metadata() const { return header_.metadata; }
  /// Throws file_error if there is no such text.
  const std::string& text(const std::string& key) const;

  /// Null if there is none of that name.
  const tensor_info* find(std::string_view tensor) const;
  /// Throws file_error if there is no tensor of that name, or one of another shape.
  const tensor_info& get(std::string_view tensor, const std::vector<u64>& shape) const;

  /// The numbers as they are. Throws file_error if they are of another type than T.
  template <class T>
  std::vector<T> read(const tensor_info& t) {
    if (t.type.name != detail::type_name_of<T>())
      throw file_error(fmt::format("wsl: {}: tensor '{}' has the type {}, not {}", name(), t.name,
                                   t.type.name, detail::type_name_of<T>()));
    in_.go_to(data_ + t.begin);
    return in_.take<T>(t.count(), "the tensor");
  }
  /// The bytes of the type BOOL, 0 and 1. Throws file_error for another type.
  std::vector<u8> read_bool(const tensor_info& t) {
    if (t.type.name != "BOOL")
      throw file_error(
          fmt::format("wsl: {}: tensor '{}' has the type {}, not BOOL", name(), t.name, t.type.name));
    in_.go_to(data_ + t.begin);
    return in_.take<u8>(t.count(), "the tensor");
  }
  /// The numbers as f32, rounded if they are wider. Throws file_error if they are not floating-point numbers
  /// of 16, 32 or 64 bits.
  std::vector<f32> numbers(const tensor_info& t);
  std::vector<f32> numbers(std::string_view tensor, const std::vector<u64>& shape);
  /// The bytes of all tensors, which stay on the disk until they are read; a tensor's begin at `begin`.
  mapped<std::byte> map();

  /// A sum over the bytes of all tensors as they lie in the file, part by part: sum = f(sum, bytes, size),
  /// from 0.
  unsigned long checksum(unsigned long (*f)(unsigned long, const void*, std::size_t));

 private:
  std::string beginning();
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

#ifndef WSL_ML_DATA_COMPILED
#include "safetensors/files.hpp"
#endif
