// SPDX-License-Identifier: MIT
// Cells of a stencil's grid to which a source adds after each step, and cells that a receiver records. A PE
// serves those in its block while it marches, so that several steps can be done between two exchanges. The
// host says before a launch what sources emit, and collects afterwards what receivers have heard. See
// examples/125_warm_spot.cpp.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "cut.hpp"
#include "lanes.hpp"

namespace wsl::stencils {

/// A cell by its positions along the axes of the grid.
class cell {
 public:
  cell(int i) : at_{i, 0, 0}, axes_(1) {}
  cell(int i, int j) : at_{i, j, 0}, axes_(2) {}
  cell(int i, int j, int k) : at_{i, j, k}, axes_(3) {}
  int axes() const { return axes_; }
  int operator[](int axis) const { return at_[static_cast<std::size_t>(axis)]; }

 private:
  std::array<int, 3> at_;
  int axes_;
};

/// A cell of a source or a receiver that extends over several; its weight, which is finite, has no unit.
template <class T>
struct weighted_cell {
  cell at;
  T weight = 1;
  int field = 0;
};

namespace checks {

/// Throws std::invalid_argument unless a grid with so many fields has the cell of a source or a receiver.
template <class T>
void station(const char* what, const weighted_cell<T>& c, const extents& size, int fields) {
  number_of("field", c.field, fields);
  if (!std::isfinite(c.weight))
    support::bad_argument({"stencil: the weight of a cell of a ", what, " is not a finite number"});
  bool is_inside = c.at.axes() == size.axes();
  for (int a = 0; a < c.at.axes() && is_inside; ++a) is_inside = c.at[a] >= 0 && c.at[a] < size[a];
  if (is_inside) return;
  std::string text = std::to_string(c.at[0]);
  for (int a = 1; a < c.at.axes(); ++a) text += support::joined({", ", c.at[a]});
  support::bad_argument({"stencil: there is no cell (", text, ") for a ", what, " in a grid of ", size.text(),
                         " cells, which count from 0"});
}

/// Throws std::invalid_argument for a source without a function.
template <class T>
void emits(const std::function<T(i64)>& f) {
  if (!f)
    support::bad_argument(
        {"stencil: the function of a source is empty; give one that returns what it emits in step n"});
}

}  // namespace checks

/// A cell that a PE serves, by x, y and z.
template <class T>
struct station {
  std::array<int, 3> at{};
  int field = 0;
  int number = 0;         ///< of a source
  T weight = 1;           ///< of a source
  std::size_t order = 0;  ///< of sources in one line

  std::array<int, 2> line() const { return {at[0], at[1]}; }
};

/// The stations of a PE, and their samples of one launch.
template <class T>
class stations {
 public:
  /// Sources that add to one cell do so in the order in which they are given; receivers come in the order of
  /// lines.
  void place(std::vector<station<T>> sources, std::vector<station<T>> receivers) {
    sources_ = std::move(sources), receivers_ = std::move(receivers);
    std::size_t given = 0;
    for (station<T>& s : sources_) s.order = given++;
    std::sort(sources_.begin(), sources_.end(), [](const station<T>& a, const station<T>& b) {
      return a.line() != b.line() ? a.line() < b.line() : a.order < b.order;
    });
    steps_ = 0, heard_.clear();
  }
  /// Before a launch of so many steps from step `from` on. `emitted` has the samples of one source after
  /// those of the other, and lives until the launch has ended.
  void begin(i64 from, int steps, std::span<const T> emitted) {
    from_ = from, steps_ = steps, emitted_ = emitted;
    heard_.resize(receivers_.size() * static_cast<std::size_t>(steps));
  }
  /// The samples of all receivers in the first step of the launch, then those in the second, and so on.
  const std::vector<T>& heard() const { return heard_; }

  bool empty() const { return sources_.empty() && receivers_.empty(); }
  /// Adds what sources emit in a step to cells of a box; `line(field, x, y)` has the cells of a line.
  template <class LineOf>
  void emit(const box& b, i64 step, LineOf line) const {
    const auto at = static_cast<std::size_t>(step - from_), steps = static_cast<std::size_t>(steps_);
    each_in(sources_, b, [&](const station<T>& s, std::size_t) {
      T& value = line(s.field, s.at[0], s.at[1])[s.at[2]];
      value = with_share(value, s.weight, emitted_[static_cast<std::size_t>(s.number) * steps + at]);
    });
  }
  /// Records the cells of a box after a step.
  template <class LineOf>
  void record(const box& b, i64 step, LineOf line) {
    T* const to = heard_.data() + static_cast<std::size_t>(step - from_) * receivers_.size();
    each_in(receivers_, b,
            [&](const station<T>& s, std::size_t i) { to[i] = line(s.field, s.at[0], s.at[1])[s.at[2]]; });
  }

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
  /// A value and a share of a sample; the product is rounded before it is added, as in updates.
  [[gnu::optimize("fp-contract=off")]] static T with_share(T value, T weight, T sample) {
    return (lanes<T, 1>(value) + lanes<T, 1>(weight) * lanes<T, 1>(sample)).v;
  }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

 private:
  /// Calls f for the stations in a box, with their places in the order of lines.
  template <class F>
  static void each_in(const std::vector<station<T>>& all, const box& b, F f) {
    const std::array<int, 2> first{b.at[0].from, b.at[1].from}, last{b.at[0].to - 1, b.at[1].to - 1};
    auto s = std::lower_bound(all.begin(), all.end(), first,
                              [](const station<T>& a, const std::array<int, 2>& l) { return a.line() < l; });
    for (; s != all.end() && s->line() <= last; ++s)
      if (b.at[1].has(s->at[1]) && b.at[2].has(s->at[2])) f(*s, static_cast<std::size_t>(s - all.begin()));
  }

  std::vector<station<T>> sources_, receivers_;
  i64 from_ = 0;
  int steps_ = 0;
  std::span<const T> emitted_;
  std::vector<T> heard_;
};

}  // namespace wsl::stencils
