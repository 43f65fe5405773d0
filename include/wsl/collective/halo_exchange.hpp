// SPDX-License-Identifier: MIT
// A halo exchange: every PE of a rectangle has a tile of a large field with a rim of `width` ghost cells
// around it, and fills the rim with the cells of its eight neighbours. First columns go east and west; then
// whole rows, with the rims just filled, go north and south, and so a corner travels around without a color
// of its own. At the edge of the rectangle the rim keeps its values, except that rows bring along those in
// the rims of the north and south neighbours; where the field is periodic it has no edge. See
// examples/23_game_of_life.cpp, and 37_torus.cpp for sizes that are known when the program runs.
//   constexpr halo_exchange<f32> rim{.first = 0, .rows = 16, .columns = 16, .width = 2};
//   f32 u[rim.cells()]{};  endpoint<rim> filling; ... filling.start(me, mem(u), then<&worker::step>())
// A PE handles one word a cycle, and S cycles begin and end each of its four operations along an axis. What
// is received goes first, so the last word is on its way for 2 T + 2 cycles more. With R rows, C columns and
// width W that is W (4 (R + S) + 2 T + 2) + 4 (W (C + 2 W) + S) + 2 T + 2 cycles, and 2 (R + S) or its like
// along an axis with two PEs. Around a periodic axis a word goes back past all PEs. Eight colors, those of
// `neighbours`, and two more for each periodic axis.
#pragma once
#include "cost.hpp"
#include "line.hpp"
#include "neighbours.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

/// The tile of a PE and the rim around it, in a row-major array of (rows + 2 width, columns + 2 width).
struct tile_shape {
  int rows = 1, columns = 1;  ///< of the tile, without the rim
  int width = 1;              ///< of the rim

  constexpr int pitch() const { return columns + 2 * width; }  ///< from one row of the array to the next
  constexpr int cells() const { return (rows + 2 * width) * pitch(); }
  constexpr bool holds_rim() const { return width >= 1 && width <= rows && width <= columns; }
};

template <payload T>
struct halo_exchange {
  using element = T;
  static constexpr const char* name = "halo_exchange";

  int first = 0;     ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  /// the size of a PE's tile and the width of its rim, where these are constants
  int rows = 1, columns = 1, width = 1;
  /// whether the PEs at opposite edges are neighbours, along a row and along a column
  bool around_x = false, around_y = false;

  constexpr tile_shape shape() const { return {rows, columns, width}; }
  constexpr int pitch() const { return shape().pitch(); }
  constexpr int cells() const { return shape().cells(); }
  constexpr neighbours<T> near() const { return {first, where, around_x, around_y}; }
  constexpr int colors() const { return near().colors().size(); }

  constexpr void wire(layout& l) const {
    if (!shape().holds_rim()) faults::a_rim_is_not_wider_than_the_tile(name, rows, columns, width);
    near().wire(l, name);
  }

  /// The cost on a layout, in cycles, with tiles of its own shape or of one that is the same on all PEs.
  constexpr f64 cycles(const layout& l) const { return cycles(l, shape()); }
  constexpr f64 cycles(const layout& l, const tile_shape& tile) const {
    const region r = rectangle_of(l, where, name);
    return tile.width * exchange(r.columns(), tile.rows, around_x) +
           exchange(r.rows(), tile.width * tile.pitch(), around_y);
  }

  template <auto net>
  class part {
   public:
    /// Fills the rim of `field`, an array of net.cells() words, row by row.
    void start(pe& me, memory<T> field, completion done = then_nothing) {
      start(me, field, net.shape(), done);
    }
    /// The same for a tile whose shape is known only now: `filling.start(me, mem(u), tile_shape{rows,
    /// columns, width}, then<&worker::step>())`. PEs beside each other have as many rows, PEs above each
    /// other as many columns, and all have rims of one width.
    void start(pe& me, memory<T> field, tile_shape tile, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      if (!tile.holds_rim())
        faults::the_rim_is_wider_than_the_tile(name, me.at(), tile.rows, tile.columns, tile.width);
      if (field.length() != tile.cells())
        faults::the_field_does_not_fit(name, me.at(), field.length(), tile.cells() / tile.pitch(),
                                       tile.pitch());
      must_agree<team::row>(me, r, "rows", tile.rows, tile.width);
      must_agree<team::column>(me, r, "columns", tile.columns, tile.width);
      field_ = field, tile_ = tile, done_ = done, step_ = 0;
      go_on(me);
    }

   private:
    /// Throws fault if another PE of the row, or of the column, has a tile that does not go with this one.
    template <team among>
    void must_agree(pe& me, const region& r, const char* what, int size, int of_rim) {
      if (size >= 1 << 20 || of_rim >= 1 << 12) return;
      const u32 own = static_cast<u32>(size) << 12 | static_cast<u32>(of_rim);
      const team_sizes::size agreed = agreed_in_team<net, among>(me, r, own);
      if (agreed.words != own) [[unlikely]]
        faults::the_tiles_differ(name, me.at(), what, size, of_rim, agreed.of,
                                 static_cast<int>(agreed.words >> 12),
                                 static_cast<int>(agreed.words & 0xfff));
    }
    // Column after column of the rim's width, then all its rows at once, as they are adjacent in memory.
    void go_on(pe& me) {
      while (step_ <= tile_.width) {
        const int step = step_++;
        open_ = 0;
        const bool upright = step == tile_.width;
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
      const int w = tile_.width;
      if (side == east) return column((in_rim ? w : 0) + tile_.columns + step);
      if (side == west) return column((in_rim ? 0 : w) + step);
      const int row = side == south ? (in_rim ? w : 0) + tile_.rows : in_rim ? 0 : w;
      return field_.part(row * tile_.pitch(), w * tile_.pitch());
    }
    memory<T> column(int x) const {
      return field_.from(tile_.width * tile_.pitch() + x).every(tile_.pitch()).part(0, tile_.rows);
    }

    memory<T> field_{nullptr, 0};
    tile_shape tile_;
    completion done_{};
    int step_ = 0, open_ = 0;
    T unused_{};

   public:
    using tasks = task_list<local<&part::template ended<0>>, local<&part::template ended<1>>,
                            local<&part::template ended<2>>, local<&part::template ended<3>>,
                            uses_colors<T, net.first, net.colors()>>;
  };

 private:
  /// Both directions along an axis: a PE handles what it sends and receives, and around the axis a word goes
  /// back past all PEs.
  static constexpr f64 exchange(int pes, int words, bool around) {
    const int sides = around || pes > 2 ? 2 : pes - 1;
    const f64 last =
        sides == 2 ? handling + 1 : 0;  // the way of the last word, for which nothing else is left
    const f64 handled = 2 * sides * (words + restart) + last, back = words + pes - 1 + handling + restart;
    return around && back > handled ? back : handled;
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::halo_exchange, collective::tile_shape;
}
