// SPDX-License-Identifier: MIT
// The serial reference of the stencils: the update cell by cell, with neighbours outside the grid found one
// by one from the kinds of the sides. It is slow and plain on purpose. The order of operations is the same as
// on PEs, and so are the bits. It has the calls of `simulation`, with the same errors, but for those about
// PEs, lines and ranks: on_pes, coefficients and border.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "asking.hpp"
#include "boundary.hpp"
#include "given_arguments.hpp"
#include "lanes.hpp"
#include "room.hpp"
#include "state.hpp"
#include "stations.hpp"

namespace wsl::stencils {

template <update_of given, takes in = {}, class T = f32>
class serial {
  static constexpr auto update = given.call;
  static_assert(is_number_of_cell<T, update, in>());

  static constexpr footprint reads = footprint_of<update, in>;

 public:
  explicit serial(const extents& size, const boundaries& sides = {})
      : size_((checks::grid<T>(size, sides, reads, in.fields), size)), sides_(sides) {
    checks::memory(size, u64{size.count()} * sizeof(T) * (2 * in.fields + in.coefficients),
                   "its fields and coefficients");
    for (int f = 0; f < in.fields; ++f) now_.push_back(room("a field")), before_.push_back(room("a field"));
    for (int c = 0; c < in.coefficients; ++c) coefficients_.push_back(room("a coefficient"));
    values_agree_ = sponges_agree(sides_.data(), in.fields, outside_);
  }

  const extents& size() const { return size_; }
  /// Steps done.
  i64 time() const { return time_; }

  /// Sets a field, and its values of the step before to the same.
  void load(std::span<const T> u, int field = 0) {
    checks::number_of("field", field, in.fields);
    checks::values(size_, support::joined({"field ", field}), u);
    before_[std::size_t(field)].assign(u.begin(), u.end());
    now_[std::size_t(field)] = before_[std::size_t(field)];
    clear_centres();
    arguments_.field(field);
  }
  /// The same from a function of a cell's position.
  template <cell_function<T, reads.dimensions> F>
  void load(F u, int field = 0) {
    checks::number_of("field", field, in.fields);
    arguments_.without_field(field);
    load(of_cells("field", field, u), field);
  }
  template <neither_array_nor_function<T, reads.dimensions> F>
  void load(const F&, int = 0) {
    static_assert(not_loaded<F>());
  }
  template <neither_array_nor_function<T, reads.dimensions> F>
  void coefficient(int, const F&) {
    static_assert(not_loaded<F>());
  }
  void load_before(std::span<const T> u, int field = 0) {
    checks::number_of("field", field, in.fields);
    checks::values(size_, support::joined({"step before of field ", field}), u);
    before_[std::size_t(field)].assign(u.begin(), u.end());
  }
  void coefficient(int i, std::span<const T> k) {
    checks::number_of("coefficient", i, in.coefficients);
    checks::values(size_, support::joined({"coefficient ", i}), k);
    coefficients_[std::size_t(i)].assign(k.begin(), k.end());
    arguments_.coefficient(i);
  }
  template <cell_function<T, reads.dimensions> F>
  void coefficient(int i, F k) {
    checks::number_of("coefficient", i, in.coefficients);
    arguments_.without_coefficient(i);
    coefficient(i, of_cells("coefficient", i, k));
  }
  void scalar(int i, T s) {
    checks::scalar(i, in.scalars, s);
    scalars_[std::size_t(i)] = s;
    arguments_.scalar(i);
  }

  /// As those of `simulation`.
  void source(const cell& at, std::function<T(i64)> emits, int field = 0) {
    const weighted_cell<T> one{at, 1, field};
    source(std::span(&one, 1), std::move(emits));
  }
  void source(std::span<const weighted_cell<T>> cells, std::function<T(i64)> emits) {
    asking_.require_none("source"), checks::emits(emits);
    for (const weighted_cell<T>& c : cells) checks::station("source", c, size_, in.fields);
    sources_.push_back({{cells.begin(), cells.end()}, std::move(emits)});
  }
  int receiver(const cell& at, int field = 0) {
    const weighted_cell<T> one{at, 1, field};
    return receiver(std::span(&one, 1));
  }
  int receiver(std::span<const weighted_cell<T>> cells) {
    asking_.require_none("receiver");
    for (const weighted_cell<T>& c : cells) checks::station("receiver", c, size_, in.fields);
    receivers_.emplace_back(cells.begin(), cells.end()), traces_.emplace_back();
    return static_cast<int>(receivers_.size()) - 1;
  }
  const std::vector<T>& trace(int receiver) const {
    checks::number_of("receiver", receiver, static_cast<int>(traces_.size()), "simulation has");
    return traces_[static_cast<std::size_t>(receiver)];
  }

  void run(i64 steps) {
    asking_.require_none("run");
    if (steps < 0) support::bad_argument({"stencil: run(", steps, ") asks for fewer than 0 steps"});
    arguments_.require_all();
    std::vector<std::vector<T>> emitted;
    asking_.ask([&] { emitted = samples(steps); });
    for (std::size_t i = 0; i < static_cast<std::size_t>(steps); ++i) step(emitted, i);
  }
  const std::vector<T>& values(int field = 0) const {
    checks::number_of("field", field, in.fields);
    return now_[std::size_t(field)];
  }
  void get(std::span<T> u, int field = 0) const {
    checks::array_of_field(size_, u, field, in.fields);
    std::copy(values(field).begin(), values(field).end(), u.begin());
  }
  std::vector<T> slice(int axis, int at, int field = 0) const {
    checks::slice(size_, axis, at, field, in.fields);
    std::vector<T> u =
        checks::room_for<T>(size_, size_.count() / static_cast<std::size_t>(size_[axis]), "a slice");
    std::size_t next = 0;
    each_cell([&](const place& c) {
      if (c[std::size_t(axis)] == at) u[next++] = now_[std::size_t(field)][index(c)];
    });
    return u;
  }

  /// A state from which a simulation on PEs goes on as well, and the other way round.
  state<T> save() const {
    const u64 arrays = in.fields * (reads.before ? 2 : 1);
    return checks::in_memory(size_, arrays * u64{size_.count()} * sizeof(T), "the fields in the state", [&] {
      state<T> s{.time = time_, .now = now_, .before = {}, .traces = traces_, .border = {}};
      if (reads.before) s.before = before_;
      return s;
    });
  }
  void restore(const state<T>& s) {
    asking_.require_none("restore");
    checks::state(s, size_, {now_.size(), reads.before ? before_.size() : 0, traces_.size(), 0});
    time_ = s.time, now_ = s.now;
    before_ = reads.before ? s.before : s.now;
    clear_centres();
    arguments_.all_fields();
    if (s.traces.empty()) traces_.assign(traces_.size(), {});
    else traces_ = s.traces;
  }

 private:
  using number = lanes<T, 1>;
  using place = std::array<int, 3>;  // by the axes of the grid; those that it has not are 0

  static place place_of(const cell& c) { return {c[0], c[1], c[2]}; }
  std::vector<T> room(const char* what) const { return checks::room_for<T>(size_, size_.count(), what); }
  /// The numbers that a function gives for all cells, which are finite.
  template <class F>
  std::vector<T> of_cells(const char* what, int which, F& f) {
    std::vector<T> all = room(what);
    const auto set = [&](const place& c) {
      T& value = all[index(c)];
      if constexpr (reads.dimensions == 1) value = static_cast<T>(f(c[0]));
      else if constexpr (reads.dimensions == 2) value = static_cast<T>(f(c[0], c[1]));
      else value = static_cast<T>(f(c[0], c[1], c[2]));
      checks::of_cell(size_, what, which, c, f64{value});
    };
    asking_.ask([&] { each_cell(set); });
    return all;
  }
  std::size_t index(const place& c) const {
    std::size_t i = 0;
    for (int a = 0; a < 3; ++a) i = i * std::size_t(size_[a]) + std::size_t(c[std::size_t(a)]);
    return i;
  }

  /// A field's value in a cell that may lie outside.
  number value(const std::vector<T>& u, std::size_t field, place c) const {
    number factors[3];
    int mirrors = 0;
    const auto seen = [&](number x) {
      while (mirrors > 0) x = factors[--mirrors] * x;
      return x;
    };
    for (int a = size_.axes() - 1; a >= 0; --a) {
      int& i = c[std::size_t(a)];
      const int n = size_[a];
      if (i >= 0 && i < n) continue;
      const boundary::side& s = i < 0 ? sides_[a].low : sides_[a].high;
      if (s.is_constant()) return seen(s.values[field]);
      if (s.is_mirror()) {
        const int own = s.kind == boundary::kind::centred;  // the outermost cell has no image
        factors[mirrors++] = s.values[field];
        i = i < 0 ? own - 1 - i : 2 * n - 1 - own - i;
      } else i = s.kind == boundary::kind::open ? (i < 0 ? 0 : n - 1) : (i + n) % n;
    }
    return seen(u[index(c)]);
  }
  number constant(const std::vector<T>& k, place c) const {
    for (int a = 0; a < size_.axes(); ++a)
      c[std::size_t(a)] = sides_[a].coefficients_of(c[std::size_t(a)], size_[a]);
    return k[index(c)];
  }

  static place moved(place c, std::initializer_list<int> offset) {
    std::size_t a = 0;
    for (int o : offset) c[a++] += o;
    return c;
  }

  struct coefficient_reader {
    const serial& s;
    const std::vector<T>& k;
    place at;
    number operator()(std::convertible_to<int> auto... offset) const {
      return s.constant(k, moved(at, {static_cast<int>(offset)...}));
    }
  };
  struct field_reader {
    const serial& s;
    std::size_t field;
    place at;
    number fading, rest;
    number operator()(std::convertible_to<int> auto... offset) const {
      return s.value(s.now_[field], field, moved(at, {static_cast<int>(offset)...}));
    }
    number before(std::convertible_to<int> auto...) const {
      return s.faded(s.before_[field][s.index(at)], fading, rest);
    }
  };

  /// The factor of the sponges in a cell, with the axes in the order in which PEs multiply them.
  number fading(const place& c) const {
    number factor[3]{1, 1, 1};
    for (int a = 0; a < size_.axes(); ++a) {
      const int i = c[std::size_t(a)];
      factor[a] = number(static_cast<T>(sides_[a].low.fading(i))) *
                  number(static_cast<T>(sides_[a].high.fading(size_[a] - 1 - i)));
    }
    return factor[0] * factor[1] * factor[2];
  }
  bool absorbs() const { return sides_[0].absorbs() || sides_[1].absorbs() || sides_[2].absorbs(); }
  /// To which the sponges draw a field in a cell.
  number rest(const place& c, std::size_t field) const {
    if (values_agree_) return static_cast<T>(outside_[field]);
    sponge_mean mean;
    for (int a = 0; a < size_.axes(); ++a) mean.add(sides_[a], c[std::size_t(a)], size_[a], in.fields);
    return static_cast<T>(mean.value(static_cast<int>(field)));
  }
  number faded(const number& x, const number& fading, const number& to) const {
    return absorbs() ? to + fading * (x - to) : x;
  }

  template <class F>
  void each_cell(F f) const {
    for (place c{}; c[0] < size_[0]; ++c[0])
      for (c[1] = 0; c[1] < size_[1]; ++c[1])
        for (c[2] = 0; c[2] < size_[2]; ++c[2]) f(c);
  }
  /// What each source emits in so many steps; before the first of them, since it may throw.
  std::vector<std::vector<T>> samples(i64 steps) {
    std::vector<std::vector<T>> all;
    for (const auto& [cells, emits] : sources_) {
      std::vector<T>& of_source = all.emplace_back();
      for (i64 n = time_; n < time_ + steps; ++n)
        if (!std::isfinite(of_source.emplace_back(emits(n))))
          support::bad_argument(
              {"stencil: what source ", all.size() - 1, " emits in step ", n, " is not a finite number"});
    }
    return all;
  }
  void step(const std::vector<std::vector<T>>& emitted, std::size_t which) {
    each_cell([&](const place& c) { update_cell(c); });
    now_.swap(before_);
    for (std::size_t k = 0; k < sources_.size(); ++k)
      for (const weighted_cell<T>& c : sources_[k].first) {
        T& value = now_[std::size_t(c.field)][index(place_of(c.at))];
        value = stations<T>::with_share(value, c.weight, emitted[k][which]);
      }
    clear_centres();
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
      f64 sum = 0;
      for (const weighted_cell<T>& c : receivers_[i])
        sum += f64{c.weight} * f64{now_[std::size_t(c.field)][index(place_of(c.at))]};
      traces_[i].push_back(static_cast<T>(sum));
    }
    ++time_;
  }
  /// The cells that are zero, as centred sides say.
  void clear_centres() {
    each_cell([&](const place& c) {
      for (int f = 0; f < in.fields; ++f)
        for (int a = 0; a < size_.axes(); ++a)
          if (const int i = c[std::size_t(a)];
              (i == 0 && sides_[a].low.is_zero(f)) || (i == size_[a] - 1 && sides_[a].high.is_zero(f)))
            now_[std::size_t(f)][index(c)] = 0;
    });
  }
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
  // as the PEs' loops: no product is fused with a sum
  [[gnu::flatten, gnu::optimize("fp-contract=off")]] void update_cell(const place& c) {
    const number fades = fading(c);
    const auto results = detail::call<in>(
        update, [&](std::size_t f) { return field_reader{*this, f, c, fades, rest(c, f)}; },
        [&](std::size_t k) { return coefficient_reader{*this, coefficients_[k], c}; },
        [&](std::size_t s) { return number(scalars_[s]); });
    [&]<std::size_t... f>(std::index_sequence<f...>) {
      ((before_[f][index(c)] = faded(number(detail::result<f>(results)), fades, rest(c, f)).v), ...);
    }(std::make_index_sequence<std::size_t(in.fields)>{});
  }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

  extents size_;
  boundaries sides_;
  std::vector<std::vector<T>> now_, before_, coefficients_;
  std::array<T, std::size_t(in.scalars > 0 ? in.scalars : 1)> scalars_{};
  given_arguments<in> arguments_;
  asking asking_;
  i64 time_ = 0;
  bool values_agree_ = true;  ///< of all sponges: to these they draw
  std::array<f64, most_fields> outside_{};
  std::vector<std::pair<std::vector<weighted_cell<T>>, std::function<T(i64)>>> sources_;
  std::vector<std::vector<weighted_cell<T>>> receivers_;
  std::vector<std::vector<T>> traces_;
};

}  // namespace wsl::stencils
