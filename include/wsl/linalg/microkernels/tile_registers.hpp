// SPDX-License-Identifier: MIT
// The tile registers of AMX: eight of 16 rows of 64 bytes. One instruction multiplies the pairs of bf16 of
// two of them and adds the products to a third. microkernels.hpp chooses them where the processor and the
// kernel have them. Instructions are written out, because compilers offer them only to functions for such a
// processor.
#pragma once
#include "../../core/scalar.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace wsl::dense::detail {

struct tile_registers {
  static constexpr int rows = 16, columns = 16;  ///< of terms of 32 bits

  /// Shapes the registers of this thread, and makes them zero.
  static void configure() {
    struct alignas(64) {
      u8 palette = 1, start = 0, reserved[14] = {};
      u16 bytes_of_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      u8 rows_of[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    asm volatile("ldtilecfg %0" ::"m"(shapes));
  }
  template <int t>
  [[gnu::always_inline]] static inline void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(t));
  }
  /// Rows of 16 terms; from the first of one to the first of the next are so many terms.
  template <int t>
  [[gnu::always_inline]] static inline void load(const f32* from, i64 row) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(t), "r"(from), "r"(row * 4) : "memory");
  }
  template <int t>
  [[gnu::always_inline]] static inline void store(f32* to, i64 row) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(t), "r"(to), "r"(row * 4) : "memory");
  }
  /// Tile c += a b, where term (i, k) of a and term (k, j) of b are pairs. The products of the first numbers
  /// of the pairs are added up, and those of the second, and both sums to c.
  template <int c, int a, int b>
  [[gnu::always_inline]] static inline void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
};

/// Whether this processor multiplies pairs of bf16 in tile registers, and the kernel lets this process use
/// them.
inline bool processor_has_tiles() {
  static const bool has = [] {
    constexpr unsigned bf16_in_tiles = 1u << 22, tiles = 1u << 24;
    constexpr long request_permission = 0x1023, tile_data = 18;  // of arch_prctl
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & bf16_in_tiles) && (d & tiles) &&
           syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return has;
}

}  // namespace wsl::dense::detail
#endif
