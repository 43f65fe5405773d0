// SPDX-License-Identifier: MIT
// A halo exchange: every PE of a rectangle has a tile of a large field with a rim of `width` ghost cells
// around it, and fills the rim with its neighbours' cells, corners included. First columns go east and west;
// then whole rows, with the rims just filled, go north and south, and so a corner travels around without a
// color of its own. At the edge of the rectangle the rim keeps its values, except that rows bring along those
// in the rims of the north and south neighbours. See examples/23_game_of_life.cpp.
//   constexpr halo_exchange<f32> rim{.first = 0, .rows = 16, .columns = 16, .width = 2};
//   f32 u[rim.cells()]{};  endpoint<rim> filling; ... filling.start(me, mem(u), then<&worker::step>())
// A PE handles one word a cycle, and S cycles begin and end each of its four operations along an axis. With R
// rows, C columns and width W that is 4 W (R + S) + 4 (W (C + 2 W) + S) cycles, and half of a term along an
// axis with two PEs. The latency of the links hides behind it. Eight colors, those of `neighbours`.
#pragma once
#include "cost.hpp"
#include "line.hpp"
#include "neighbours.hpp"

namespace wsl::collective {

template <payload T>
struct halo_exchange {
  using element = T;
  static constexpr const char* name = "halo_exchange";
  static constexpr int colors = 8;

  int first = 0;              ///< the first of its colors
  area where = all;           ///< the rectangle, without strides
  int rows = 1, columns = 1;  ///< of a PE's tile, without the rim
  int width = 1;              ///< of the rim

  constexpr int pitch() const { return columns + 2 * width; }  ///< of the array, which is row-major
  /// of the array, (rows + 2 width, columns + 2 width)
  constexpr int cells() const { return (rows + 2 * width) * pitch(); }
  constexpr neighbours<T> near() const { return {first, where}; }

  constexpr void wire(layout& l) const {
    if (rows < 1 || columns < 1 || width < 1 || width > rows || width > columns)
      faults::a_rim_is_not_wider_than_the_tile(name, rows, columns, width);
    near().wire(l, name);
  }

  /// The cost on a layout, in cycles.
  constexpr f64 cycles(const layout& l) const {
    const region r = rectangle_of(l, where, name);
    const auto exchange = [](int pes, int words) { return 2 * (pes < 3 ? pes - 1 : 2) * (words + restart); };
    return width * exchange(r.columns(), rows) + exchange(r.rows(), width * pitch());
  }

  template <auto net>
  class part {
   public:
    /// Fills the rim of `field`, an array of net.cells() words, row by row.
    void start(pe& me, memory<T> field, completion done = no_completion<T>(net.first)) {
      rectangle_of(me, net.where, name);
      if (field.length() != net.cells())
        faults::the_field_does_not_fit(name, me.at(), field.length(), net.cells() / net.pitch(), net.pitch());
      field_ = field, done_ = done, step_ = 0;
      go_on(me);
    }

   private:
    // Column after column of the rim's width, then all its rows at once, as they are adjacent in memory.
    void go_on(pe& me) {
      while (step_ <= net.width) {
        const int step = step_++;
        open_ = 0;
        const bool upright = step == net.width;
        exchange<0>(me, upright ? south : east, step);
        exchange<2>(me, upright ? north : west, step);
        if (open_) return;
      }
      finish(me, net.first, unused_, done_);
    }
    /// Sends this PE's cells toward a side and fills the rim there.
    template <int n>
    void exchange(pe& me, port side, int step) {
      if (net.near().edge(me, side)) return;
      open_ += 2;
      me.async(mov(net.near().fabout(me, side), strip(side, step, false)), then<&part::template ended<n>>());
      me.async(mov(strip(side, step, true), net.near().fabin(me, side)),
               then<&part::template ended<n + 1>>());
    }
    // Four completions need four tasks, because an activation is one bit and not a counter.
    template <int>
    void ended(pe& me) {
      if (--open_ == 0) go_on(me);
    }
    /// A column of the tile's height, or all rows of the rim's width: in the rim, or in the tile next to it.
    memory<T> strip(port side, int step, bool in_rim) const {
      const int w = net.width;
      if (side == east) return column((in_rim ? w : 0) + net.columns + step);
      if (side == west) return column((in_rim ? 0 : w) + step);
      const int row = side == south ? (in_rim ? w : 0) + net.rows : in_rim ? 0 : w;
      return field_.part(row * net.pitch(), w * net.pitch());
    }
    memory<T> column(int x) const {
      return field_.from(net.width * net.pitch() + x).every(net.pitch()).part(0, net.rows);
    }

    memory<T> field_{nullptr, 0};
    completion done_{};
    int step_ = 0, open_ = 0;
    T unused_{};

   public:
    using tasks = task_list<local<&part::template ended<0>>, local<&part::template ended<1>>,
                            local<&part::template ended<2>>, local<&part::template ended<3>>,
                            uses_colors<T, net.first, colors>>;
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::halo_exchange;
}
