// SPDX-License-Identifier: MIT
// The machine's scalar types under the short names that programs use. f16 and bf16 live in half.hpp.
#pragma once
#include "../support/cxx20.hpp"
#include "namespaces.hpp"

#include <cstdint>

namespace wsl {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;  // host side only: no machine has it

}  // namespace wsl
