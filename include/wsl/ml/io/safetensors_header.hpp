// SPDX-License-Identifier: MIT
// The header of a safetensors file, parsed and checked: names, types, shapes and places of its tensors, and
// metadata. The rules are those of the reference reader (huggingface/safetensors, safetensors/src/tensor.rs).
// Memory is allocated only for the contents of the text itself.
#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/compiled.hpp"

namespace wsl::ml {

/// The types that tensors may have, with their bits.
struct tensor_type {
  std::string_view name;
  int bits = 0;
};
inline constexpr std::array tensor_types{
    tensor_type{"BOOL", 8},        tensor_type{"F4", 4},          tensor_type{"F6_E2M3", 6},
    tensor_type{"F6_E3M2", 6},     tensor_type{"U8", 8},          tensor_type{"I8", 8},
    tensor_type{"F8_E5M2", 8},     tensor_type{"F8_E4M3", 8},     tensor_type{"F8_E8M0", 8},
    tensor_type{"F8_E4M3FNUZ", 8}, tensor_type{"F8_E5M2FNUZ", 8}, tensor_type{"I16", 16},
    tensor_type{"U16", 16},        tensor_type{"F16", 16},        tensor_type{"BF16", 16},
    tensor_type{"I32", 32},        tensor_type{"U32", 32},        tensor_type{"F32", 32},
    tensor_type{"C64", 64},        tensor_type{"F64", 64},        tensor_type{"I64", 64},
    tensor_type{"U64", 64}};

struct tensor_info {
  std::string name;
  tensor_type type;
  std::vector<u64> shape;  ///< empty for a scalar
  u64 begin = 0, end = 0;  ///< its place in bytes, counted from the end of the header

  u64 count() const {
    u64 n = 1;
    for (u64 d : shape) n *= d;
    return n;
  }
};

using text_by_name = std::map<std::string, std::string>;

struct safetensors_header {
  std::vector<tensor_info> tensors;  ///< the tensors in the order of their places
  text_by_name metadata;
};

/// Parses the text of a header that is followed by `data_bytes` bytes. Returns a sentence that states the
/// mistake, or an empty one.
std::string parse_safetensors_header(std::string_view text, u64 data_bytes, safetensors_header& to);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "safetensors/parse.hpp"
#endif
