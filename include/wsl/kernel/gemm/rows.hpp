// SPDX-License-Identifier: MIT
// C = A B on a column of PEs: each PE owns rows of A and of C, and the first ones own rows of B, which they
// broadcast. Only B travels, so where PEs are few and rows are long, as on this computer, this moves the
// fewest words. Every element is summed in the order of k, so the result has the same bits on any number of
// PEs. The front end is gemm.hpp.
#pragma once
#include <utility>

#include "tile.hpp"

namespace wsl::detail {

template <class T>
struct row_tile {
  using word = gemm_word<T>;
  // The parts of B have at least this many rows: fewer would not keep C in registers for long.
  static constexpr int largest_side = 1024, most_parts = host.colors, least_depth = 256;
  static constexpr broadcast<word> part_of_b(int k) {
    return {.first = k, .among = each_column, .root = {0, k}};
  }

  matrix<const T> a{nullptr, 0, 0};
  travelling_tile<T> own, came[2], turned;  // the last: some rows of an A that lies by columns
  gemm_sum<dense::sum_of<T>> sum;
  int step = 0, parts = 0;

  const gemm_sum<dense::sum_of<T>>& sum_of_c() const { return sum; }

  static layout plan(int side) {
    layout l{host, 1, side};
    l.place<row_tile>(all);
    for (int k = 0; k < most_parts; ++k) wire_broadcast(l, part_of_b(k), k < side);
    return l;
  }

  void begin(pe& me, const gemm_problem<T>& p) {
    step = 0;
    parts = std::clamp(p.a.columns() / least_depth, 1, std::min(me.height(), most_parts));
    const int depth = sum.template depth<T>(p.a.columns(), parts);
    sum.begin(p, {1, me.height()}, {0, me.y()});
    a = p.a.part(sum.at().y, 0, sum.tile().rows(), p.a.columns());
    if (a.column_stride() != 1) turned.resize(sum.rows_at_once, depth, gemm_stride<T>(depth));
    const auto resize = [&](travelling_tile<T>& t) { t.resize(depth, p.b.columns(), sum.panel_width); };
    if (me.height() > 1) resize(came[0]), resize(came[1]);
    if (me.y() < parts) {
      resize(own);
      own.load(p.b, me.y(), 0);
      if (me.height() > 1) me.async(mov(fabout(part_of_b(me.y()).line()), mem(own.words())));
    }
    me.unblock<&row_tile::multiply<0>>(), me.block<&row_tile::multiply<1>>();
    expect<0>(me, 0), expect<1>(me, 1);
  }
  // Parts arrive in two places in turn: while one is multiplied, the next arrives.
  template <int place>
  void expect(pe& me, int part) {
    if (part >= parts) return;
    if (part == me.y()) me.activate<&row_tile::multiply<place>>();
    else
      me.async(mov(mem(came[place].words()), fabin(part_of_b(part).line())),
               then<&row_tile::multiply<place>>());
  }
  template <int place>
  void multiply(pe& me) {
    me.block<&row_tile::multiply<place>>();
    travelling_tile<T>& b = step == me.y() ? own : came[place];
    const int left = step * b.rows(), columns = std::clamp(a.columns() - left, 0, b.rows());
    sum.add_product(b, [&](int from, int rows) -> matrix<const T> {
      if (a.column_stride() == 1) return a.part(from, std::min(left, a.columns()), rows, columns);
      turned.load(a.part(from, 0, rows, a.columns()), 0, step);
      return turned.panel(0).part(0, 0, rows, columns);
    });
    expect<place>(me, ++step + 1);
    if (step == parts) sum.finish();
    me.unblock<&row_tile::multiply<1 - place>>();
  }

  template <int k>
  using broadcast_of = task_list<sends<part_of_b(k).line()>, reads<part_of_b(k).line()>>;
  using tasks = task_list<launch<&row_tile::begin>,
                          long_running<local<&row_tile::multiply<0>>, local<&row_tile::multiply<1>>>,
                          numbered<most_parts, broadcast_of>>;
};

}  // namespace wsl::detail
