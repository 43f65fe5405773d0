// SPDX-License-Identifier: MIT
// A PE of a wafer has no f64.
// says: a PE of a wafer multiplies f32, f16, bf16 or cb16: it has no f64, which gemm has on this computer
#include <wsl/kernel/gemm/wafer.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr int bytes = wafer_gemm<f64, {4, 4, 4}>::bytes;
#else
constexpr int bytes = wafer_gemm<f32, {4, 4, 4}>::bytes;
#endif
static_assert(bytes > 0);
