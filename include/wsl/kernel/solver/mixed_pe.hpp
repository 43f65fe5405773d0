// SPDX-License-Identifier: MIT
// The solvers on a wafer in mixed precision, as Rocki et al. (arXiv 2010.03660) compute: vectors and weights
// are f16, of which a PE multiplies four or eight in a cycle; dot products and totals are f32. A PE has one
// line. Its program is made of descriptor operations, but for the dot products, which it charges.
//
// A PE broadcasts its line to its four neighbours on one color. PEs get five colors in turn, like the squares
// that a knight visits, so that a PE and its neighbours all have different ones:
//
//     0 1 2 3 4
//     2 3 4 0 1
//     4 0 1 2 3
//
// The neighbours' lines are consumed block by block as they come: while one is multiplied, the next arrives.
#pragma once
#include "../../program/descriptor/ops.hpp"
#include "../../program/event.hpp"
#include "../vector_work.hpp"
#include "solver_pe.hpp"

namespace wsl::solver {

/// The colors of the lines, of words of two f16.
inline constexpr int knight_colors = 5;
constexpr color<u32> knight_color(int x, int y) { return {(x + 2 * y) % knight_colors}; }

/// The lines of a PE in f16. Every other vector begins 4 bytes behind a multiple of 8, so that two of them
/// can be read in the same cycle.
template <int vectors, int nz, unsigned other_banks>
class mixed_lines {
 public:
  using number = f16;
  static constexpr int length = (nz + 1) / 2 * 2;  // whole words

  f16* line(int vector, int, int) { return lines_[vector] + front + (in_other_banks(vector) ? 2 : 0); }
  f16* weights(int k, int, int) { return weights_[k] + front; }

  static constexpr bool in_other_banks(int vector) { return other_banks >> vector & 1; }

  memory<f16> all(int vector) { return part(line(vector, 0, 0), 0, nz); }
  static memory<f16> part(f16* of, int from, int count) {
    return mem(std::span(of + from, static_cast<std::size_t>(count)));
  }

  /// to = a + factor * b
  void combine(int to, int a, f32 factor, int b) { fmac(all(to), all(a), all(b), f16(factor)); }
  /// The products of f16 are exact in f32. `spent()` has their cycles.
  f32 dot(int a, int b) {
    const f16 *x = line(a, 0, 0), *y = line(b, 0, 0);
    f32 sum = 0;
    for (int z = 0; z < nz; ++z) sum += static_cast<f32>(x[z]) * static_cast<f32>(y[z]);
    ++(in_other_banks(a) == in_other_banks(b) ? alike_ : apart_);
    return sum;
  }
  u64 spent(const machine& m) {
    return kernel::vector_work(m)
        .mixed_products(std::exchange(apart_, 0), nz, kernel::banks::apart)
        .mixed_products(std::exchange(alike_, 0), nz, kernel::banks::alike)
        .cycles();
  }

 private:
  // The cells before the first and behind the last are zero.
  static constexpr int front = 4;
  using numbers = f16[static_cast<std::size_t>(front + (length + 3) / 4 * 4 + 4)];
  alignas(8) numbers lines_[std::size_t{vectors}]{}, weights_[stencil_points]{};
  int apart_ = 0, alike_ = 0;
};

template <class Method>
inline constexpr bool computes_in_mixed_precision =
    requires(Method m) { m.round_factors(); } && !requires { requires Method::inverse_diagonal >= 0; };

template <class Method, class Storage>
class mixed_pe : public solver_control<mixed_pe<Method, Storage>, Method, Storage> {
  using control = solver_control<mixed_pe, Method, Storage>;
  friend control;
  static constexpr int nz = Storage::cells_of_line;
  static_assert(computes_in_mixed_precision<Method>,
                "wsl: in mixed precision there are bicgstab_method, and conjugate_gradient_method without a "
                "preconditioner");

 public:
  using vector_store = mixed_lines<Method::vectors, nz, Method::other_banks>;
  using control::method;
  vector_store store;
  void shape(const stencil&, const cells&, const grid::lines&) {}

 private:
  void proceed(pe& me) {
    method.present([&](const auto& pass) {
      using Pass = std::remove_cvref_t<decltype(pass)>;
      pass.update(store);
      if constexpr (Pass::multiplies) {
        from_ = Pass::from, to_ = Pass::to;
        me.activate<&mixed_pe::multiply>();
      } else total(me);
    });
  }
  void total(pe& me) {
    int sums = 0;
    method.present([&](const auto& pass) {
      pass.total(store, control::totals_);
      sums = pass.sums;
    });
    me.spend(store.spent(me.machine()));
    control::join(me, sums);
  }

  static memory<u32> words(f16* first, int count) {
    return mem(std::span(reinterpret_cast<u32*>(first), static_cast<std::size_t>(count / 2)));
  }
  static constexpr int block = 256;
  static constexpr int in_block(int from) { return std::min(block, vector_store::length - from); }

  task multiply(pe& me) {
    f16 *const u = store.line(from_, 0, 0), *const to = store.line(to_, 0, 0);
    const color<u32> own = knight_color(me.x(), me.y());
    const int neighbours = !me.west_edge() + !me.east_edge() + !me.north_edge() + !me.south_edge();
    if (neighbours > 0)
      me.async(mov(fabout(own), words(u, vector_store::length)), signals(sent_), priority::high);
    listen(me, 0);
    for (int from = 0; from < vector_store::length; from += block) {
      const int count = in_block(from);
      const auto part = [&](f16* of, int moved = 0) { return vector_store::part(of, from + moved, count); };
      const memory<f16> sum = part(to),
                        some = vector_store::part(product_, vector_store::in_other_banks(to_) ? 0 : 2, count);
      mul(sum, part(store.weights(0, 0, 0)), part(u));
      for (int k : {5, 6}) {
        mul(some, part(store.weights(k, 0, 0)), part(u, stencil_sides[k].offset.z));
        add(sum, sum, some);
      }
      for (int k = 0; k < neighbours; ++k) co_await heard_;
      f16(*const here)[4][block + 4] = &incoming_[now_];
      now_ = 1 - now_;
      if (from + block < vector_store::length) listen(me, from + block);
      for (int k = 1; k <= 4; ++k)
        if (has(me, k)) {
          const memory<f16> beside = vector_store::part((*here)[k - 1] + 2, 0, count);
          mul(beside, beside, part(store.weights(k, 0, 0)));
          add(sum, sum, beside);
        }
    }
    if (neighbours > 0) co_await sent_;
    total(me);
  }
  /// Whether there is a neighbour on the side of a weight.
  static bool has(const pe& me, int k) {
    const cells& side = stencil_sides[k].offset;
    const int x = me.x() + side.x, y = me.y() + side.y;
    return x >= 0 && y >= 0 && x < me.width() && y < me.height();
  }
  void listen(pe& me, int from) {
    for (int k = 1; k <= 4; ++k)
      if (has(me, k)) {
        const cells& side = stencil_sides[k].offset;
        me.async(mov(words(incoming_[now_][k - 1] + 2, in_block(from)),
                     fabin(knight_color(me.x() + side.x, me.y() + side.y))),
                 signals(heard_), priority::high);
      }
  }

  // Neighbours' numbers are multiplied with weights, and products added to sums: they begin 4 bytes apart,
  // modulo 8.
  alignas(8) f16 incoming_[2][4][block + 4]{}, product_[block + 2]{};
  event heard_, sent_;
  int from_ = 0, to_ = 0, now_ = 0;

  template <int k>
  using line_color = task_list<reads<color<u32>{k}>, sends<color<u32>{k}>>;

 public:
  using tasks = task_list<typename control::tasks, local<&mixed_pe::proceed>, local<&mixed_pe::multiply>,
                          numbered<knight_colors, line_color>>;
};

template <class Method, class Storage>
using program_for =
    std::conditional_t<Storage::is_mixed, mixed_pe<Method, Storage>, solver_pe<Method, Storage>>;

/// wide x high PEs, each with the same program, in mixed precision. PEs are placed by their colors, and by
/// the edges that they are at: of the five colors a PE receives four.
template <class Method, class Storage>
  requires(Storage::is_mixed)
constexpr layout plan(const machine& target, int wide, int high) {
  layout l{target, wide, high};
  for (int k = 0; k < knight_colors; ++k)
    l.path(color<u32>{k}, region{}, ramp >> ramp);  // the table names all
  // Columns, or rows, of n whose number has a remainder: the first one, those between, the last one.
  struct piece {
    int from, to;
  };
  const auto pieces = [](int rest, int n) {
    const int first = rest == 0 ? knight_colors : rest, last = n - 1;
    return std::array<piece, 3>{piece{0, rest == 0}, piece{first, last},
                                piece{last, last > 0 && last % knight_colors == rest ? n : last}};
  };
  for (int i = 0; i < knight_colors; ++i)
    for (int j = 0; j < knight_colors; ++j)
      for (const piece& x : pieces(i, wide))
        for (const piece& y : pieces(j, high)) {
          if (x.from >= x.to || y.from >= y.to) continue;
          const area where = columns(x.from, x.to, knight_colors).rows(y.from, y.to, knight_colors);
          l.template place<mixed_pe<Method, Storage>>(where);
          ports to{};
          for (port side : {west, east, north, south}) {
            const int there_x = x.from + (side == east) - (side == west),
                      there_y = y.from + (side == south) - (side == north);
            if (there_x < 0 || there_y < 0 || there_x >= wide || there_y >= high) continue;
            to = to | ports{side};
            l.path(knight_color(there_x, there_y), where, side >> ramp);
          }
          if (!to.empty()) l.path(knight_color(x.from, y.from), where, ramp >> to);
        }
  joining.wire(l);
  return l;
}

}  // namespace wsl::solver
