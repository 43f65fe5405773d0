// SPDX-License-Identifier: MIT
// The time of arithmetic on a wafer that a PE program of a kernel does in C++, with the vector code of this
// computer: the cycles of the descriptor operations by which a wafer would do it, counted as the timed engine
// counts such operations. The program charges them: me.spend(work.cycles()).
#pragma once
#include "../core/machine.hpp"

namespace wsl::kernel {

/// Whether the two sources of an operation lie in the same of the memory's banks: then it takes two cycles
/// where it otherwise takes one (docs/timing.md, "Rules").
enum class banks : u8 { apart, alike };

/// Operations on f32 in the memory of a PE. All descriptors are in registers.
class vector_work {
 public:
  constexpr explicit vector_work(const machine& m) : machine_(m) {}

  /// So many copies, sums, differences or negations of n elements each.
  constexpr vector_work& sums(int operations, i64 n, banks of = banks::apart) {
    return add(operations, n, machine_.simd.add32, of);
  }
  /// So many products, or multiply-adds.
  constexpr vector_work& products(int operations, i64 n, banks of = banks::apart) {
    return add(operations, n, machine_.simd.multiply32, of);
  }
  /// Multiply-adds of numbers of 16 bits to sums of 32 (@fmachs), which the vendor's table of widths has
  /// among the additions of 32 bits.
  constexpr vector_work& mixed_products(int operations, i64 n, banks of = banks::apart) {
    return add(operations, n, machine_.simd.add32, of);
  }
  /// Quotients or square roots of n elements: a call of the vendor's library for each.
  constexpr vector_work& quotients(i64 n) {
    cycles_ += static_cast<u64>(n) * static_cast<u64>(machine_.instructions.divide);
    return *this;
  }
  /// Exponential functions of n elements: the argument times log2 e is rounded, the remainder goes through a
  /// polynomial of degree 5 (Horner's rule), and the whole part is added to the exponent.
  constexpr vector_work& exponentials(i64 n) { return products(6, n).sums(9, n); }
  /// So many comparisons, each with its branch.
  constexpr vector_work& comparisons(int n) {
    cycles_ +=
        static_cast<u64>(n) * static_cast<u64>(machine_.instructions.simple + machine_.instructions.branch);
    return *this;
  }
  constexpr u64 cycles() const { return cycles_; }

 private:
  constexpr vector_work& add(int operations, i64 n, int width, banks of) {
    if (n <= 0) return *this;
    const i64 two = of == banks::alike ? width : 2 * width,  // elements in two cycles
        moving = (2 * n + two - 1) / two, least = machine_.operation_least;
    cycles_ += static_cast<u64>(operations) *
               static_cast<u64>(machine_.operation_setup + (moving > least ? moving : least));
    return *this;
  }

  machine machine_;
  u64 cycles_ = 0;
};

}  // namespace wsl::kernel
