// SPDX-License-Identifier: MIT
// What processes compare of a stencil: fingerprints, and words for the sentence about what differs.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "../named_values.hpp"
#include "array_fingerprint.hpp"
#include "recorder.hpp"
#include "state.hpp"
#include "tile.hpp"

namespace wsl::stencils::detail {

/// Axes of the user's grid as x, y and z.
constexpr int internal_axis(int axes, int a) { return a == axes - 1 ? z_axis : a == 0 ? x_axis : y_axis; }

/// Of all that PEs must agree on.
inline u64 fingerprint_of(const tile_plan& p) {
  support::fingerprint f;
  for (int a = 0; a < 3; ++a) {
    const cut_axis& axis = p.cut.axis[a];
    f.add(axis.n), f.add(axis.radius), f.add(axis.parts), f.add(axis.wraps);
    for (const boundary::side* s : {&p.sides[a].low, &p.sides[a].high}) {
      f.add(s->kind), f.add(s->width), f.add(s->strength);
      for (const f64 v : s->values) f.add(v);
    }
  }
  f.add(p.cut.first), f.add(p.cut.second), f.add(p.cut.depth), f.add(p.cut.diagonal);
  return f.value();
}

/// What lies beyond a side, in words.
inline std::string text_of(const boundary::side& s, int fields) {
  constexpr const char* kinds[] = {"fixed", "open", "mirrored", "centred", "periodic", "absorbing"};
  std::string text = kinds[static_cast<std::size_t>(s.kind)];
  if (s.kind == boundary::kind::absorbing)
    text +=
        support::joined({", ", s.width, " cells wide with the strength "}) + support::number_text(s.strength);
  for (int f = 0; f < fields && s.kind != boundary::kind::open && s.kind != boundary::kind::periodic; ++f)
    text += (f == 0 ? ", " : " and ") + support::number_text(s.values[std::size_t(f)]);
  return text;
}

/// All that a simulation is made of; its numbers have so many bytes.
inline void name_plan(kernel::named_values& all, const tile_plan& p, const extents& size, const takes& in,
                      const recorder::expression& update, std::size_t bytes_of_number) {
  all.add("number of fields, coefficients or scalars of a stencil",
          support::joined({in.fields, ", ", in.coefficients, " and ", in.scalars}));
  all.add("number type of a stencil", bytes_of_number == sizeof(f32) ? "f32" : "f64");
  all.add("update of a stencil", "one with the fingerprint " + kernel::text_of_hash(update.fingerprint));
  all.add("grid of a stencil", size.text());
  for (int a = 0; a < size.axes(); ++a) {
    const axis_sides& sides = p.sides[internal_axis(size.axes(), a)];
    all.add(support::joined({"low side of axis ", a, " of a stencil"}), text_of(sides.low, in.fields));
    all.add(support::joined({"high side of axis ", a, " of a stencil"}), text_of(sides.high, in.fields));
  }
  all.add("number of PEs of a stencil",
          support::joined({p.cut.axis[p.cut.first].parts, " x ", p.cut.axis[p.cut.second].parts}));
  all.add("number of steps between two exchanges of a stencil", p.cut.depth);
}

template <class T>
void name_state(kernel::named_values& all, const state<T>& s) {
  all.add("number of steps of a stencil's state", s.time);
  const auto add = [&](const char* what, const std::vector<std::vector<T>>& arrays) {
    all.add(support::joined({"number of ", what, "s in a stencil's state"}), arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      support::fingerprint f;
      grid::add_array(f, std::span(arrays[i]));
      all.add_array(support::joined({what, " ", i, " of a stencil's state"}), arrays[i].size(), f.value());
    }
  };
  add("field", s.now), add("field before", s.before), add("trace", s.traces);
  add("border", {s.border});
}

/// A cell of a source or receiver, which is given by x, y and z.
template <class T>
std::string text_of_cell(const extents& size, const std::array<int, 3>& at, int field, T weight) {
  std::string text;
  for (int a = 0; a < size.axes(); ++a)
    text += support::joined({a == 0 ? "(" : ", ", at[std::size_t(internal_axis(size.axes(), a))]});
  return text + support::joined({") of field ", field, " with the weight "}) + support::number_text(weight);
}

}  // namespace wsl::stencils::detail
