// SPDX-License-Identifier: MIT
// A member of a PE program that tools show by name: what a dump and a layout file say of it. A program lists
// them, see program/exports.hpp.
#pragma once
#include <cstddef>

#include "../core/scalar.hpp"

namespace wsl::detail {

/// What the bytes of an element mean. The numbers are those of a dump.
enum class element_kind : u8 {
  bytes,  ///< of a class: shown as they are
  boolean,
  signed_number,
  unsigned_number,
  real,  ///< IEEE, of two, four or eight bytes
  bf16,
};

/// Elements that lie one after the other.
struct exported_elements {
  const void* first = nullptr;
  std::size_t count = 0;
};

struct exported_member {
  static constexpr int most_extents = 4;

  const char* name = "";
  const char* type = "";  ///< of an element
  element_kind kind = element_kind::bytes;
  u32 element_bytes = 0;
  u32 extents[most_extents] = {};  ///< of an array, the outermost first
  int rank = 0;                    ///< how many of them there are; 0 for a scalar
  /// whether the member is a container, whose number of elements changes; then it has one extent, 0
  bool grows = false;
  exported_elements (*elements)(const void* of_program) = nullptr;
  u32 bytes = 0;   ///< of the member itself
  u32 offset = 0;  ///< in the program, if `place` is null
  /// where the member lies; the program need not live, since nothing is read
  const void* (*place)(const void* of_program) = nullptr;
};

}  // namespace wsl::detail
