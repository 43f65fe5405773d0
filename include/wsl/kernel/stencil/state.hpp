// SPDX-License-Identifier: MIT
// The state from which a stencil's simulation goes on, and the functions of a cell's position that take the
// place of arrays: the words that the PEs' front end and the serial reference share.
#pragma once
#include <concepts>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "boundary.hpp"

namespace wsl::stencils {

/// A function of the position of a cell along so many axes.
template <class F, class T, int axes>
concept cell_function = (axes == 1 && std::is_invocable_r_v<T, F&, int>) ||
                        (axes == 2 && std::is_invocable_r_v<T, F&, int, int>) ||
                        (axes == 3 && std::is_invocable_r_v<T, F&, int, int, int>);

/// What `load` and `coefficient` take neither as an array nor as a function.
template <class F, class T, int axes>
concept neither_array_nor_function =
    !std::convertible_to<F&, std::span<const T>> && !std::convertible_to<const F&, std::span<const T>> &&
    !cell_function<std::remove_const_t<F>, T, axes>;
template <class F>
constexpr bool not_loaded() {
  static_assert(
      sizeof(F) == 0,
      "wsl: a stencil is given an array of the numbers of all cells, whose type is that of the "
      "simulation, f32 unless it says f64, or a function of the positions of a cell, one for each axis, "
      "as in load([](int i, int j) { return 1.f; })");
  return true;
}

/// A simulation goes on from it bit by bit: arrays of all cells by fields, the last axis contiguous. Of an
/// update that reads no values of the step before there are none.
template <class T>
struct state {
  i64 time = 0;  ///< steps done
  std::vector<std::vector<T>> now, before;
  /// Of the receivers, one number a step: at most `time`, and fewer of a receiver that came later.
  std::vector<std::vector<T>> traces;
  std::vector<T> border;  ///< what lines remember near the sides, one line after the other
};

/// The numbers of arrays that a state of a simulation has, and the length of what its border remembers.
struct state_shape {
  std::size_t fields = 0, fields_before = 0, receivers = 0, border = 0;
};

namespace checks {

/// Throws std::invalid_argument for traces of other receivers than so many, unless there are none, and for
/// some that are longer than the run.
template <class T>
void traces(const char* whose, i64 time, const std::vector<std::vector<T>>& all, std::size_t receivers) {
  if (time < 0 || (!all.empty() && all.size() != receivers))
    support::bad_argument({whose, ": the state is after ", time, " steps and has ", all.size(),
                           " traces; the simulation has ", receivers, " receivers"});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<i64>(all[i].size()) > time)
      support::bad_argument({whose, ": the state is after ", time, " steps, and its trace ", i, " has ",
                             all[i].size(), " numbers; a trace has one a step, or leave out all traces"});
}

/// Throws std::invalid_argument for a state that does not fit a simulation. Traces and what a border
/// remembers may be left out.
template <class T>
void state(const stencils::state<T>& s, const extents& size, const state_shape& shape) {
  if (s.time < 0 || s.now.size() != shape.fields || s.before.size() != shape.fields_before ||
      (!s.traces.empty() && s.traces.size() != shape.receivers) ||
      (!s.border.empty() && s.border.size() != shape.border))
    support::bad_argument({"stencil: the state is not one of this simulation: it is after ", s.time,
                           " steps and has ", support::counted(s.now.size(), "field"), " now, ",
                           s.before.size(), " before, ", support::counted(s.traces.size(), "trace"), " and ",
                           support::counted(s.border.size(), "number"), " of a border; the simulation has ",
                           support::counted(shape.fields, "field"), " now, ", shape.fields_before,
                           " before, ", support::counted(shape.receivers, "receiver"), " and ",
                           support::counted(shape.border, "number"), " of a border"});
  traces("stencil", s.time, s.traces, shape.receivers);
  for (const auto* fields : {&s.now, &s.before})
    for (std::size_t f = 0; f < fields->size(); ++f)
      values(size, support::joined({fields == &s.now ? "field " : "the step before of field ", f}),
             (*fields)[f]);
  for (std::size_t i = 0; i < s.border.size(); ++i)
    if (!std::isfinite(s.border[i]))
      support::bad_argument({"stencil: what the state's border remembers is not a finite number at index ", i,
                             " of ", s.border.size()});
}

}  // namespace checks

}  // namespace wsl::stencils
