// SPDX-License-Identifier: MIT
// Every PE of a rectangle contributes a value and learns the total: sums ride east along the rows, then south down the last
// column, and the total floods back from the south-east corner. Five colors. The module has two parts: a constant that wires
// the layout, and a member of the PE program that holds its state and tasks.
//   constexpr all_reduce<f32> sum{0};                                  // colors 0 to 4
//   struct worker { reducer<sum> reduce; ... use<&worker::reduce>(), on<sum.total(), &worker::done>() ... };
// The total is the same on every PE, bit for bit. See examples/10_all_reduce.cpp.
#pragma once
#include "../wsl.hpp"
#include "combine.hpp"

namespace wsl {

template <payload T, class Combine = plus>
struct all_reduce {
  using element = T;
  using combine = Combine;

  int first;         ///< the first of five colors
  area where = all;  ///< the rectangle, without strides

  constexpr color<T> row(int parity) const { return {first + parity}; }
  constexpr color<T> column(int parity) const { return {first + 2 + parity}; }
  /// The color on which the total arrives at every PE.
  constexpr color<T> total() const { return {first + 4}; }

  constexpr void wire(layout& l) const {
    const region r = l.inside(where);
    l.claim_colors("all_reduce", first, 5, r);
    const auto path = [&](color<T> c, const area& a, route how) { l.path(c, resolve(a, r), how); };
    const area last = wsl::column(end - 1);
    for (int p = 0; p < 2; ++p) {
      path(row(p), columns(p, end - 1, 2), ramp >> east);
      path(row(p), columns(p + 1, end, 2), west >> ramp);
      path(column(p), last.rows(p, end - 1, 2), ramp >> south);
      path(column(p), last.rows(p + 1, end, 2), north >> ramp);
    }
    const ports up = r.rows() > 1 ? ports{north} : ports{};
    const ports on = r.columns() > 1 ? ports{west} : ports{};
    const area bottom = wsl::row(end - 1);
    path(total(), last.row(end - 1), ramp >> (ramp | on | up));
    path(total(), bottom.columns(1, end - 1), east >> (ramp | on | up));
    if (r.columns() > 1) path(total(), bottom.column(0), east >> (ramp | up));
    path(total(), rows(1, end - 1), south >> (ramp | north));
    if (r.rows() > 1) path(total(), wsl::row(0), south >> ramp);
  }
};

/// What a PE keeps of an all_reduce, and what it does for it.
template <auto net>
class reducer {
  using T = typename decltype(net)::element;

 public:
  /// This PE's part of the next total; each PE contributes once for each total, and not again before the total has come.
  void contribute(pe& me, T value) {
    if (row_.complete(me, value, partial::own, me.x() == inside(me).x0)) pass_row(me);
  }

  static consteval auto tasks() {
    return table(on<net.row(0), &reducer::add_to_row>(), on<net.row(1), &reducer::add_to_row>(),
                 on<net.column(0), &reducer::add_to_column>(), on<net.column(1), &reducer::add_to_column>(),
                 sends<net.row(0)>(), sends<net.row(1)>(), sends<net.column(0)>(), sends<net.column(1)>(), sends<net.total()>());
  }

 private:
  // A sum of two parts: the one from the west or north and this PE's, in this order whichever comes first. The first PE of a line
  // has only its own.
  struct partial {
    enum origin : u8 { nothing, before, own };
    T value{};
    origin waits = nothing;
    bool complete(const pe& me, T part, origin from, bool alone) {
      if (waits == from)
        throw fault_error("wsl: PE(" + std::to_string(me.x()) + ", " + std::to_string(me.y()) +
                          ") has two contributions to one total of an all_reduce: contribute again when the total has come");
      if (waits == nothing) value = part;
      else value = from == own ? join(value, part) : join(part, value);
      waits = waits == nothing && !alone ? from : nothing;
      return waits == nothing;
    }
    static T join(T first, T second) { return typename decltype(net)::combine{}(first, second); }
  };

  void add_to_row(pe& me, T part) {
    if (row_.complete(me, part, partial::before, false)) pass_row(me);
  }
  void add_to_column(pe& me, T part) {
    if (column_.complete(me, part, partial::before, false)) pass_column(me);
  }
  void pass_row(pe& me) {
    const region r = inside(me);
    if (me.x() + 1 < r.x1) return me.send(net.row((me.x() - r.x0) % 2), row_.value);
    if (column_.complete(me, row_.value, partial::own, me.y() == r.y0)) pass_column(me);
  }
  void pass_column(pe& me) {
    const region r = inside(me);
    if (me.y() + 1 < r.y1) me.send(net.column((me.y() - r.y0) % 2), column_.value);
    else me.send(net.total(), column_.value);
  }
  region inside(const pe& me) const { return resolve(net.where, {0, me.width(), 0, me.height()}); }

  partial row_, column_;
};

}  // namespace wsl
