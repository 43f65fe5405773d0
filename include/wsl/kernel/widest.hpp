// SPDX-License-Identifier: MIT
// Runs a loop in the widest vector instructions of the processor that it runs on, whatever the program was compiled for: a library of
// headers cannot ask its users for -march. The loop, a function object whose call is always inlined, is compiled once for each width.
// It stands for the datapath of a PE, which works on several elements of a descriptor at once. See monte_carlo/sweep.hpp.
#pragma once

namespace wsl {

/// What the processor has: the baseline of its architecture, or x86-64's vectors of 32 or 64 bytes.
enum class vectors { baseline, avx2, avx512 };

inline vectors processor_vectors() {
#if defined(__x86_64__)
  static const vectors found = [] {
    __builtin_cpu_init();
    const auto has = [](bool feature) { return feature; };
    if (has(__builtin_cpu_supports("avx512f")) && has(__builtin_cpu_supports("avx512dq")) && has(__builtin_cpu_supports("avx512vl")) &&
        has(__builtin_cpu_supports("avx512bw")))
      return vectors::avx512;
    return has(__builtin_cpu_supports("avx2")) && has(__builtin_cpu_supports("fma")) ? vectors::avx2 : vectors::baseline;
  }();
  return found;
#else
  return vectors::baseline;
#endif
}

namespace compiled {

template <class Loop>
[[gnu::noinline]] void baseline(const Loop& loop) { loop(); }

#if defined(__x86_64__)
template <class Loop>
[[gnu::noinline, gnu::target("avx2,fma,bmi2")]] void avx2(const Loop& loop) { loop(); }
template <class Loop>
[[gnu::noinline, gnu::target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2")]] void avx512(const Loop& loop) { loop(); }
#endif

}  // namespace compiled

/// Calls loop(). Its operator() is const and [[gnu::always_inline]]; what that calls should be, too.
template <class Loop>
void in_widest_vectors(const Loop& loop, vectors width = processor_vectors()) {
#if defined(__x86_64__)
  if (width == vectors::avx512) return compiled::avx512(loop);
  if (width == vectors::avx2) return compiled::avx2(loop);
#endif
  compiled::baseline(loop);
}

}  // namespace wsl
