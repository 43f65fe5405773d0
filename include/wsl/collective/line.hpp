// SPDX-License-Identifier: MIT
// The geometry of the collectives: a rectangle of the grid, the teams into which it falls (as communicators
// in MPI), and lines of PEs. Seen from its root a line has two arms, and a PE of an arm is known by its
// distance from the root. Words along an arm come from one side and leave by the other, so one description of
// an arm serves all four directions of the mesh:
//         <- arm 0 ->     <--- arm 1 --->
//    PE   2    1    root    1    2    3      distances
#pragma once
#include "../wsl.hpp"
#include "faults.hpp"

namespace wsl::collective {

/// The PEs that work together: each row of the rectangle by itself, each column, or all of it. It has four
/// bytes, as have all fields of a module that others follow: Clang 19 misplaces the fields after a smaller
/// one in a template argument.
enum class team : int { row, column, rectangle };
inline constexpr team each_row = team::row, each_column = team::column, everyone = team::rectangle;

/// It has four bytes as well: modules keep lines in the memory of PEs, and bytes between members differ from
/// run to run.
enum class axis : int { x, y };

/// The position of a root in a rectangle, counted from its north-west corner, or back from its far edges with
/// `edge`. Along an axis of at least `centred_from` PEs it is in the middle instead, at half their number.
struct root_position {
  bound x = 0, y = 0;
  int centred_from = never;

  static constexpr int never = 1 << 30;
};
/// The middle of the rectangle: no PE is farther than half its width and half its height away.
inline constexpr root_position in_the_middle{.centred_from = 1};

constexpr port forward(axis a) { return a == axis::x ? east : south; }
constexpr port backward(axis a) { return opposite(forward(a)); }
constexpr int along(coord c, axis a) { return a == axis::x ? c.x : c.y; }
constexpr int length(const region& r, axis a) { return a == axis::x ? r.x1 - r.x0 : r.y1 - r.y0; }
constexpr coord corner(const region& r) { return {r.x0, r.y0}; }
constexpr int size_of_team(const region& r, team who) {
  return who == team::row ? r.columns() : who == team::column ? r.rows() : r.count();
}

/// Checks that a module has PEs, and all of them on the grid.
constexpr region inside_grid(const layout& l, const region& r, const char* module) {
  if (r.empty()) faults::the_rectangle_of_a_collective_holds_no_PE(module);
  if (r.x0 < 0 || r.y0 < 0 || r.x1 > l.width() || r.y1 > l.height())
    faults::the_rectangle_of_a_collective_leaves_the_grid(module, r, l.width(), l.height());
  return r;
}
/// The rectangle of a module on a layout's grid.
constexpr region rectangle_of(const layout& l, const area& where, const char* module) {
  if (where.sx != 1 || where.sy != 1)
    faults::the_rectangle_of_a_collective_has_no_strides(module, where.sx, where.sy);
  return inside_grid(l, resolve(where, l.grid()), module);
}
/// The same as a PE sees it, which must lie in it.
inline region rectangle_of(const pe& me, const area& where, const char* module) {
  const region r = resolve(where, {0, me.width(), 0, me.height()});
  if (!r.has(me.at())) faults::a_PE_outside_the_rectangle_calls(module, me.at(), r);
  return r;
}

/// The coordinates of a root in the rectangle. Those that a team does not use are 0: a row has no y.
constexpr coord root_in(const region& r, root_position root, team of, const char* module) {
  const auto in = [&](bound b, int extent) { return extent < root.centred_from ? b.in(extent) : extent / 2; };
  const coord c{of == team::column ? 0 : in(root.x, r.columns()), of == team::row ? 0 : in(root.y, r.rows())};
  if (c.x < 0 || c.y < 0 || c.x >= r.columns() || c.y >= r.rows())
    faults::the_root_is_outside_the_rectangle(module, c, r.columns(), r.rows());
  return c;
}

/// The PEs on one side of the roots of parallel lines, by their distance; the root itself has distance 0.
struct arm {
  region roots;  ///< one in each line
  port outward;  ///< from the root to the arm's end
  int reach;     ///< PEs beyond the root

  constexpr port inward() const { return opposite(outward); }
  /// The PEs at distances from .. to - 1, or every n-th of them; none beyond the end.
  constexpr region cells(int from, int to, int every = 1) const {
    if (to > reach + 1) to = reach + 1;
    if (from >= to) return {};
    const int last = from + (to - 1 - from) / every * every;
    const bool grows = outward == east || outward == south, in_x = outward == east || outward == west;
    const int low = grows ? from : -last, high = grows ? last : -from;
    region r = roots;
    if (in_x) r.x0 = roots.x0 + low, r.x1 = roots.x0 + high + 1, r.sx = every;
    else r.y0 = roots.y0 + low, r.y1 = roots.y0 + high + 1, r.sy = every;
    return r;
  }
  constexpr region cell(int distance) const { return cells(distance, distance + 1); }
  constexpr region beyond() const { return cells(1, reach); }  ///< between root and end
  constexpr region tip() const { return cells(reach < 1 ? 1 : reach, reach + 1); }
};

/// The lines of a rectangle along an axis with their root at one position: the arms toward the west or north
/// (0), east or south (1).
struct lines {
  region where;
  axis direction = axis::x;
  int root = 0;

  constexpr region roots() const {
    region r = where;
    if (direction == axis::x) r.x0 += root, r.x1 = r.x0 + 1;
    else r.y0 += root, r.y1 = r.y0 + 1;
    return r;
  }
  constexpr int reach(int side) const { return side ? length(where, direction) - 1 - root : root; }
  constexpr arm side(int n) const {
    return {roots(), n ? forward(direction) : backward(direction), reach(n)};
  }
  /// The ports through which the root reaches its arms.
  constexpr ports ways() const {
    return (reach(0) ? ports{backward(direction)} : ports{}) |
           (reach(1) ? ports{forward(direction)} : ports{});
  }
  constexpr int size() const { return length(where, direction); }
  constexpr int farthest() const { return reach(0) > reach(1) ? reach(0) : reach(1); }
  /// The arm on which a PE lies, and its distance; the root belongs to both arms. The only PE of a line is
  /// its root.
  constexpr int side_of(int position) const { return position > root; }
  constexpr int distance_of(int position) const {
    return size() == 1 ? 0 : position > root ? position - root : root - position;
  }
};

/// The lines of a team along an axis, with their roots: all rows or all columns of the rectangle; if the
/// rectangle is one team, its rows, or the column of their roots. A team that does not extend along the
/// axis has lines of one PE.
constexpr lines lines_of(const region& r, axis a, team among, root_position root, const char* module) {
  const coord c = root_in(r, root, among, module);
  if (a == axis::x && among == team::column) return {{r.x0, r.x0 + 1, r.y0, r.y1}, a, 0};
  if (a == axis::y && among == team::row) return {{r.x0, r.x1, r.y0, r.y0 + 1}, a, 0};
  if (a == axis::y && among == team::rectangle) return {lines{r, axis::x, c.x}.roots(), a, c.y};
  return {r, a, a == axis::x ? c.x : c.y};
}
/// The index of a PE of the rectangle in its team.
constexpr int rank_in(const region& r, coord at, team among) {
  return among == team::row ? at.x : among == team::column ? at.y : at.y * r.columns() + at.x;
}

/// Claims the colors of a module. A module names them in the task list of every program, but at some sizes of
/// the rectangle some of them have no route, which this declares.
template <payload T>
constexpr void claim_colors(layout& l, const char* module, int first, int count, const region& r) {
  l.claim_colors(module, first, count, r);
  for (int k = 0; k < count; ++k) l.path(color<T>{first + k}, region{}, ramp >> ramp);
}

/// The part of a module in a PE program, which is a member of it: `endpoint<spread> spreading;` with
/// `use<&worker::spreading>` in the task list.
template <auto net>
using endpoint = typename decltype(net)::template part<net>;

/// The entries of a module whose descriptors read and send each of its colors.
template <payload T, int first, int count>
using uses_colors = task_list<reads<color_range<T, count>{first}>, sends<color_range<T, count>{first}>>;

/// Nothing is left to do: `done` happens. The color is one that the endpoint reads.
template <payload T>
void finish(pe& me, int own_color, T& unused, const completion& done) {
  me.async(mov(&unused, fabin(color<T>{own_color}, 0)), done);
}

}  // namespace wsl::collective

namespace wsl {
using collective::each_row, collective::each_column, collective::everyone, collective::endpoint;
}
