// SPDX-License-Identifier: MIT
// The memory of a PE of the solvers: its lines of all vectors, and of the weights. `one_line<nz>` is for a
// wafer: one line a PE, in arrays whose size is known at compile time, so that the checker counts their
// bytes. `block` is for this computer: many lines a PE. Both also hold the neighbours' lines next to the
// block, of one vector at a time, and the PE program is the same for both. Lines follow each other without a
// gap, because the weights before a line's first cell and behind its last are zero.
#pragma once
#include "../../support/huge_array.hpp"
#include "../../support/text.hpp"
#include "loops.hpp"

namespace wsl::solver {

/// The numbers in which a solver computes on a wafer: f32; or vectors and weights in f16, and totals in f32.
enum class precision : u8 { single, mixed };

template <int nz, precision numbers = precision::single>
struct one_line {
  static constexpr bool is_for_wafers = true, is_mixed = numbers == precision::mixed;
  static constexpr int cells_of_line = nz;
  /// What is wrong with a grid of these cells on wide x high PEs, or nothing.
  static std::string misfit(const cells& size, int wide, int high) {
    if (size.z != nz)
      return support::joined({"one_line<", nz, "> has ", nz, " cells along z, and the grid has ", size.z});
    if (wide == size.x && high == size.y) return {};
    return support::joined({"on a wafer each PE has one line along z: a grid of ", size.x, " x ", size.y,
                            " lines is on as many PEs, not on ", wide, " x ", high});
  }

  template <int vectors>
  class vector_store {
   public:
    using number = f32;
    void shape(const stencil&, const cells&) {}
    std::ptrdiff_t stride() const { return stride_; }
    f32* line(int vector, int x, int y) {
      return (x ? sides_[x < 0] : y ? sides_[y < 0 ? 2 : 3] : own_[vector]) + line_front;
    }
    f32* weights(int k, int, int) { return weights_[k] + line_front; }
    std::ptrdiff_t weight_step(int) const { return 0; }

   private:
    static constexpr int stride_ = whole_vectors(nz);
    using words = f32[static_cast<std::size_t>(line_front + stride_)];
    alignas(64) words own_[std::size_t{vectors}]{}, sides_[4]{}, weights_[stencil_points]{};
    f32 after_[line_front]{};
  };
};

struct block {
  static constexpr bool is_for_wafers = false, is_mixed = false;
  static std::string misfit(const cells&, int, int) { return {}; }

  template <int vectors>
  class vector_store {
   public:
    using number = f32;
    /// For x times y lines of z cells.
    void shape(const stencil& a, const cells& own) {
      stride_ = whole_vectors(own.z), stride_x_ = stride_ * (own.y + 2);
      pitch_ = stride_x_ * (own.x + 2) + stagger;
      vectors_ = support::huge_array(static_cast<std::size_t>(pitch_ * vectors + 2 * line_front));
      for (int k = 0; k < stencil_points; ++k) {
        equal_[k] = equal_lines(a, a.*stencil_sides[k].weights);
        weights_[k] = support::huge_array(
            static_cast<std::size_t>(equal_[k] ? stride_ + line_front : pitch_ + line_front + k * stagger));
      }
    }
    std::ptrdiff_t stride() const { return stride_; }
    /// x and y count from the block's corner; the neighbours' are next to it.
    f32* line(int vector, int x, int y) { return vectors_.data() + vector * pitch_ + place(x, y); }
    f32* weights(int k, int x, int y) {
      return weights_[k].data() + (equal_[k] ? line_front : place(x, y) + k * stagger);
    }
    std::ptrdiff_t weight_step(int k) const { return equal_[k] ? 0 : stride_; }

   private:
    // Vectors begin at different places of a page, so that they do not compete for the same sets of a
    // cache.
    static constexpr std::ptrdiff_t stagger = 11 * widest_lanes;
    std::ptrdiff_t place(int x, int y) const { return (x + 1) * stride_x_ + (y + 1) * stride_ + line_front; }

    support::huge_array vectors_, weights_[stencil_points];
    bool equal_[stencil_points]{};
    std::ptrdiff_t stride_ = 0, stride_x_ = 0, pitch_ = 0;
  };
};

}  // namespace wsl::solver
