// SPDX-License-Identifier: MIT
// Chooses the microkernels for the processor, for ../microkernels.hpp: a part of the library that can be
// compiled once, see wsl/compiled.hpp.
#pragma once
#include <type_traits>

#include "../microkernels.hpp"
#include "instruction_sets.hpp"

namespace wsl::dense {

template <class T>
const microkernels<T>& best_microkernels() {
#ifdef __x86_64__
  static const microkernels<T>& best = []() -> const microkernels<T>& {
    if constexpr (std::is_same_v<T, f32>)
      if (processor_has_bf16())
        return detail::processor_has_tiles() ? microkernels_with_tiles<> : microkernels_with_bf16;
    if (__builtin_cpu_supports("avx512f")) return microkernels_of<detail::avx512<T>>;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return microkernels_of<detail::avx2<T>>;
    return microkernels_of<detail::baseline<T>>;
  }();
  return best;
#else
  return microkernels_of<detail::baseline<T>>;
#endif
}

#ifdef WSL_COMPILED
template const microkernels<f32>& best_microkernels<f32>();
template const microkernels<f64>& best_microkernels<f64>();
#endif

}  // namespace wsl::dense
