// SPDX-License-Identifier: MIT
// How a sentence of the compiler names a place: enumerations, because compilers print these readably as
// template arguments.
#pragma once
#include "table.hpp"

namespace wsl::error {

enum class color_id : int {};
enum class column : int {};
enum class row : int {};
enum class number : int {};
enum class color_mask : u64 {};

template <auto...>
inline constexpr bool never = false;

}  // namespace wsl::error
