// SPDX-License-Identifier: MIT
// A wavelet has 32 bits.
// says in 5 lines: wsl: a color carries values of two or four bytes, which a wavelet has room for: color<f32>
#include <wsl/wsl.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr color<f64> red{0};
#else
constexpr color<f32> red{0};
#endif
