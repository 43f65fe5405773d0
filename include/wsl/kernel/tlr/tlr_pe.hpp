// SPDX-License-Identifier: MIT
// The PE program of products with a tile low-rank matrix. A PE has the factors V of some columns of tiles and
// the factors U of some rows of tiles. First it multiplies its V with its part of x. The resulting
// coefficients go all to all along the row of PEs, to those that have their U, and are summed there: y needs
// no other sum. In the stacked schedule a PE has V and U of the same columns; nothing travels, and the host
// adds the PEs' parts of y. After Hong et al., SC'21, and Ltaief et al., SC'23. The front end is
// multiply.hpp; see examples/89_low_rank.cpp.
#pragma once
#include "../../collective/all_to_all.hpp"
#include "../../linalg/matrix_vector.hpp"
#include "../../support/huge_array.hpp"
#include "low_rank.hpp"

namespace wsl::tlr {

enum class schedule : u8 { exchange, stacked };

/// The arguments of a launch: x and y, and the operation.
template <class T>
struct job {
  const T* x;
  T* y;
  operation which;
};

/// The factors U or V of a rectangle of tiles, in one array: row of tiles after row of tiles.
template <class T>
class bases {
 public:
  static constexpr int parts = std::is_same_v<T, f32> ? 1 : 2;
  static constexpr int whole(int n) { return (n + widest_lanes - 1) / widest_lanes * widest_lanes; }

  void prepare(const low_rank<T>& a, const range& rows, const range& columns, bool of_u) {
    width_ = whole(a.side());
    std::size_t ranks = 0;
    for (int i = rows.from; i < rows.to; ++i)
      for (int j = columns.from; j < columns.to; ++j) ranks += static_cast<std::size_t>(a.at(i, j).rank);
    numbers_ = support::huge_array(std::max<std::size_t>(1, ranks * static_cast<std::size_t>(stride())));
    f32* to = numbers_.data();
    for (int i = rows.from; i < rows.to; ++i)
      for (int j = columns.from; j < columns.to; ++j) {
        const factors<T>& f = a.at(i, j);
        const int n = of_u ? a.rows_of(i).size() : a.columns_of(j).size();
        for (int r = 0; r < f.rank; ++r, to += stride())
          split(to, width_, (of_u ? f.u : f.v).data() + r * n, n, false);
      }
  }
  const f32* first() { return numbers_.data(); }
  int width() const { return width_; }
  /// From one base to the next.
  int stride() const { return parts * width_; }

  /// n numbers as real and imaginary parts, which are `width` apart.
  static void split(f32* to, int width, const T* from, int n, bool conjugated) {
    if constexpr (parts == 1) std::copy_n(from, n, to);
    else
      for (int k = 0; k < n; ++k)
        to[k] = from[k].real(), to[width + k] = conjugated ? -from[k].imag() : from[k].imag();
  }
  static void join(T* to, const f32* from, int width, int n, bool conjugated) {
    if constexpr (parts == 1) std::copy_n(from, n, to);
    else
      for (int k = 0; k < n; ++k) to[k] = {from[k], conjugated ? -from[width + k] : from[width + k]};
  }

 private:
  support::huge_array numbers_;
  int width_ = 0;
};

template <class T>
class tlr_pe {
  static constexpr all_to_all<f32> to_all{.first = 0, .among = each_row};
  static constexpr int parts = bases<T>::parts;

 public:
  static constexpr layout plan(const machine& target, int pes) {
    layout l{target, pes, 1};
    l.place<tlr_pe>(all);
    to_all.wire(l);
    return l;
  }

  /// The host gives PE `at` of `pes` its factors. `a` must outlive the PE.
  void prepare(const low_rank<T>& a, int at, int pes, schedule how) {
    a_ = &a, pes_ = pes, how_ = how;
    columns_ = part_of(a.tile_columns(), pes, at);
    rows_ = how == schedule::stacked ? range{0, a.tile_rows()} : part_of(a.tile_rows(), pes, at);
    v_.prepare(a, {0, a.tile_rows()}, columns_, false);
    u_.prepare(a, rows_, how == schedule::stacked ? columns_ : range{0, a.tile_columns()}, true);
    before_.assign(1, 0);
    for (int i = 0; i < a.tile_rows(); ++i)
      for (int j = 0; j < a.tile_columns(); ++j) before_.push_back(before_.back() + a.at(i, j).rank);
    const int tiles = std::max({rows_.size(), columns_.size(), 1});
    x_ = support::huge_array(static_cast<std::size_t>(tiles * v_.stride())),
    y_ = support::huge_array(static_cast<std::size_t>(tiles * v_.stride()));
    block_ = how == schedule::stacked ? largest_tile() : largest_block();
    const std::size_t words = static_cast<std::size_t>(std::max(1, block_ * parts)) *
                              static_cast<std::size_t>(how == schedule::stacked ? 1 : pes);
    give_ = support::huge_array(words), take_ = support::huge_array(words);
  }

  void begin(pe& me, const job<T>& j) {
    job_ = j;
    take_in();
    std::fill_n(y_.data(), y_.size(), 0.f);
    if (how_ == schedule::stacked) return multiply_tiles();
    if (transposes(j.which)) along_u();
    else along_v();
    if (pes_ > 1)
      return exchanging_.start(me, mem(std::span(give_.data(), give_.size())),
                               mem(std::span(take_.data(), take_.size())),
                               then<&tlr_pe::coefficients_are_here>());
    std::swap(give_, take_);
    me.activate<&tlr_pe::coefficients_are_here>();
  }
  void coefficients_are_here(pe&) {
    if (transposes(job_.which)) sum_v();
    else sum_u();
    put_out(job_.y);
  }

  /// In the stacked schedule: adds this PE's part of y.
  void add_to(T* y) {
    const range out = tiles_out();
    std::vector<T> tile(static_cast<std::size_t>(a_->side()));
    for (int t = out.from; t < out.to; ++t) {
      const range numbers = numbers_out(t);
      bases<T>::join(tile.data(), y_.data() + (t - out.from) * v_.stride(), v_.width(), numbers.size(),
                     conjugates(job_.which));
      for (int k = 0; k < numbers.size(); ++k) y[numbers.from + k] += tile[static_cast<std::size_t>(k)];
    }
  }

 private:
  using loop = void (*)(const f32*, const f32*, f32*, int, int);

  // ---- x comes, y goes: tiles with whole vectors ------------------------------------------------

  range tiles_in() const { return transposes(job_.which) ? rows_ : columns_; }
  range tiles_out() const { return transposes(job_.which) ? columns_ : rows_; }
  range numbers_in(int t) const { return transposes(job_.which) ? a_->rows_of(t) : a_->columns_of(t); }
  range numbers_out(int t) const { return transposes(job_.which) ? a_->columns_of(t) : a_->rows_of(t); }
  void take_in() {
    const range in = tiles_in();
    std::fill_n(x_.data(), x_.size(), 0.f);
    for (int t = in.from; t < in.to; ++t)
      bases<T>::split(x_.data() + (t - in.from) * v_.stride(), v_.width(), job_.x + numbers_in(t).from,
                      numbers_in(t).size(), conjugates(job_.which));
  }
  void put_out(T* y) {
    const range out = tiles_out();
    for (int t = out.from; t < out.to; ++t)
      bases<T>::join(y + numbers_out(t).from, y_.data() + (t - out.from) * v_.stride(), v_.width(),
                     numbers_out(t).size(), conjugates(job_.which));
  }
  f32* x_tile(int t) { return x_.data() + (t - tiles_in().from) * v_.stride(); }
  f32* y_tile(int t) { return y_.data() + (t - tiles_out().from) * v_.stride(); }

  // ---- coefficients ------------------------------------------------------------------------------
  // Those of tile (i, j) go from the PE with column j to the PE with row i, or back: row after row, and in a
  // row tile after tile.

  /// The ranks of some tiles of row i together.
  int ranks(int i, const range& columns) const {
    const std::size_t row = static_cast<std::size_t>(i) * static_cast<std::size_t>(a_->tile_columns());
    return before_[row + static_cast<std::size_t>(columns.to)] -
           before_[row + static_cast<std::size_t>(columns.from)];
  }
  int largest_block() const {
    int most = 0;
    for (int p = 0; p < pes_; ++p)
      for (int q = 0; q < pes_; ++q) {
        int sum = 0;
        const range some = part_of(a_->tile_rows(), pes_, q);
        for (int i = some.from; i < some.to; ++i) sum += ranks(i, part_of(a_->tile_columns(), pes_, p));
        most = std::max(most, sum);
      }
    return most;
  }
  int largest_tile() const {
    int most = 0;
    for (int i = 0; i < a_->tile_rows(); ++i)
      for (int j = columns_.from; j < columns_.to; ++j) most = std::max(most, ranks(i, {j, j + 1}));
    return most;
  }
  f32* block(support::huge_array& of, int p) { return of.data() + p * block_ * parts; }

  void along_v() {
    const loop dot =
        vector_code<dense::matrix_times_vector<parts>, const f32*, const f32*, f32*, int, int>::best();
    const f32* v = v_.first();
    for (int q = 0; q < pes_; ++q) {
      f32* out = block(give_, q);
      const range some = part_of(a_->tile_rows(), pes_, q);
      for (int i = some.from; i < some.to; ++i)
        for (int j = columns_.from; j < columns_.to; ++j) {
          const int rank = ranks(i, {j, j + 1});
          dot(v, x_tile(j), out, rank, v_.width());
          v += rank * v_.stride(), out += rank * parts;
        }
    }
  }
  void sum_u() {
    const loop sum =
        vector_code<dense::transposed_times_vector<parts>, const f32*, const f32*, f32*, int, int>::best();
    const f32* u = u_.first();
    std::vector<int> used(static_cast<std::size_t>(pes_));
    for (int i = rows_.from; i < rows_.to; ++i)
      for (int p = 0; p < pes_; ++p) {
        const int rank = ranks(i, part_of(a_->tile_columns(), pes_, p));
        int& from = used[static_cast<std::size_t>(p)];
        sum(u, block(take_, p) + from * parts, y_tile(i), rank, u_.width());
        u += rank * u_.stride(), from += rank;
      }
  }
  void along_u() {
    const loop dot =
        vector_code<dense::matrix_times_vector<parts>, const f32*, const f32*, f32*, int, int>::best();
    const f32* u = u_.first();
    std::vector<int> used(static_cast<std::size_t>(pes_));
    for (int i = rows_.from; i < rows_.to; ++i)
      for (int q = 0; q < pes_; ++q) {
        const int rank = ranks(i, part_of(a_->tile_columns(), pes_, q));
        int& to = used[static_cast<std::size_t>(q)];
        dot(u, x_tile(i), block(give_, q) + to * parts, rank, u_.width());
        u += rank * u_.stride(), to += rank;
      }
  }
  void sum_v() {
    const loop sum =
        vector_code<dense::transposed_times_vector<parts>, const f32*, const f32*, f32*, int, int>::best();
    const f32* v = v_.first();
    for (int p = 0; p < pes_; ++p) {
      const f32* w = block(take_, p);
      const range some = part_of(a_->tile_rows(), pes_, p);
      for (int i = some.from; i < some.to; ++i)
        for (int j = columns_.from; j < columns_.to; ++j) {
          const int rank = ranks(i, {j, j + 1});
          sum(v, w, y_tile(j), rank, v_.width());
          v += rank * v_.stride(), w += rank * parts;
        }
    }
  }

  /// Stacked: the coefficients of a tile are used at once.
  void multiply_tiles() {
    const loop dot =
        vector_code<dense::matrix_times_vector<parts>, const f32*, const f32*, f32*, int, int>::best();
    const loop sum =
        vector_code<dense::transposed_times_vector<parts>, const f32*, const f32*, f32*, int, int>::best();
    const bool across = transposes(job_.which);
    const f32 *first = across ? u_.first() : v_.first(), *second = across ? v_.first() : u_.first();
    for (int i = rows_.from; i < rows_.to; ++i)
      for (int j = columns_.from; j < columns_.to; ++j) {
        const int rank = ranks(i, {j, j + 1});
        dot(first, x_tile(across ? i : j), give_.data(), rank, v_.width());
        sum(second, give_.data(), y_tile(across ? j : i), rank, v_.width());
        first += rank * v_.stride(), second += rank * v_.stride();
      }
  }

  const low_rank<T>* a_ = nullptr;
  int pes_ = 1, block_ = 0;
  schedule how_ = schedule::exchange;
  range rows_, columns_;  ///< the rows of tiles whose U, and the columns of tiles whose V, are on this PE
  bases<T> u_, v_;
  std::vector<int> before_;  ///< ranks of all tiles before tile (i, j), in the order of rows
  support::huge_array x_, y_, give_, take_;
  job<T> job_{};
  endpoint<to_all> exchanging_;

 public:
  using tasks =
      task_list<launch<&tlr_pe::begin>, local<&tlr_pe::coefficients_are_here>, use<&tlr_pe::exchanging_>>;
};

}  // namespace wsl::tlr
