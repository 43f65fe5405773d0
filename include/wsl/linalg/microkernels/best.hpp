// SPDX-License-Identifier: MIT
// Chooses the microkernels for the processor, for ../microkernels.hpp: a part of the library that can be
// compiled once, see wsl/compiled.hpp.
#pragma once
#include "../microkernels.hpp"
#include "instruction_sets.hpp"

namespace wsl::dense {

WSL_COMPILED_PART const microkernels& best_microkernels() {
#ifdef __x86_64__
  static const microkernels& best =
      processor_has_bf16() && detail::processor_has_tiles()             ? microkernels_with_tiles<>
      : processor_has_bf16()                                            ? microkernels_with_bf16
      : __builtin_cpu_supports("avx512f")                               ? microkernels_of<detail::avx512>
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? microkernels_of<detail::avx2>
                                                                        : microkernels_of<detail::baseline>;
  return best;
#else
  return microkernels_of<detail::baseline>;
#endif
}

}  // namespace wsl::dense
