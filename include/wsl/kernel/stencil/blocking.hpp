// SPDX-License-Identifier: MIT
// How a grid is shared out on this computer: the PEs, the steps between two exchanges, and the tiles in which
// a PE marches them. They follow from the sizes of the caches and a small model of the time of a step, and
// change no bit of the result.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "../../engine/threaded.hpp"
#include "tile.hpp"

namespace wsl::stencils {

/// The use of this computer; 0 leaves a choice to the library.
struct options {
  /// PEs along the first axis, and along the second, where a grid with one axis has 1; chosen, they are at
  /// most one for each thread.
  int wide = 0, high = 0;
  int depth = 0;               ///< steps between two exchanges, 1 to most_depth
  int threads = 0;             ///< as threaded{.threads}
  int tile_x = 0, tile_y = 0;  ///< lines of a tile along the first axes
  int tile_z = 0;              ///< cells of a tile along the last axis
};

inline constexpr int most_depth = 64;

namespace detail {

/// With the numbers of PEs. Cells at the other end of an axis that goes around are kept beside the block,
/// except at the ends of lines that no PE cuts, where they are written anew with each step.
inline tile_plan with_pes(tile_plan p, int wide, int high) {
  p.cut.axis[p.cut.first].parts = wide, p.cut.axis[p.cut.second].parts = high;
  const bool is_line = p.cut.first == z_axis;
  for (int a = 0; a < 3; ++a)
    p.cut.axis[a].wraps = p.sides[a].is_periodic() && p.cut.axis[a].n > 0 &&
                          (a != z_axis || p.cut.axis[a].parts > 1 || is_line);
  return p;
}

inline f64 bytes_of_second_cache() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return static_cast<f64>(bytes);
#endif
  return 1 << 20;
}

// Constants of the model, for a core of a server. They matter in proportion only.
inline constexpr f64 ns_of_operation = 0.015;  ///< of a cell, in vectors
inline constexpr f64 ns_of_byte = 0.08;        ///< from memory, while other cores read as well
inline constexpr f64 ns_of_exchange = 5000;    ///< of PEs that wait for each other

/// Sets the tile for the depth of a cut. What a tile reads in one step is about twice the second cache: what
/// it shares with the tiles before it comes from the last one.
inline void choose_tile(tile_plan& p, int bytes_of_cell, const options& how) {
  const cut_axis* axis = p.cut.axis;
  const box own = p.cut.own({});
  const auto whole = [&](int a) { return own.at[a].size() + 3 * axis[a].radius * p.cut.depth; };
  const int given[] = {how.tile_x, how.tile_y, how.tile_z};
  f64 room = 2 * bytes_of_second_cache() / bytes_of_cell;
  for (int a : {z_axis, y_axis, x_axis}) {
    const bool is_contiguous = a == z_axis;
    // whole lines, if some of them fit; a few of them in y, the longest dimension of a tile being x
    const f64 wanted = a == x_axis || axis[x_axis].n == 1 ? room
                       : is_contiguous                    ? std::max(room / 32, 256.)
                                                          : 8. + 2 * axis[a].radius;
    const f64 most = own.at[a].size() + 2. * axis[a].radius;
    const int fitting = static_cast<int>(std::min(wanted, most)) - 2 * axis[a].radius;
    const int least = is_contiguous ? 4 * widest_lanes : 4;
    // the ends of such a line are written when all of it is known
    const bool is_ring = is_contiguous && p.sides[a].is_periodic() && !axis[a].wraps;
    p.tile[a] = is_ring          ? whole(a)
                : given[a] > 0   ? given[a]
                : wanted >= most ? whole(a)
                                 : std::max(fitting, least);
    room /= std::min(p.tile[a] + 2. * axis[a].radius, most);
  }
}

/// The time of a cell and step in nanoseconds, as the model has it.
inline f64 modelled_time(const tile_plan& p, int bytes_of_cell, int operations) {
  const box own = p.cut.own({});
  f64 computed = 1, read = 1, cells = 1;
  for (int a = 0; a < 3; ++a) {
    const cut_axis& axis = p.cut.axis[a];
    const f64 n = own.at[a].size();
    cells *= n;
    if (axis.parts > 1 || axis.wraps) computed *= 1 + axis.radius * (p.cut.depth - 1) / n;
    if (p.tile[a] < n) read *= 1 + 2. * axis.radius / p.tile[a];
  }
  const f64 arithmetic = computed * operations * ns_of_operation;
  const bool in_cache = cells * bytes_of_cell < 0.7 * bytes_of_second_cache();
  // from memory once in a march, and from the last cache, which is faster, with every step
  const f64 reading = in_cache ? 0 : bytes_of_cell * computed * (1. / p.cut.depth + 0.15 * read) * ns_of_byte;
  const bool alone = p.cut.axis[p.cut.first].parts * p.cut.axis[p.cut.second].parts == 1;
  return std::max(arithmetic, reading) + 0.3 * std::min(arithmetic, reading) +
         (alone ? 0 : ns_of_exchange / p.cut.depth / cells);
}

inline void check_options(const tile_plan& p, const options& how) {
  const int columns = p.cut.axis[p.cut.first].n, rows = p.cut.axis[p.cut.second].n;
  if (how.wide < 0 || how.high < 0 || how.wide > columns || how.high > rows)
    support::bad_argument({"stencil: ", how.wide, " x ", how.high, " PEs cut axes of ", columns, " and ",
                           rows, " cells; take at most one PE for each cell, or 0 to have them chosen"});
  if (how.depth < 0 || how.depth > most_depth)
    support::bad_argument({"stencil: PEs exchange cells after 1 to ", most_depth,
                           " steps, or 0 to have them "
                           "chosen, not after ",
                           how.depth});
  if (how.threads < 0 || how.tile_x < 0 || how.tile_y < 0 || how.tile_z < 0)
    support::bad_argument(
        {"stencil: threads and the cells of a tile are positive, or 0 to have them chosen, not ", how.threads,
         " threads and ", how.tile_x, " x ", how.tile_y, " x ", how.tile_z});
}

/// The PEs along the first axis and the second one: as many as there can be with at most one for each thread
/// and not too few cells for each; and of several ways to have as many, that with the most along the first
/// axis, whose cuts cost least.
inline std::pair<int, int> chosen_pes(const tile_plan& p, const options& how, int threads) {
  const auto most = [&](int a, int given) {
    const cut_axis& axis = p.cut.axis[a];
    const int narrowest = std::max(axis.radius, a == z_axis ? 256 : 8);
    return given > 0 ? given : std::clamp(axis.n / narrowest, 1, threads);
  };
  const int most_wide = most(p.cut.first, how.wide), most_high = most(p.cut.second, how.high);
  std::pair<int, int> best{0, 0};
  for (int wide = how.wide > 0 ? how.wide : 1; wide <= most_wide; ++wide) {
    const int high = how.high > 0 ? how.high : std::clamp(threads / wide, 1, most_high);
    if (wide > 1 && wide * high > threads && how.wide == 0) break;
    if (wide * high >= best.first * best.second) best = {wide, high};
  }
  return best;
}

}  // namespace detail

/// A plan, for so many processes, with all that the options leave open; throws std::invalid_argument if they
/// do not fit the grid.
inline tile_plan blocked(const tile_plan& grid, const footprint& reads, int bytes_of_cell, const options& how,
                         int processes) {
  detail::check_options(grid, how);
  const int threads = (how.threads > 0 ? how.threads : default_threads()) * processes;
  const auto [wide, high] = detail::chosen_pes(grid, how, threads);
  tile_plan best;
  f64 least = 0;
  for (int depth = how.depth > 0 ? how.depth : 1; depth <= (how.depth > 0 ? how.depth : 16); ++depth) {
    tile_plan p = detail::with_pes(grid, wide, high);
    p.cut.depth = depth;
    detail::choose_tile(p, bytes_of_cell, how);
    const f64 time = detail::modelled_time(p, bytes_of_cell, reads.operations.all() + reads.loads);
    if (least > 0 && time >= least * 0.98) continue;  // deeper only if it gains something
    best = p, least = time;
  }
  return best;
}

}  // namespace wsl::stencils
