// SPDX-License-Identifier: MIT
// The front end of the stencils: the update of a cell in, fields out.
//   constexpr auto heat = [](auto u) {
//     return u(0, 0) + 0.1f * (u(1, 0) + u(-1, 0) + u(0, 1) + u(0, -1) - 4 * u(0, 0));
//   };
//   stencils::simulation<heat> s({512, 512}, stencils::boundary::fixed);
//   s.load(u0), s.run(1000), s.get(u);
// `simulation` runs blocks of cells on this computer, and `wafer_simulation` a few cells a PE within the
// limits of a machine, with the same PE program. Their results depend neither on the partition of the grid
// nor on threads, nor on the ranks of `mpi::world()`, bit for bit. A rank has the cells of its own PEs only;
// then all functions of a simulation are collective, and all ranks get the same. See
// examples/110_heat_mode.cpp to 116_seven_points.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "../../fabric/host_gather.hpp"
#include "../../host/device.hpp"
#include "../../support/fingerprint.hpp"
#include "../fail_together.hpp"
#include "../pe_a_thread.hpp"
#include "array_fingerprint.hpp"
#include "asking.hpp"
#include "blocking.hpp"
#include "comparison.hpp"
#include "given_arguments.hpp"
#include "room.hpp"
#include "state.hpp"
#include "state_on_pes.hpp"
#include "stencil_pe.hpp"

namespace wsl::stencils {

namespace detail {

inline tile_plan plan_of(const extents& size, const boundaries& sides, const footprint& reads) {
  tile_plan p;
  p.cut.diagonal = reads.diagonal;
  p.cut.first = size.axes() == 1 ? z_axis : x_axis;
  p.cut.second = size.axes() == 2 ? z_axis : y_axis;
  for (int a = 0; a < size.axes(); ++a) {
    const int to = internal_axis(size.axes(), a);
    p.cut.axis[to].n = size[a], p.cut.axis[to].radius = reads.radius[std::size_t(a)];
    p.sides[to] = sides[a];
  }
  return p;
}

}  // namespace detail

/// A stencil on some engine. Arrays have the last axis contiguous. Where a grid is larger than the memory of
/// a process, functions of a cell's position take the place of arrays, and `slice` that of `values`.
template <auto update, takes in, class T, class Storage>
class simulation_on {
  static_assert(is_number_of_cell<T, update, in>());

 public:
  using program = stencil_pe<update, in, T, Storage>;
  using number = T;
  static constexpr footprint reads = footprint_of<update, in>;
  /// The bytes of a PE's SRAM that the program takes on a wafer.
  static constexpr int bytes = program_v<program>.bytes;

  const extents& size() const { return size_; }
  const tile_plan& plan() const { return plan_; }
  /// Steps done.
  i64 time() const { return time_; }
  /// The fabric on which it runs: its time_report says where the cycles of an engine that counts them go.
  fabric& wafer() { return fabric_; }

  /// Sets a field, and its values of the step before to the same. There is a finite number for each cell;
  /// otherwise, or if there is no such field, it throws std::invalid_argument. All ranks give the same array:
  /// if one differs, it throws fault on all of them.
  void load(std::span<const T> u, int field = 0) {
    check("load", "field", field, in.fields, u);
    set_field(u, field);
  }
  /// The same from a function: `load([](int x, int y) { return x == 0 ? 1.f : 0.f; })`. It is called for the
  /// cells of this process, by whose position, counted from 0, it gives finite numbers; for one that is not,
  /// and for what the function throws on a rank, it throws std::invalid_argument on all of them.
  template <cell_function<T, reads.dimensions> F>
  void load(F u, int field = 0) {
    require_same_call("load", field);
    checks::number_of("field", field, in.fields);
    arguments_.without_field(field);
    each_tile_together([&](auto& t, coord) {
      const box own = t.own();
      const range z = own.at[z_axis];
      each_line(own, [&](int x, int y) {
        for (int p = z.from; p < z.to; ++p)
          t.now(field, x, y)[p] = t.before(field, x, y)[p] = finite("field", field, u, x, y, p);
      });
      t.loaded();
    });
    arguments_.field(field);
  }
  template <neither_array_nor_function<T, reads.dimensions> F>
  void load(const F&, int = 0) {
    static_assert(not_loaded<F>());
  }
  template <neither_array_nor_function<T, reads.dimensions> F>
  void coefficient(int, const F&) {
    static_assert(not_loaded<F>());
  }
  /// Sets the values of the step before, which `load` sets as well; throws as load does.
  void load_before(std::span<const T> u, int field = 0) {
    static_assert(reads.before, "wsl: the update of this stencil reads no values of the step before");
    check("load_before", "field", field, in.fields, u, "step before of ");
    set_before(u, field);
  }
  /// Sets a coefficient; throws as load does. A run takes all of them. Beyond the sides of the grid it is
  /// that of the outermost cell; beyond periodic, mirrored and centred ones, that of the cell whose value a
  /// field has there, without a factor.
  void coefficient(int i, std::span<const T> k) {
    check("coefficient", "coefficient", i, in.coefficients, k);
    set_coefficient(i, [&](int x, int y, int z) { return k[index(x, y, z)]; });
  }
  /// The same from a function, as load's.
  template <cell_function<T, reads.dimensions> F>
  void coefficient(int i, F k) {
    require_same_call("coefficient", i);
    checks::number_of("coefficient", i, in.coefficients);
    set_coefficient(i, [&](int x, int y, int z) { return finite("coefficient", i, k, x, y, z); });
  }
  /// Sets all coefficients of a grid of three dimensions, line after line along the last axis, from what
  /// makes them together: each PE of this process calls make(y), with the range of y that it has, for a
  /// function f(x, y, lines) that sets lines[i], the numbers of coefficient i in all cells of a line. Throws
  /// std::invalid_argument on all ranks for one that is not finite, and for what these functions throw.
  template <class Make>
  void coefficients(Make make) {
    static_assert(reads.dimensions == 3,
                  "wsl: only a grid of three dimensions has its coefficients by lines");
    require_same_call("coefficients");
    const std::size_t n = static_cast<std::size_t>(plan_.cut.axis[z_axis].n);
    std::vector<T> numbers = room_for(n * std::size_t(in.coefficients), "lines of coefficients");
    std::array<std::span<T>, std::size_t(in.coefficients)> lines;
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = std::span(numbers).subspan(i * n, n);
    arguments_.without_coefficients();
    each_tile_together([&](auto& t, coord) {
      const range x = t.stored(x_axis), y = t.stored(y_axis), z = t.stored(z_axis);
      range rows{plan_.cut.axis[y_axis].n, 0};
      for (int py = y.from; py < y.to; ++py)
        rows = {std::min(rows.from, nearest(y_axis, py)), std::max(rows.to, nearest(y_axis, py) + 1)};
      auto line_of = make(rows);
      for (int px = x.from; px < x.to; ++px)
        for (int py = y.from; py < y.to; ++py) {
          if (!t.has_coefficient(px, py)) continue;
          const int cx = nearest(x_axis, px), cy = nearest(y_axis, py);
          line_of(cx, cy, lines);
          for (int i = 0; i < in.coefficients; ++i) {
            auto of_cell = [line = lines[std::size_t(i)]](int, int, int cz) { return line[std::size_t(cz)]; };
            for (int pz = z.from; pz < z.to; ++pz)
              t.coefficient(i, px, py)[pz] = finite("coefficient", i, of_cell, cx, cy, nearest(z_axis, pz));
          }
        }
    });
    arguments_.all_coefficients();
  }
  /// Sets a scalar; throws std::invalid_argument if there is no such scalar or it is not finite. A run takes
  /// all of them.
  void scalar(int i, T s) {
    checks::scalar(i, in.scalars, s);
    scalars_[static_cast<std::size_t>(i)] = s, arguments_.scalar(i);
    each_tile([&](auto& t, coord) { t.set_scalar(i, s); });
  }

  /// Adds `emits(n)` to a cell after step n, which counts from 0, before anything else reads the cell:
  /// `s.source({256, 256}, [](i64 n) { return n < 100 ? 0.5f : 0.f; })`. It is called once a step and
  /// rank, in the order of steps, some of them ahead. Throws std::invalid_argument if there is no such cell
  /// or field or the function is empty, and a run does if a number is not finite.
  void source(const cell& at, std::function<T(i64)> emits, int field = 0) {
    const weighted_cell<T> one{at, 1, field};
    source(std::span(&one, 1), std::move(emits));
  }
  /// The same to several cells, to each the product with its weight.
  void source(std::span<const weighted_cell<T>> cells, std::function<T(i64)> emits) {
    asking_.require_none("source"), checks::emits(emits);
    std::vector<station<T>> all;
    for (const weighted_cell<T>& c : cells)
      all.push_back({.at = place_of("source", c),
                     .field = c.field,
                     .number = static_cast<int>(emits_.size()),
                     .weight = c.weight});
    for (const station<T>& one : all) note(given_sources_, emits_.size(), one.at, one.field, one.weight);
    sources_.insert(sources_.end(), all.begin(), all.end());
    emits_.push_back(std::move(emits));
    has_placed_stations_ = false;
  }
  /// Records a cell after each step from now on, with what sources have added. Returns the number of the
  /// receiver, from 0 on. Throws std::invalid_argument if there is no such cell or field.
  int receiver(const cell& at, int field = 0) {
    const weighted_cell<T> one{at, 1, field};
    return receiver(std::span(&one, 1));
  }
  /// Records the sum of several cells, each times its weight, which is taken in f64 and in their order; that
  /// of none is zero.
  int receiver(std::span<const weighted_cell<T>> cells) {
    asking_.require_none("receiver");
    for (const weighted_cell<T>& c : cells) place_of("receiver", c);  // all are checked before one is taken
    std::vector<heard_cell> taps;
    for (const weighted_cell<T>& c : cells) {
      const std::array<int, 3> at = place_of("receiver", c);
      // receivers may share cells
      const auto found = heard_.try_emplace({at[0], at[1], at[2], c.field}).first;
      taps.push_back({&found->second, f64{c.weight}});
      note(given_receivers_, receivers_.size(), at, c.field, c.weight);
    }
    receivers_.push_back(std::move(taps)), traces_.emplace_back();
    has_placed_stations_ = false;
    return static_cast<int>(receivers_.size()) - 1;
  }
  /// What a receiver has recorded, one number a step since it was placed, or since a state without traces;
  /// throws std::invalid_argument if there is no such one.
  const std::vector<T>& trace(int receiver) const {
    checks::number_of("receiver", receiver, static_cast<int>(traces_.size()), "simulation has");
    return traces_[static_cast<std::size_t>(receiver)];
  }

  /// Gives a border that remembers its plan, from which all PEs shape their lines.
  template <class Plan>
  void border(const Plan& p) {
    static_assert(Storage::has_border, "wsl: the simulation has no border that remembers");
    each_tile_together([&](auto& t, coord) {
      const box lines = t.remembering();
      t.border().shape(p, {lines.at[x_axis], lines.at[y_axis]});
    });
    border_begins_.assign(1, 0);
    for (int x = 0; x < plan_.cut.axis[x_axis].n; ++x)
      for (int y = 0; y < plan_.cut.axis[y_axis].n; ++y)
        border_begins_.push_back(border_begins_.back() + p.words(x, y));
  }

  /// What it goes on from, which each process gets whole: fields and traces. Scalars, coefficients, sources
  /// and receivers are not in it.
  state<T> save() {
    require_same_call("save");
    state<T> s{.time = time_, .now = {}, .before = {}, .traces = {}, .border = {}};
    host_gather all(fabric_);
    kernel::fail_together(fabric_, [&] {
      s.traces = traces_, s.border.resize(border_begins_.back());
      for (int f = 0; f < in.fields; ++f) {
        s.now.push_back(checks::room_for<T>(size_, size_.count(), "a field in the state"));
        if constexpr (reads.before)
          s.before.push_back(checks::room_for<T>(size_, size_.count(), "a field in the state"));
      }
      each_border_line([&](coord pe, T* line, std::size_t n, std::size_t at) {
        all.add(pe, line, s.border.data() + at, n);
      });
    });
    all.run();
    for (int f = 0; f < in.fields; ++f) {
      copy_out(s.now[std::size_t(f)], f, everywhere());
      if constexpr (reads.before) copy_out(s.before[std::size_t(f)], f, everywhere(), &program_tile::before);
    }
    return s;
  }
  /// Continues from a state of a simulation with the same grid; traces may be empty, and what a border
  /// remembers, which is zero then. Throws std::invalid_argument for a state of another size, with a trace
  /// that is longer than its run, or with a number that is not finite, and fault, on all ranks, if they give
  /// different ones; then the simulation is what it was.
  void restore(const state<T>& s) {
    restore(s, [] {});
  }
  /// The same; `check()`, which may throw, is called when ranks have compared their states.
  template <class Check>
  void restore(const state<T>& s, Check check) {
    asking_.require_none("restore");
    processes_.require_same(
        "state of a stencil", [&](support::fingerprint& f) { add_to(f, s); },
        [&](kernel::named_values& all) {
          name_call(all, "restore");
          detail::name_state<T>(all, s);
        });
    check();
    constexpr std::size_t fields = std::size_t(in.fields);
    checks::state(s, size_, {fields, reads.before ? fields : 0, traces_.size(), border_begins_.back()});
    each_tile([&](auto& t, coord) { t.set_time(s.time); });
    time_ = s.time;
    for (int f = 0; f < in.fields; ++f) {
      set_field(s.now[std::size_t(f)], f);
      if constexpr (reads.before) set_before(s.before[std::size_t(f)], f);
    }
    each_border_line([&](coord, T* line, std::size_t n, std::size_t at) {
      if (!line) return;
      if (s.border.empty()) std::fill_n(line, n, T(0));
      else std::copy_n(s.border.data() + at, n, line);
    });
    for (std::size_t i = 0; i < traces_.size(); ++i)
      traces_[i] = s.traces.empty() ? std::vector<T>{} : s.traces[i];
  }

  /// The numbers of a state where they are, of a grid with three axes.
  grid::state_on_pes<T> on_pes()
    requires(reads.dimensions == 3)
  {
    const cut_axis(&axis)[3] = plan_.cut.axis;
    grid::state_on_pes<T> all;
    all.on = &fabric_, all.size = {axis[x_axis].n, axis[y_axis].n, axis[z_axis].n};
    for (int x = 0; x < wide_; ++x)
      for (int y = 0; y < high_; ++y) {
        const box own = plan_.cut.own({x, y});
        all.blocks.push_back({{x, y}, {own.at[x_axis], own.at[y_axis]}, fabric_.here({x, y})});
      }
    const auto field = [&](int f, line_in_tile which) {
      return grid::line_array<T>{[this](int x, int y) { return index(x, y, 0); },
                                 [this, f, which](coord pe, int x, int y) {
                                   return std::span<T>((tile_of(pe).*which)(f, x, y),
                                                       std::size_t(plan_.cut.axis[z_axis].n));
                                 }};
    };
    for (int f = 0; f < in.fields; ++f) {
      all.now.push_back(field(f, &program_tile::now));
      if (reads.before) all.before.push_back(field(f, &program_tile::before));
    }
    all.field = {all.now[0].begin, all.now[0].line};
    if (border_begins_.back() == 0) all.border.begin = [](int, int) { return std::size_t{0}; };
    else if constexpr (Storage::has_border)
      all.border = {
          [this](int x, int y) {
            return border_begins_[index(x, y, 0) / std::size_t(plan_.cut.axis[z_axis].n)];
          },
          [this](coord pe, int x, int y) { return tile_of(pe).border().of({{x, x + 1}, {y, y + 1}}); }};
    return all;
  }
  /// Continues after so many steps, with a trace for each receiver or none, from the numbers that
  /// `fill(on_pes())` sets: all of those of this process, finite, which nothing checks. Throws as the other
  /// one does for steps and traces.
  template <class F>
  void restore(i64 time, std::vector<std::vector<T>> traces, F fill) {
    processes_.require_same(
        "time or traces of a stencil's state",
        [&](support::fingerprint& f) { f.add(time), grid::add_arrays(f, traces); },
        [&](kernel::named_values& all) {
          name_call(all, "restore", time);
          detail::name_state<T>(all, {.time = time, .now = {}, .before = {}, .traces = traces, .border = {}});
        });
    checks::traces("stencil", time, traces, traces_.size());
    each_tile([&](auto& t, coord) { t.set_time(time); });
    if (traces.empty()) traces.resize(traces_.size());
    time_ = time, traces_ = std::move(traces);
    arguments_.without_fields();
    kernel::fail_together(fabric_, [&] { asking_.ask([&] { fill(on_pes()); }); });
    arguments_.all_fields();
    each_tile([](auto& t, coord) { t.loaded(); });
  }

  /// Marches so many steps. Returns the cycles that they took on an engine that counts them, with the
  /// arithmetic of a wafer's PEs; that of blocks, which are for this computer, is not charged. Throws
  /// std::invalid_argument for fewer than 0 steps, and if a coefficient or a scalar was never given; and
  /// fault, on all ranks, if they do not ask for the same steps, or their sources, receivers or scalars, the
  /// coefficients that they were given, or what a source emits, differ. What a source throws ends it
  /// before the launch of the steps for which it was asked.
  u64 run(i64 steps) {
    asking_.require_none("run");
    processes_.require_same(
        "number of steps, source, receiver, scalar or given coefficient of a stencil",
        [&](support::fingerprint& f) {
          f.add(steps), f.add(time_), f.add(given_sources_.value()), f.add(given_receivers_.value());
          arguments_.describe(f);
          for (const T s : scalars_) f.add(s);
        },
        [&](kernel::named_values& all) {
          name_call(all, "run", steps);
          arguments_.name(all), name_scalars(all), name_stations(all);
        });
    if (steps < 0) support::bad_argument({"stencil: run(", steps, ") asks for fewer than 0 steps"});
    arguments_.require_all();
    u64 cycles = 0;
    for (i64 left = steps; left > 0;) {
      const int now = static_cast<int>(std::min<i64>(left, most_steps_a_launch()));
      begin_stations(now);
      cycles += fabric_.template launch<&program::march>(all, now).cycles;
      time_ += now, left -= now;
      collect(now);
    }
    return cycles;
  }

  /// A field after the last step, in an array of all cells; throws std::invalid_argument for one of another
  /// size or if there is no such field.
  void get(std::span<T> u, int field = 0) {
    require_same_call("get", u.size(), field);
    checks::array_of_field(size_, u, field, in.fields);
    copy_out(u, field, everywhere());
  }
  std::vector<T> values(int field = 0) {
    require_same_call("values", field);
    checks::number_of("field", field, in.fields);
    std::vector<T> u = room_for(size_.count(), "a field in one array");
    copy_out(u, field, everywhere());
    return u;
  }
  /// The cells of a field with one position along an axis, counted from 0, in the order of the other axes.
  /// Throws std::invalid_argument if there is no such field, axis or position.
  std::vector<T> slice(int axis, int at, int field = 0) {
    require_same_call("slice", axis, at, field);
    checks::slice(size_, axis, at, field, in.fields);
    std::vector<T> u = room_for(size_.count() / static_cast<std::size_t>(size_[axis]), "a slice");
    box part = everywhere();
    part.at[detail::internal_axis(size_.axes(), axis)] = {at, at + 1};
    copy_out(u, field, part);
    return u;
  }

 protected:
  /// Throws fault if the machine is too small.
  template <class Engine>
  simulation_on(const extents& size, const tile_plan& plan, const machine& target, const Engine& engine)
      : size_(size),
        plan_(plan),
        wide_(plan.cut.axis[plan.cut.first].parts),
        high_(plan.cut.axis[plan.cut.second].parts),
        fabric_(stencils::plan<program>(target, wide_, high_), engine),
        processes_(engine) {
    const std::string part = fabric_.spread() ? "the PEs of " + fabric_.process_name() : "its PEs";
    kernel::fail_together(fabric_, [&] { checks::memory(size_, own_bytes(), part); });
    const std::invalid_argument no_memory = checks::no_memory(size_, own_bytes(), part);
    kernel::each_own_pe<program>(fabric_, [&](program& p, coord pe) {
      try {
        p.here.prepare(plan_, pe);
      } catch (const std::bad_alloc&) { throw no_memory; }
    });
  }

  /// The plan that `choose()` makes, which throws for one that does not fit, if it and all else that a
  /// simulation is made of are the same on all ranks. Before they have a fabric, which would compare less.
  template <class Engine, class Choose>
  static tile_plan agreed(const Engine& engine, const extents& size, Choose choose) {
    constexpr const char* what = "update, grid, sides or sharing of a stencil";
    constexpr recorder::expression made = detail::expression_of<update, in>;
    std::optional<tile_plan> chosen;
    kernel::check_alike(engine, what, [&] { chosen = choose(); });
    const auto describe = [&] {
      support::fingerprint f;
      f.add(made.fingerprint), f.add(sizeof(T)), f.add(detail::fingerprint_of(*chosen));
      return f.value();
    };
    kernel::require_same(engine, what, describe, [&](kernel::named_values& all) {
      detail::name_plan(all, *chosen, size, in, made, sizeof(T));
    });
    return *chosen;
  }

 private:
  /// Those of the arrays of this process's PEs; on a wafer the fabric counts them.
  u64 own_bytes() {
    u64 count = 0;
    if constexpr (!Storage::is_for_wafers)
      each_pe([&](coord pe) {
        if (fabric_.here(pe)) count += Storage::bytes(plan_.cut, pe);
      });
    return count;
  }
  /// Compares an array of all cells with those of other ranks before one of them throws alone.
  void check(const char* call, const char* what, int i, int count, std::span<const T> given,
             const char* which = "") const {
    const std::string name = support::joined({which, what, " ", i, " of a stencil"});
    const auto describe = [&](support::fingerprint& f) { f.add(i), grid::add_array(f, given); };
    processes_.require_same(name.c_str(), describe, [&](kernel::named_values& all) {
      name_call(all, call, i);
      support::fingerprint f;
      describe(f);
      all.add_array(name, given.size(), f.value());
    });
    checks::number_of(what, i, count);
    checks::values(size_, support::joined({which, what, " ", i}), given);
  }
  static void add_to(support::fingerprint& f, const state<T>& s) {
    f.add(s.time), grid::add_array(f, std::span(s.border));
    for (const auto* all : {&s.now, &s.before, &s.traces}) grid::add_arrays(f, *all);
  }
  void set_field(std::span<const T> u, int field) {
    arguments_.field(field);
    scatter(u, [&](auto& t, int x, int y) { return t.now(field, x, y); });
    set_before(u, field);
    each_tile([](auto& t, coord) { t.loaded(); });
  }
  void set_before(std::span<const T> u, int field) {
    scatter(u, [&](auto& t, int x, int y) { return t.before(field, x, y); });
  }
  std::size_t index(int x, int y, int z) const {
    const auto n = [&](int a) { return static_cast<std::size_t>(plan_.cut.axis[a].n); };
    return (static_cast<std::size_t>(x) * n(y_axis) + static_cast<std::size_t>(y)) * n(z_axis) +
           static_cast<std::size_t>(z);
  }
  /// The value of a function of a cell's position, which is finite.
  template <class F>
  T finite(const char* what, int which, F& value, int x, int y, int z) const {
    std::array<int, 3> at{z, 0, 0};
    T v;
    if constexpr (reads.dimensions == 1) v = static_cast<T>(value(z));
    else if constexpr (reads.dimensions == 2) at = {x, z, 0}, v = static_cast<T>(value(x, z));
    else at = {x, y, z}, v = static_cast<T>(value(x, y, z));
    checks::of_cell(size_, what, which, at, f64{v});
    return v;
  }
  template <class At>
  void set_coefficient(int i, At k) {
    arguments_.without_coefficient(i);
    each_tile_together([&](auto& t, coord) {
      const range x = t.stored(x_axis), y = t.stored(y_axis), z = t.stored(z_axis);
      for (int px = x.from; px < x.to; ++px)
        for (int py = y.from; py < y.to; ++py)
          if (t.has_coefficient(px, py))
            for (int pz = z.from; pz < z.to; ++pz)
              t.coefficient(i, px, py)[pz] = k(nearest(x_axis, px), nearest(y_axis, py), nearest(z_axis, pz));
    });
    arguments_.coefficient(i);
  }
  template <class... Number>
  void name_call(kernel::named_values& all, std::string_view call, const Number&... arguments) const {
    all.add("call of a stencil's simulation", kernel::agreement::text_of_call(call, arguments...));
    all.add("number of steps that a stencil has done", time_);
  }
  /// Before processes wait for each other in a call that others do not make.
  template <class... Number>
  void require_same_call(std::string_view call, const Number&... arguments) const {
    processes_.require_same(
        "call of a stencil's simulation",
        [&](support::fingerprint& f) {
          f.add(call.data(), call.size()), f.add(time_), (f.add(arguments), ...);
        },
        [&](kernel::named_values& all) { name_call(all, call, arguments...); });
  }
  /// Room for so many numbers, on all ranks or on none.
  std::vector<T> room_for(std::size_t n, const char* what) {
    std::vector<T> room;
    kernel::fail_together(fabric_, [&] { room = checks::room_for<T>(size_, n, what); });
    return room;
  }
  using program_tile = decltype(program::here);
  using line_in_tile = T* (program_tile::*)(int, int, int);
  box everywhere() const {
    return {{{0, plan_.cut.axis[0].n}, {0, plan_.cut.axis[1].n}, {0, plan_.cut.axis[2].n}}};
  }
  /// Copies a part of a field, line after line.
  void copy_out(std::span<T> u, int field, const box& part, line_in_tile which = &program_tile::now) {
    host_gather all(fabric_);
    each_pe([&](coord pe) {
      box own = plan_.cut.own(pe);
      for (int a = 0; a < 3; ++a) own.at[a] = overlap(own.at[a], part.at[a]);
      if (own.count() == 0) return;
      const range z = own.at[z_axis];
      auto* const t = fabric_.here(pe) ? &tile_of(pe) : nullptr;
      each_line(own, [&](int x, int y) {
        const std::size_t line = static_cast<std::size_t>(x - part.at[x_axis].from) *
                                     static_cast<std::size_t>(part.at[y_axis].size()) +
                                 static_cast<std::size_t>(y - part.at[y_axis].from);
        all.add(pe, t ? (t->*which)(field, x, y) + z.from : nullptr,
                u.data() + line * static_cast<std::size_t>(part.at[z_axis].size()) + z.from -
                    part.at[z_axis].from,
                static_cast<std::size_t>(z.size()));
      });
    });
    all.run();
  }
  /// Calls f for what each line of the grid remembers near the sides: its PE, the numbers, null on another
  /// process, how many they are, and where they are among those of all lines.
  template <class F>
  void each_border_line([[maybe_unused]] F f) {
    if constexpr (Storage::has_border) {
      if (border_begins_.back() == 0) return;
      each_pe([&](coord pe) {
        each_line(plan_.cut.own(pe), [&](int x, int y) {
          const std::size_t* const at =
              &border_begins_[index(x, y, 0) / static_cast<std::size_t>(plan_.cut.axis[z_axis].n)];
          T* line = nullptr;
          if (fabric_.here(pe)) line = tile_of(pe).border().of({{x, x + 1}, {y, y + 1}}).data();
          f(pe, line, at[1] - at[0], at[0]);
        });
      });
    }
  }
  int nearest(int a, int p) const { return plan_.sides[a].coefficients_of(p, plan_.cut.axis[a].n); }

  // --- sources and receivers

  /// Notes what ranks compare when they run.
  static void note(support::fingerprint& given, std::size_t number, const std::array<int, 3>& at, int field,
                   T weight) {
    given.add(u64{number}), given.add(field), given.add(weight);
    for (const int p : at) given.add(p);
  }
  /// The same in words, where they differ.
  void name_stations(kernel::named_values& all) const {
    all.add("number of sources of a stencil", emits_.size());
    for (const station<T>& s : sources_)
      all.add(support::joined({"cell of source ", s.number, " of a stencil"}),
              detail::text_of_cell(size_, s.at, s.field, s.weight));
    all.add("number of receivers of a stencil", receivers_.size());
    std::map<const sample_place*, std::array<int, 4>> cells;
    for (const auto& [cell, place] : heard_) cells[&place] = cell;
    for (std::size_t i = 0; i < receivers_.size(); ++i)
      for (const heard_cell& c : receivers_[i]) {
        const std::array<int, 4>& at = cells[c.at];
        all.add(support::joined({"cell of receiver ", i, " of a stencil"}),
                detail::text_of_cell(size_, {at[0], at[1], at[2]}, at[3], static_cast<T>(c.weight)));
      }
  }
  void name_scalars(kernel::named_values& all) const {
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      all.add(support::joined({"scalar ", i, " of a stencil"}), scalars_[i]);
  }
  /// A cell of a source or receiver by x, y and z.
  std::array<int, 3> place_of(const char* what, const weighted_cell<T>& c) const {
    static_assert(Storage::has_stations, "wsl: a stencil has sources and receivers on this computer only");
    checks::station(what, c, size_, in.fields);
    std::array<int, 3> at{};
    for (int a = 0; a < c.at.axes(); ++a) at[std::size_t(detail::internal_axis(size_.axes(), a))] = c.at[a];
    return at;
  }
  /// Steps for which the samples of a launch do not take much memory.
  i64 most_steps_a_launch() const {
    const std::size_t samples = heard_.size() + emits_.size();
    if (samples == 0) return 1 << 20;
    const i64 depth = plan_.cut.depth, room = (i64{1} << 24) / static_cast<i64>(samples),
              steps = std::clamp<i64>(room, 1, std::max<i64>(depth, 64));
    return steps < depth ? steps : steps / depth * depth;
  }
  coord pe_of(const std::array<int, 3>& at) const {
    const auto part = [&](int a) {
      const cut_axis& axis = plan_.cut.axis[a];
      int i = static_cast<int>(i64{at[std::size_t(a)]} * axis.parts / axis.n);
      while (at[std::size_t(a)] >= axis.share(i).to) ++i;
      return i;
    };
    return {part(plan_.cut.first), part(plan_.cut.second)};
  }
  /// Tells the PEs of this process their stations.
  void place_stations() {
    has_placed_stations_ = true;
    counts_.assign(static_cast<std::size_t>(wide_ * high_), 0);
    std::vector<std::vector<station<T>>> heard(counts_.size());
    const auto index_of_pe = [&](coord pe) { return static_cast<std::size_t>(pe.y * wide_ + pe.x); };
    for (auto& [c, place] : heard_) {
      const std::array<int, 3> at{c[0], c[1], c[2]};
      const std::size_t pe = index_of_pe(pe_of(at));
      place = {pe, counts_[pe]++};
      heard[pe].push_back({.at = at, .field = c[3]});
    }
    each_tile([&](auto& t, coord pe) {
      // Cells of its neighbours that a PE computes have their sources, too, and so have copies of cells at
      // the other end of an axis that goes around.
      const box computed = plan_.cut.computed(pe, plan_.cut.depth - 1);
      std::vector<station<T>> given;
      for (const station<T>& s : sources_)
        each_copy(computed, s.at, [&](const std::array<int, 3>& at) { given.emplace_back(s).at = at; });
      t.stations().place(std::move(given), std::move(heard[index_of_pe(pe)]));
    });
  }
  /// Calls f for the positions in a box of a cell and, along axes that go around, of its copies.
  template <class F>
  void each_copy(const box& b, const std::array<int, 3>& at, F f) const {
    const auto along = [&](int a, auto go_on) {
      const cut_axis& axis = plan_.cut.axis[a];
      const int p = at[std::size_t(a)];
      if (!axis.wraps) {
        if (b.at[a].has(p)) go_on(p);
        return;
      }
      const int less = (b.at[a].from - p) % axis.n;  // the first one in the box
      for (int q = b.at[a].from + (less <= 0 ? -less : axis.n - less); q < b.at[a].to; q += axis.n) go_on(q);
    };
    along(0, [&](int x) { along(1, [&](int y) { along(2, [&](int z) { f({x, y, z}); }); }); });
  }
  void begin_stations(int steps) {
    if constexpr (Storage::has_stations) {
      if (receivers_.empty() && emits_.empty()) return;
      if (!has_placed_stations_) place_stations();
      emitted_.clear();
      std::exception_ptr failed;
      try {
        asking_.ask([&] {
          for (const std::function<T(i64)>& emits : emits_)
            for (int i = 0; i < steps; ++i) emitted_.push_back(emits(time_ + i));
        });
      } catch (...) { failed = std::current_exception(); }
      if (!emits_.empty())
        processes_.throw_alike(
            failed, "sample that a source of a stencil emits",
            [&](support::fingerprint& f) { f.add(emitted_.data(), emitted_.size() * sizeof(T)); },
            [&](kernel::named_values& all) {
              // as many as a message can have
              for (std::size_t i = 0; i < std::min<std::size_t>(emitted_.size(), 1 << 16); ++i)
                all.add(
                    support::joined({"sample of source ", i / std::size_t(steps), " of a stencil in step ",
                                     time_ + static_cast<i64>(i % std::size_t(steps))}),
                    emitted_[i]);
            });
      for (std::size_t i = 0; i < emitted_.size(); ++i)
        if (!std::isfinite(emitted_[i]))
          support::bad_argument({"stencil: what source ", i / std::size_t(steps), " emits in step ",
                                 time_ + static_cast<i64>(i % std::size_t(steps)),
                                 " is not a finite number"});
      each_tile([&](auto& t, coord) { t.stations().begin(time_, steps, emitted_); });
    }
  }
  void collect(int steps) {
    if constexpr (Storage::has_stations) {
      if (receivers_.empty()) return;
      std::vector<std::vector<T>> heard(counts_.size());
      host_gather all(fabric_);
      each_pe([&](coord pe) {
        const auto i = static_cast<std::size_t>(pe.y * wide_ + pe.x);
        heard[i].resize(counts_[i] * static_cast<std::size_t>(steps));
        all.add(pe, fabric_.here(pe) ? tile_of(pe).stations().heard().data() : nullptr, heard[i].data(),
                heard[i].size());
      });
      all.run();
      for (std::size_t n = 0; n < static_cast<std::size_t>(steps); ++n)
        for (std::size_t i = 0; i < receivers_.size(); ++i) {
          f64 sum = 0;
          for (const heard_cell& c : receivers_[i])
            sum += c.weight * f64{heard[c.at->pe][n * counts_[c.at->pe] + c.at->number]};
          traces_[i].push_back(static_cast<T>(sum));
        }
    }
  }

  auto& tile_of(coord pe) { return fabric_.template program_at<program>(pe).here; }
  template <class F>
  void each_pe(F f) {
    for (int y = 0; y < high_; ++y)
      for (int x = 0; x < wide_; ++x) f(coord{x, y});
  }
  /// Those of this process.
  template <class F>
  void each_tile(F f) {
    each_pe([&](coord pe) {
      if (fabric_.here(pe)) f(tile_of(pe), pe);
    });
  }
  /// For what may throw on a rank.
  template <class F>
  void each_tile_together(F f) {
    kernel::fail_together(fabric_, [&] { asking_.ask([&] { each_tile(f); }); });
  }
  template <class F>
  static void each_line(const box& own, F f) {
    for (int x = own.at[x_axis].from; x < own.at[x_axis].to; ++x)
      for (int y = own.at[y_axis].from; y < own.at[y_axis].to; ++y) f(x, y);
  }
  template <class LineOf>
  void scatter(std::span<const T> u, LineOf line_of) {
    each_tile([&](auto& t, coord) {
      const box own = t.own();
      const range z = own.at[z_axis];
      each_line(own, [&](int x, int y) {
        std::copy_n(u.data() + index(x, y, z.from), z.size(), line_of(t, x, y) + z.from);
      });
    });
  }

  extents size_;
  tile_plan plan_;
  int wide_, high_;
  fabric fabric_;
  kernel::agreement processes_;
  given_arguments<in> arguments_;
  asking asking_;
  std::array<T, std::size_t(in.scalars)> scalars_{};
  support::fingerprint given_sources_, given_receivers_;
  i64 time_ = 0;

  /// Where the samples of a recorded cell are: of a PE, by rows, the number of one of its cells.
  struct sample_place {
    std::size_t pe = 0, number = 0;
  };
  struct heard_cell {
    const sample_place* at;
    f64 weight;
  };
  std::vector<station<T>> sources_;  ///< by x, y and z
  std::vector<std::function<T(i64)>> emits_;
  std::map<std::array<int, 4>, sample_place> heard_;  ///< by x, y, z and field
  std::vector<std::vector<heard_cell>> receivers_;    ///< with places in heard_
  std::vector<std::vector<T>> traces_;
  bool has_placed_stations_ = false;
  std::vector<std::size_t> border_begins_{0};  ///< of what each line remembers; and the end
  std::vector<std::size_t> counts_;            ///< of recorded cells, by PEs
  std::vector<T> emitted_;                     ///< of the launch, source after source
};

/// On this computer: one block of cells for each thread unless `how` chooses otherwise. Throws
/// std::invalid_argument, naming what is wrong and the remedy, for sizes, boundaries and options that do not
/// go together, and for a grid that this process has no memory for.
template <update_of update, takes in = {}, class T = f32, class Border = no_border>
class simulation : public simulation_on<update.call, in, T, block<T, in, footprint_of<update, in>, Border>> {
  using base = simulation_on<update.call, in, T, block<T, in, footprint_of<update, in>, Border>>;

 public:
  /// On the threads of this computer; or `simulation(size, sides, how, mpi::world())`, on those of all ranks.
  template <class Engine = threaded>
  explicit simulation(const extents& size, const boundaries& sides = {}, const options& how = {},
                      const Engine& engine = {})
      : base(size, choose(size, sides, how, engine), host, kernel::with_partitions(engine, how.threads)) {}

 private:
  template <class Engine>
  static tile_plan choose(const extents& size, const boundaries& sides, const options& how,
                          const Engine& engine) {
    constexpr int bytes_of_cell = (2 * in.fields + in.coefficients) * static_cast<int>(sizeof(T));
    return base::agreed(engine, size, [&] {
      checks::grid<T>(size, sides, base::reads, in.fields);
      return blocked(detail::plan_of(size, sides, base::reads), base::reads, bytes_of_cell, how,
                     wsl::detail::processes_of(engine));
    });
  }
};

namespace detail {
template <per_pe cells>
struct has_cells {
  static_assert(cells.n[0] >= 1 && cells.n[1] >= 1 && cells.n[2] >= 1,
                "wsl: a PE of a wafer has at least one cell along each axis, as in per_pe{1, 1, 40}");
};
template <takes in, footprint reads, per_pe cells>
struct storage_on_wafers : has_cells<cells> {
  using type = plot<in, reads, cells>;
};
template <takes in, footprint reads, per_pe cells>
  requires(cells.is_column())
struct storage_on_wafers<in, reads, cells> : has_cells<cells> {
  using type = column<in, reads, cells.n[2]>;
};
}  // namespace detail

/// A few cells a PE, within the limits of a machine, on any engine: `wafer_simulation<wave, per_pe{1, 1,
/// 40}>`. Columns have all cells of the last axis; PEs of other shapes may have fewer cells than that. Throws
/// std::invalid_argument for a grid that does not fit them, and fault for one that the machine is too small
/// for. Sources and receivers are for this computer only.
template <update_of update, per_pe cells, takes in = {}>
class wafer_simulation
    : public simulation_on<update.call, in, f32,
                           typename detail::storage_on_wafers<in, footprint_of<update, in>, cells>::type> {
  using storage = typename detail::storage_on_wafers<in, footprint_of<update, in>, cells>::type;
  using base = simulation_on<update.call, in, f32, storage>;
  static_assert(cells.axes == footprint_of<update, in>.dimensions,
                "wsl: the cells of a PE are given by as many axes as the update of the stencil reads");

 public:
  template <class Engine = threaded>
  explicit wafer_simulation(const extents& size, const boundaries& sides = {}, const machine& target = wse2,
                            const Engine& engine = {})
      : base(size, base::agreed(engine, size, [&] { return choose(size, sides); }), target, engine) {}

 private:
  static tile_plan choose(const extents& size, const boundaries& sides) {
    checks::grid<f32>(size, sides, base::reads, in.fields);
    tile_plan p = detail::plan_of(size, sides, base::reads);
    const auto pes = [&](int a) { return (p.cut.axis[a].n + cells.n[a] - 1) / cells.n[a]; };
    p = detail::with_pes(p, pes(p.cut.first), pes(p.cut.second));
    for (int a = 0; a < 3; ++a) p.tile[a] = p.cut.axis[a].n + 1;
    if (const std::string why = storage::misfit(p.cut); !why.empty())
      support::bad_argument({"stencil: ", why});
    return p;
  }
};

}  // namespace wsl::stencils
