// SPDX-License-Identifier: MIT
// The order of the PEs' elements in a host array, and the copies in both directions. An area of h rows and w
// columns with n elements a PE is an array of shape (h, w, n) to the host, in one of two orders. Rows and
// columns count the PEs of the area: with `columns(0, edge, 2)` column 1 is the grid's column 2.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "../fabric/host_gather.hpp"
#include "../program/convert.hpp"
#include "symbol.hpp"

namespace wsl {

/// Element i of the PE in column x and row y of an area is in the host's array
///   row_major     at (y * w + x) * n + i   each PE's elements together, PE by PE along the rows
///                                          (CSL: ROW_MAJOR)
///   column_major  at (i * w + x) * h + y   plane by plane, each down its columns: y is fastest
///                                          (CSL: COL_MAJOR)
enum class order : u8 { row_major, column_major };
inline constexpr order row_major = order::row_major, column_major = order::column_major;

namespace detail {

/// The PEs that share numbers: none, those of a row, those of a column, or all of the area.
enum class sharing : u8 { none, row, column, area };

/// Element i of the PE in column x and row y is host[x * column + y * row + i * element].
struct host_index {
  std::size_t column = 0, row = 0, element = 0, size = 1;
};

constexpr host_index index_of(const region& r, std::size_t n, order by, sharing how) {
  const bool one_column = how == sharing::row || how == sharing::area,
             one_row = how == sharing::column || how == sharing::area;
  const std::size_t w = one_column ? 1 : static_cast<std::size_t>(r.columns()),
                    h = one_row ? 1 : static_cast<std::size_t>(r.rows());
  host_index at = by == row_major ? host_index{n, w * n, 1, h * w * n} : host_index{h, 1, h * w, h * w * n};
  if (one_column) at.column = 0;
  if (one_row) at.row = 0;
  if (r.empty()) at.size = 0;
  return at;
}

/// Copies with f between the host and the PE at c, and adds to a fault of a conversion which copy it was.
template <class Symbol, class F>
void with_place_in_faults(coord c, F f) {
  try {
    f(c);
  } catch (const fault& e) {
    throw fault(support::joined({e.what(), "\n  in the copy of a member of ", Symbol::length, " ",
                                 support::type_name<typename Symbol::element>(), " on ", text_of(c), " of ",
                                 Symbol::programs()}));
  }
}

inline void on_the_grid(const region& r, const layout& plan) {
  if (!r.empty() && (r.x0 < 0 || r.y0 < 0 || r.x1 > plan.width() || r.y1 > plan.height()))
    faults::the_area_leaves_the_grid(r.x0, r.x1, r.y0, r.y1, plan.width(), plan.height());
}

/// Calls f(PE, host offset) for each PE of r.
template <class Symbol, class F>
void each_place(const region& r, const host_index& at, F f) {
  for (int y = 0; y < r.rows(); ++y)
    for (int x = 0; x < r.columns(); ++x)
      with_place_in_faults<Symbol>({r.x0 + x * r.sx, r.y0 + y * r.sy}, [&](coord c) {
        f(c, static_cast<std::size_t>(x) * at.column + static_cast<std::size_t>(y) * at.row);
      });
}

/// Calls f(elements, host offset) for each PE of r that this process runs. Checks all PEs first: a copy is
/// done to all or to none.
template <class Symbol, class F>
void each_block(fabric& on, const Symbol& what, const region& r, const host_index& at, F f) {
  on_the_grid(r, on.plan());
  for (int i = 0; i < r.count(); ++i) what.place(on, r.nth(i));
  const bool all_here = !on.spread();
  each_place<Symbol>(r, at, [&](coord c, std::size_t offset) {
    if (all_here || on.here(c)) f(what.place(on, c), offset);
  });
}

template <class Symbol>
void check_size(const region& r, const host_index& at, std::size_t given) {
  if (given == at.size) return;
  throw fault(support::joined({"wsl: ", text_of(r), " of ", Symbol::programs(), ": this copy takes ", at.size,
                               " elements of the host, in blocks of ", Symbol::length, ", and its array has ",
                               given}));
}

/// The elements of the PEs of r along its rows, from the processes that run the PEs.
template <class Symbol>
std::vector<typename Symbol::element> gathered(fabric& from, const Symbol& what, const region& r) {
  std::vector<typename Symbol::element> all(static_cast<std::size_t>(r.count()) * Symbol::length);
  host_gather blocks(from);
  for (int i = 0; i < r.count(); ++i)
    blocks.add(r.nth(i), what.place(from, r.nth(i)), &all[static_cast<std::size_t>(i) * Symbol::length],
               Symbol::length);
  blocks.run();
  return all;
}

/// Numbers of one type that lie together on both sides move as a block.
template <class To, class From>
void copy_numbers(To* to, std::size_t to_step, const From* from, std::size_t from_step, std::size_t n) {
  if constexpr (std::same_as<To, From>)
    if (to_step == 1 && from_step == 1) return static_cast<void>(std::copy_n(from, n, to));
  for (std::size_t i = 0; i < n; ++i) to[i * to_step] = convert<To>(from[i * from_step]);
}

/// Throws the fault of the first number that does not fit, before a copy has changed anything.
template <class To, class From>
void must_fit(const From* from, std::size_t from_step, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) static_cast<void>(convert<To>(from[i * from_step]));
}

template <class Symbol, class Host>
void copy_in(fabric& on, const Symbol& what, const region& r, const host_index& at,
             std::span<const Host> host) {
  using element = typename Symbol::element;
  check_size<Symbol>(r, at, host.size());
  if constexpr (may_refuse<element, Host>)
    each_block(on, what, r, at, [&](element*, std::size_t from) {
      must_fit<element>(host.data() + from, at.element, Symbol::length);
    });
  each_block(on, what, r, at, [&](element* to, std::size_t from) {
    copy_numbers(to, 1, host.data() + from, at.element, Symbol::length);
  });
}

template <class Symbol, class Host>
void copy_out(fabric& on, const Symbol& what, const region& r, const host_index& at, std::span<Host> host) {
  using element = typename Symbol::element;
  check_size<Symbol>(r, at, host.size());
  on_the_grid(r, on.plan());
  std::vector<element> from_processes;
  if (on.spread()) from_processes = gathered(on, what, r);
  const auto each = [&](auto f) {
    if (!on.spread()) return each_block(on, what, r, at, f);
    const element* next = from_processes.data();
    each_place<Symbol>(
        r, at, [&](coord, std::size_t offset) { f(std::exchange(next, next + Symbol::length), offset); });
  };
  if constexpr (may_refuse<Host, element>)
    each([&](const element* from, std::size_t) { must_fit<Host>(from, 1, Symbol::length); });
  each([&](const element* from, std::size_t to) {
    copy_numbers(host.data() + to, at.element, from, 1, Symbol::length);
  });
}

}  // namespace detail
}  // namespace wsl
