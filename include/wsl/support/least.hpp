// SPDX-License-Identifier: MIT
// The smaller and the larger of two numbers, for headers that every program includes: <algorithm> would cost each of them 0.03 s
// of compile time.
#pragma once

namespace wsl {

template <class T>
constexpr T least(T a, T b) { return b < a ? b : a; }
template <class T>
constexpr T most(T a, T b) { return a < b ? b : a; }

}  // namespace wsl
