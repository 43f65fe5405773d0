// SPDX-License-Identifier: MIT
// The elements of exported members as numbers and as text, and the words of queues as what their colors
// carry.
#pragma once
#include <fmt/format.h>

#include <charconv>

#include "../core/control.hpp"
#include "machine_state.hpp"

namespace wsl::debug {

template <class T>
T element_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Holds the value of every element exactly, with 64 bits or more.
using exact_number = long double;

/// The number of an element; nothing for bytes.
inline std::optional<exact_number> number_of(element_kind kind, u32 bytes, const char* at) {
  switch (kind) {
    case element_kind::bytes: return {};
    case element_kind::boolean: return *at != 0;
    case element_kind::bf16:
      return static_cast<f64>(static_cast<f32>(std::bit_cast<bf16>(element_as<u16>(at))));
    case element_kind::real:
      return bytes == 2   ? static_cast<f64>(static_cast<f32>(std::bit_cast<f16>(element_as<u16>(at))))
             : bytes == 4 ? static_cast<f64>(element_as<f32>(at))
                          : element_as<f64>(at);
    case element_kind::signed_number:
      return bytes == 1   ? element_as<i8>(at)
             : bytes == 2 ? element_as<i16>(at)
             : bytes == 4 ? element_as<i32>(at)
                          : static_cast<exact_number>(element_as<i64>(at));
    case element_kind::unsigned_number: break;
  }
  return bytes == 1   ? element_as<u8>(at)
         : bytes == 2 ? element_as<u16>(at)
         : bytes == 4 ? element_as<u32>(at)
                      : static_cast<exact_number>(element_as<u64>(at));
}

template <class T>
std::string shortest(T x) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, x);
  return {text, end};
}

/// An element as text: numbers in as few digits as tell them apart, bytes in hexadecimal.
inline std::string text_of(element_kind kind, u32 bytes, const char* at) {
  if (kind == element_kind::boolean) return *at ? "true" : "false";
  if (kind == element_kind::real && bytes == 8) return shortest(element_as<f64>(at));
  if (kind == element_kind::real || kind == element_kind::bf16)
    return shortest(static_cast<f32>(*number_of(kind, bytes, at)));
  if (kind == element_kind::signed_number && bytes == 8) return shortest(element_as<i64>(at));
  if (kind == element_kind::unsigned_number && bytes == 8) return shortest(element_as<u64>(at));
  if (kind != element_kind::bytes) return shortest(static_cast<i64>(*number_of(kind, bytes, at)));
  std::string hex = "0x";
  for (u32 i = 0; i < bytes && i < 16; ++i) {
    const auto b = static_cast<u8>(at[i]);
    hex += "0123456789abcdef"[b >> 4], hex += "0123456789abcdef"[b & 15];
  }
  return bytes > 16 ? hex + "..." : hex;
}
inline std::string text_of(const member_info& m, const char* at) {
  return text_of(m.kind, m.element_bytes, at);
}

/// "f32[2][3]", or "i32[...]" of a container.
inline std::string type_of(const member_info& m) {
  std::string text = m.type;
  if (m.grows) return text + "[...]";
  for (u32 e : m.extents) text += "[" + std::to_string(e) + "]";
  return text;
}

/// The elements of a member, those of an inner array in brackets; at most `most`, with a note of the rest.
inline std::string text_of(const member_info& m, const member_values& v, u64 most = 64) {
  const u64 row = !m.grows && m.extents.size() > 1 ? m.extents.back() : 0;
  std::string text;
  for (u64 i = 0; i < v.count && i < most; ++i) {
    if (i) text += " ";
    if (row && i % row == 0) text += "[";
    text += text_of(m, v.first + i * m.element_bytes);
    if (row && i % row == row - 1) text += "]";
  }
  if (v.count > most) text += " ... (" + std::to_string(v.count) + " elements)";
  return v.count ? text : "no elements";
}

/// A word as what its color carries: `type` as in a path_info.
inline std::string text_of(const wavelet& w, std::string_view type) {
  if (w.control) return "control " + std::to_string(detail::control_word{w.bits}.id());
  const auto bytes = reinterpret_cast<const char*>(&w.bits);
  using kind = element_kind;
  constexpr std::tuple<std::string_view, kind, u32> known[] = {
      {"f32", kind::real, 4},          {"i32", kind::signed_number, 4},   {"u32", kind::unsigned_number, 4},
      {"i16", kind::signed_number, 2}, {"u16", kind::unsigned_number, 2}, {"f16", kind::real, 2},
      {"bf16", kind::bf16, 2}};
  for (const auto& [name, what, size] : known)
    if (type == name) return text_of(what, size, bytes);
  char hex[16];
  std::snprintf(hex, sizeof hex, "0x%08x", w.bits);
  return hex;
}

/// An element of a member, as "[1][2]"; nothing for a scalar.
inline std::string index_text(const member_info& m, u64 i) {
  if (m.grows) return fmt::format("[{}]", i);
  std::string text;
  for (std::size_t k = m.extents.size(); k-- > 0; i /= m.extents[k])
    text = fmt::format("[{}]", i % m.extents[k]) + text;
  return text;
}

}  // namespace wsl::debug
