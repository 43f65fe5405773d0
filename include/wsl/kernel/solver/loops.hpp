// SPDX-License-Identifier: MIT
// The inner loops of the solvers. A method is a few fused passes over its vectors. A pass first updates
// vectors cell by cell (`prepare`), then multiplies A with one of them while its lines are in cache, and
// accumulates dot products of the values in registers. So an iteration moves each vector through memory as
// seldom as the method's dependences allow. `operations` counts the additions, multiplications and fused
// pairs of both for each cell, beside those of the product. `of_update` are the vectors that the first part
// takes from memory, and `of_product` those that the second one takes from there, as masks.
#pragma once
#include <array>
#include <cstddef>

#include "../../linalg/vector_code.hpp"
#include "stencil.hpp"

namespace wsl::solver {

/// The largest number of dot products of a pass.
inline constexpr int most_sums = 5;

/// The same line of every vector of a method. The next line in y is `stride` words further on.
template <int vectors>
struct bundle {
  std::array<f32*, std::size_t{vectors}> line;
};

/// The operands of the product beside a line: its neighbours, the weights of its cells, and the distance to
/// those of the next line in y.
struct surroundings {
  const f32 *west, *east, *north, *south;
  const f32* weights[stencil_points];
  std::ptrdiff_t steps[stencil_points];
};

/// Lines that a loop will need soon, those `ahead` words further on, and the next ones in each turn. A
/// processor finds the next words of a few lines by itself, but not of so many, nor beyond a page. They may
/// lie beyond the last line: nothing is read.
class upcoming_lines {
 public:
  void add(const f32* line) { line_[count_++] = line + ahead; }
  [[gnu::always_inline]] void fetch(int to, std::ptrdiff_t stride) {
    for (int k = 0; k < count_; ++k) {
      for (int z = 0; z < to; z += widest_lanes) __builtin_prefetch(line_[k] + z);
      line_[k] += stride;
    }
  }

 private:
  static constexpr std::ptrdiff_t ahead = 768;
  static constexpr std::size_t most_streams = 8;  // the vectors of a pass, and a weight
  const f32* line_[most_streams];
  int count_ = 0;
};

/// Some cells of all vectors, side by side: `c[r]` are those of vector r.
template <int lanes, int vectors>
class cells_of {
 public:
  using numbers = vec<lanes>;
  [[gnu::always_inline]] cells_of(const bundle<vectors>& b, std::ptrdiff_t z) : b_(b), z_(z) {}
  [[gnu::always_inline]] vec<lanes>& operator[](int vector) const {
    return vec_at<lanes>(b_.line[static_cast<std::size_t>(vector)] + z_);
  }

 private:
  const bundle<vectors>& b_;
  std::ptrdiff_t z_;
};

namespace loops {

/// Sums in lanes, line by line first: rounding errors grow with the number of lines and with that of cells
/// in a line, not with their product.
template <int lanes, int n>
class lane_sums {
 public:
  [[gnu::always_inline]] vec<lanes>* line() { return line_; }
  [[gnu::always_inline]] void end_line() {
    for (int k = 0; k < n; ++k) all_[k] += line_[k], line_[k] = vec<lanes>{};
  }
  [[gnu::always_inline]] void add_to(f32* sums) {
    for (int k = 0; k < n; ++k) {
      std::array<f32, std::size_t{lanes}> parts;
      vec_at<lanes>(parts.data()) = all_[k];
      for (std::size_t half = lanes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
      sums[k] += parts[0];
    }
  }

 private:
  vec<lanes> line_[std::size_t{n + 1}]{}, all_[std::size_t{n + 1}]{};  // an array has at least one element
};

/// `count` lines of `to` cells.
template <class Pass, bool fetches>
struct preparing {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const Pass& given, const bundle<Pass::vectors>& first,
                                                const upcoming_lines& upcoming, std::ptrdiff_t stride,
                                                int count, int to, f32* sums) {
    const Pass pass = given;  // a local copy, which the stores to the vectors cannot alias
    bundle<Pass::vectors> b = first;
    [[maybe_unused]] upcoming_lines soon = upcoming;
    lane_sums<lanes, Pass::multiplies ? 0 : Pass::sums> total;
    for (int i = 0; i < count; ++i) {
      if constexpr (fetches) soon.fetch(to, stride);
      for (std::ptrdiff_t z = 0; z < to; z += lanes)
        pass.prepare(cells_of<lanes, Pass::vectors>(b, z), total.line());
      total.end_line();
      for (f32*& line : b.line) line += stride;
    }
    total.add_to(sums);
  }
};

/// The product of A with vector Pass::from, into vector Pass::to, and the pass's sums. Weights are zero
/// beyond the last cell.
template <class Pass, bool fetches>
struct multiplying {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const Pass& given, const bundle<Pass::vectors>& first,
                                                const surroundings& around, const upcoming_lines& upcoming,
                                                std::ptrdiff_t stride, int count, int to, f32* sums) {
    const Pass pass = given;
    bundle<Pass::vectors> b = first;
    surroundings s = around;
    [[maybe_unused]] upcoming_lines soon = upcoming;
    lane_sums<lanes, Pass::sums> total;
    for (int i = 0; i < count; ++i) {
      if constexpr (fetches) soon.fetch(to, stride);
      const f32* u = b.line[std::size_t{Pass::from}];
      for (std::ptrdiff_t z = 0; z < to; z += lanes) {
        const auto weight = [&](int k) __attribute__((always_inline)) -> const vec<lanes>& {
          return vec_at<lanes>(s.weights[k] + z);
        };
        const vec<lanes> product =
            (weight(0) * vec_at<lanes>(u + z) + weight(1) * vec_at<lanes>(s.west + z) +
             weight(2) * vec_at<lanes>(s.east + z)) +
            (weight(3) * vec_at<lanes>(s.north + z) + weight(4) * vec_at<lanes>(s.south + z)) +
            (weight(5) * vec_at<lanes>(u + z - 1) + weight(6) * vec_at<lanes>(u + z + 1));
        const cells_of<lanes, Pass::vectors> c(b, z);
        c[Pass::to] = product;
        pass.sum(c, product, total.line());
      }
      total.end_line();
      for (f32*& line : b.line) line += stride;
      s.west += stride, s.east += stride, s.north += stride, s.south += stride;
      for (int k = 0; k < stencil_points; ++k) s.weights[k] += s.steps[k];
    }
    total.add_to(sums);
  }
};

}  // namespace loops

template <class Pass, bool fetches>
inline const auto prepare_lines =
    vector_code<loops::preparing<Pass, fetches>, const Pass&, const bundle<Pass::vectors>&,
                const upcoming_lines&, std::ptrdiff_t, int, int, f32*>::best();
template <class Pass, bool fetches>
inline const auto multiply_lines =
    vector_code<loops::multiplying<Pass, fetches>, const Pass&, const bundle<Pass::vectors>&,
                const surroundings&, const upcoming_lines&, std::ptrdiff_t, int, int, f32*>::best();

/// A type-erased pass: only its loops are compiled for each pass, not the code around them. It must not
/// outlive the pass.
template <int vectors>
struct any_pass {
  const void* self;
  void (*prepare)(const void*, const bundle<vectors>&, const upcoming_lines&, std::ptrdiff_t, int, int, f32*);
  /// if it has a product
  void (*multiply)(const void*, const bundle<vectors>&, const surroundings&, const upcoming_lines&,
                   std::ptrdiff_t, int, int, f32*) = nullptr;
  int from = 0, sums = 0;
  int next_from = -1;                      ///< the vector of the next product, if it is known
  bool iterates = false;                   ///< whether that is one of the next iteration
  int operations = 0;                      ///< with the product's
  unsigned of_update = 0, of_product = 0;  ///< vectors
};

/// `fetches` says whether its loops fetch upcoming lines; those that do not have no code for it.
template <bool fetches, class Pass>
any_pass<Pass::vectors> without_type(const Pass& pass) {
  using lines = bundle<Pass::vectors>;
  any_pass<Pass::vectors> any{.self = &pass,
                              .prepare =
                                  [](const void* self, const lines& first, const upcoming_lines& soon,
                                     std::ptrdiff_t stride, int count, int to, f32* sums) {
                                    prepare_lines<Pass, fetches>(*static_cast<const Pass*>(self), first, soon,
                                                                 stride, count, to, sums);
                                  },
                              .sums = Pass::sums,
                              .operations = Pass::operations,
                              .of_update = Pass::of_update};
  if constexpr (Pass::multiplies) {
    any.from = Pass::from, any.operations += stencil_points, any.of_product = Pass::of_product;
    if constexpr (requires { Pass::next_from; })
      any.next_from = Pass::next_from, any.iterates = Pass::iterates;
    any.multiply = [](const void* self, const lines& first, const surroundings& around,
                      const upcoming_lines& soon, std::ptrdiff_t stride, int count, int to, f32* sums) {
      multiply_lines<Pass, fetches>(*static_cast<const Pass*>(self), first, around, soon, stride, count, to,
                                    sums);
    };
  }
  return any;
}

}  // namespace wsl::solver
