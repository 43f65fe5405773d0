// SPDX-License-Identifier: MIT
// Products with a tile low-rank matrix on the PEs of a wafer, within the limits of a machine, after Ltaief et
// al., SC'23: a PE has some bases, V and U, of the tiles of one column. It multiplies its V with its part of
// x, then its U with the coefficients, which gives contributions to the parts of y that belong to its tiles;
// the host adds them up, and nothing travels. A product of complex numbers is four real ones. The timed
// engine counts the cycles of the descriptor operations.
//   tlr::wafer_multiplier<f32, {.side = 70, .bases = 32, .tiles = 4}> product{a, 30, 10, wse2, timed{}};
//   const u64 cycles = product(y, x).cycles;
#pragma once
#include "../../program/counted.hpp"
#include "../../wsl.hpp"
#include "../vector_products.hpp"
#include "low_rank.hpp"

namespace wsl::tlr {

/// The space of a PE: tiles of `side` x `side`, some bases, and the tiles that they belong to.
struct wafer_room {
  int side, bases, tiles;
};

/// The bases of a PE that belong to one tile.
struct part_of_tile {
  int row = 0, column = 0;   ///< of the tile
  int first = 0, count = 0;  ///< of its bases
};

template <class T, wafer_room room>
class wafer_tlr_pe {
  static_assert(room.side > 0 && room.bases > 0 && room.tiles > 0,
                "wsl: a PE has at least one basis of one tile");
  static_assert(room.side % 2 == 0 && room.bases % 2 == 0,
                "wsl: the columns of V and of U fill words of 8 bytes on a wafer: take an even side of the "
                "tiles and an even number of bases");
  static constexpr std::size_t parts = std::is_same_v<T, f32> ? 1 : 2;  // of a number, each in an array

 public:
  static layout plan(const machine& target, int wide, int high) {
    layout l{target, wide, high};
    l.place<wafer_tlr_pe>(all);
    return l;
  }

  /// The host gives the PE its bases, all of one column of tiles.
  void load(const low_rank<T>& a, std::span<const part_of_tile> mine) {
    for (const part_of_tile& p : mine) {
      const factors<T>& f = a.at(p.row, p.column);
      const int rows = a.rows_of(p.row).size(), columns = a.columns_of(p.column).size();
      count_[tiles_++] = static_cast<i16>(p.count);
      for (int r = p.first; r < p.first + p.count; ++r, ++bases_) {
        for (int k = 0; k < columns; ++k) put(v_, k * room.bases + bases_, f.v, r * columns + k);
        for (int k = 0; k < rows; ++k) put(u_, bases_ * room.side + k, f.u, r * rows + k);
      }
    }
  }
  /// The host gives the PE its part of x, ...
  void take(std::span<const T> x) {
    for (std::size_t k = 0; k < x.size(); ++k) put(x_, static_cast<int>(k), x, static_cast<int>(k));
  }
  /// ... and adds the contributions for the rows of the PE's tile number t to y.
  void add_to(std::span<T> y, int t) const {
    for (std::size_t k = 0; k < y.size(); ++k) {
      const std::size_t at = static_cast<std::size_t>(t * room.side) + k;
      if constexpr (parts == 1) y[k] += y_[0][at];
      else y[k] += T{y_[0][at], y_[1][at]};
    }
  }

  void multiply(pe&) {
    for (f32* sum : each(c_)) mov(mem(std::span(sum, std::size_t{room.bases})), 0);
    for (f32* sum : each(y_)) mov(mem(std::span(sum, std::size_t{room.tiles * room.side})), 0);
    if constexpr (parts == 2) neg(mem(minus_x_), mem(x_[1]));
    add_columns({each(c_), bases_}, {each(v_), room.bases}, each(x_), minus_x_, room.side);
    if constexpr (parts == 2) neg(mem(minus_c_), mem(c_[1]));
    int first = 0;
    for (counted<i16> t = i16{0}; t < i16(tiles_); ++t) {
      const int n = count_[t.value()];
      add_columns({each(y_, t.value() * room.side), room.side}, {each(u_, first * room.side), room.side},
                  each(c_, first), minus_c_ + (parts == 2 ? first : 0), n);
      first += n;
    }
  }

 private:
  /// The real parts of an array, and the imaginary ones.
  template <class E>
  using both = std::array<E*, parts>;
  template <std::size_t n>
  static both<f32> each(f32 (&of)[parts][n], int from = 0) {
    if constexpr (parts == 1) return {of[0] + from};
    else return {of[0] + from, of[1] + from};
  }
  template <std::size_t n, class From>
  static void put(f32 (&to)[parts][n], int at, const From& from, int k) {
    const T number = from[static_cast<std::size_t>(k)];
    if constexpr (parts == 1) to[0][at] = number;
    else to[0][at] = number.real(), to[1][at] = number.imag();
  }

  struct sums {
    both<f32> of;
    int length;
  };
  struct factor {
    both<f32> of;
    int stride;
  };
  /// Adds `count` columns times a number each; complex ones with the four products of their parts.
  static void add_columns(const sums& to, const factor& m, const both<f32>& by, const f32* minus_imaginary,
                          int count) {
    add_products(to.of[0], to.length, m.of[0], m.stride, by[0], count);
    if constexpr (parts == 2) {
      add_products(to.of[0], to.length, m.of[1], m.stride, minus_imaginary, count);
      add_products(to.of[1], to.length, m.of[0], m.stride, by[1], count);
      add_products(to.of[1], to.length, m.of[1], m.stride, by[0], count);
    }
  }
  static void add_products(f32* to, int length, const f32* column, int stride, const f32* by, int count) {
    kernel::add_columns(kernel::numbers(to, length), column, stride, kernel::numbers(by, count));
  }

  // A sum and a column are read in the same cycle if they are 4 bytes apart, modulo 8.
  alignas(8) f32 c_[parts][std::size_t{room.bases}]{}, y_[parts][std::size_t{room.tiles * room.side}]{};
  f32 apart_ = 0;
  f32 v_[parts][std::size_t{room.side * room.bases}]{};  // (bases, side), by columns
  f32 u_[parts][std::size_t{room.side * room.bases}]{};  // (side, bases), by columns
  f32 x_[parts][std::size_t{room.side}]{};
  f32 minus_x_[std::size_t{parts == 2 ? room.side : 1}]{},
      minus_c_[std::size_t{parts == 2 ? room.bases : 1}]{};
  i16 count_[std::size_t{room.tiles}]{};  // the bases of each tile
  int tiles_ = 0, bases_ = 0;

 public:
  using tasks = task_list<launch<&wafer_tlr_pe::multiply>>;
};

/// A grid of PEs that has the bases of a matrix, for many products y = A x; T is f32 or std::complex<f32>.
template <class T, wafer_room room>
class wafer_multiplier {
  using program = wafer_tlr_pe<T, room>;
  using bases_of_pe = std::vector<part_of_tile>;

 public:
  /// The bytes of a PE's SRAM that the program takes.
  static constexpr int bytes = program_v<program>.bytes;

  /// The number of PEs that the matrix fills; a tile of a large rank may be on several.
  static int pes(const low_rank<T>& a) { return static_cast<int>(distribute(a).size()); }

  /// `a` must outlive the multiplier. Throws std::invalid_argument if its tiles have another side, or if the
  /// grid has too few PEs, and fault if the machine is too small for the grid or its PEs for the bases.
  template <class Engine = threaded>
  wafer_multiplier(const low_rank<T>& a, int wide, int high, const machine& target = wse2,
                   const Engine& engine = {})
      : a_(a),
        wide_(wide),
        given_(checked(a, wide, high)),
        fabric_(program::plan(target, wide, high), engine) {
    for (std::size_t p = 0; p < given_.size(); ++p) at(p).load(a, given_[p]);
  }

  /// The result differs from the product in f64 by rounding only. Throws std::invalid_argument if the length
  /// of x or y is wrong.
  outcome operator()(std::span<T> y, std::span<const T> x) {
    if (x.size() != static_cast<std::size_t>(a_.columns()) || y.size() != static_cast<std::size_t>(a_.rows()))
      support::bad_argument({"this product takes x of ", a_.columns(), " and y of ", a_.rows(),
                             " numbers, not of ", x.size(), " and ", y.size()});
    for (std::size_t p = 0; p < given_.size(); ++p)
      at(p).take(part(x, a_.columns_of(given_[p].front().column)));
    const outcome done = fabric_.template launch<&program::multiply>(all);
    std::fill(y.begin(), y.end(), T{});
    for (std::size_t p = 0; p < given_.size(); ++p)
      for (std::size_t t = 0; t < given_[p].size(); ++t)
        at(p).add_to(part(y, a_.rows_of(given_[p][t].row)), static_cast<int>(t));
    return done;
  }

 private:
  /// Column after column of tiles; a PE takes tiles, or some bases of one, until it is full.
  static std::vector<bases_of_pe> distribute(const low_rank<T>& a) {
    std::vector<bases_of_pe> all_pes;
    for (int j = 0; j < a.tile_columns(); ++j) {
      int space = 0;
      for (int i = 0; i < a.tile_rows(); ++i)
        for (int first = 0, rank = a.at(i, j).rank; first < rank;) {
          if (space == 0 || static_cast<int>(all_pes.back().size()) == room.tiles)
            all_pes.emplace_back(), space = room.bases;
          const int count = std::min(space, rank - first);
          all_pes.back().push_back({i, j, first, count});
          first += count, space -= count;
        }
    }
    return all_pes;
  }
  static std::vector<bases_of_pe> checked(const low_rank<T>& a, int wide, int high) {
    if (wide < 1 || high < 1)
      support::bad_argument({"a product runs on at least 1 x 1 PEs, not on ", wide, " x ", high});
    if (a.side() != room.side)
      support::bad_argument(
          {"the PEs have space for tiles of ", room.side, " x ", room.side, ", not of ", a.side()});
    std::vector<bases_of_pe> given = distribute(a);
    if (given.size() > static_cast<std::size_t>(wide) * static_cast<std::size_t>(high))
      support::bad_argument({"the bases of the matrix fill ", given.size(), " PEs, and the grid has ", wide,
                             " x ", high, ": take more PEs, or give each more space"});
    return given;
  }
  template <class E>
  static std::span<E> part(std::span<E> of, const range& r) {
    return of.subspan(static_cast<std::size_t>(r.from), static_cast<std::size_t>(r.size()));
  }
  program& at(std::size_t p) {
    const int n = static_cast<int>(p);
    return fabric_.template program_at<program>({n % wide_, n / wide_});
  }

  const low_rank<T>& a_;
  int wide_;
  std::vector<bases_of_pe> given_;
  fabric fabric_;
};

}  // namespace wsl::tlr
