// SPDX-License-Identifier: MIT
// One PE's part of a stencil's grid: its cells, the sides of the grid that it has, and its time steps.
// Several steps between two exchanges only pay if they are done while the cells are in cache. So `march` cuts
// the block into tiles that lean back by the radius of the update with each step along all axes (time
// skewing): a tile finds all it needs in itself and in the tiles before it, and nothing is computed twice
// inside a block. Cells beyond the sides of the grid are written as soon as the cells are known from which
// they follow, so tiles need no order of their own at the sides.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>

#include "boundary.hpp"
#include "storage.hpp"

namespace wsl::stencils {

/// What all PEs of a simulation know.
struct tile_plan {
  stencils::cut cut;
  axis_sides sides[3];  ///< by x, y and z
  int tile[3]{};        ///< cells of a leaning tile, by x, y and z
  bool absorbs() const { return sides[0].absorbs() || sides[1].absorbs() || sides[2].absorbs(); }
};

template <auto update, takes in, class T, class Storage>
class tile {
 public:
  static constexpr footprint reads = footprint_of<update, in>;
  static constexpr bool is_for_wafers = Storage::is_for_wafers;

  void prepare(const tile_plan& plan, coord pe) {
    plan_ = plan, pe_ = pe, time_ = 0, has_images_ = false;
    for (int a = 0; a < 3; ++a)
      for (const boundary::side* s : {&plan_.sides[a].low, &plan_.sides[a].high})
        has_images_ |= !plan_.cut.axis[a].wraps && !s->is_constant() &&
                       (plan_.cut.axis[a].radius > 0 || s->kind == boundary::kind::centred);
    for (int a = 0; a < 3; ++a) stored_[a] = plan.cut.stored(pe, a);
    store_.shape(plan.cut, pe);
    if (plan_.absorbs()) prepare_fading();
    prepare_outside();
  }

  const stencils::cut& cut() const { return plan_.cut; }
  box own() const { return plan_.cut.own(pe_); }
  /// Lines by positions in the grid: fields after the last step and the one before it, and coefficients.
  T* now(int field, int x, int y) { return store_.field(field, parity(time_), x, y); }
  T* before(int field, int x, int y) { return store_.field(field, parity(time_ + 1), x, y); }
  T* coefficient(int i, int x, int y) { return store_.coefficient(i, x, y); }
  void set_scalar(int i, T s) { scalars_[i] = s; }
  /// The steps that have been done, as those that follow count on; fields are to be set afterwards.
  void set_time(i64 steps) { time_ = steps; }
  range stored(int axis) const { return stored_[axis]; }
  /// Whether the PE has memory for the fields of a line: on a wafer a star has no corners. And for its
  /// coefficients: of lines around a column only if the update reads them.
  bool has_coefficient(int x, int y) const {
    if (!is_for_wafers || reads.coefficients_around) return has_line(x, y);
    return inside_own(x_axis, x) && inside_own(y_axis, y);
  }
  bool has_line(int x, int y) const {
    if (!is_for_wafers || reads.diagonal) return true;
    return inside_own(x_axis, x) || inside_own(y_axis, y);
  }

  /// The stations of a PE on this computer.
  auto& stations() { return store_.stations(); }
  /// What lines remember near the sides, if they do.
  auto& border() { return store_.border(); }
  /// The lines that may have something to remember.
  box remembering() const { return plan_.cut.computed(pe_, plan_.cut.depth - 1); }

  /// After the host has set the field now.
  void loaded() { refresh(own()); }

  // The exchange before a march: begin_exchange, then stages in which cells cross the sides, each ended by
  // end_stage, then end_exchange.

  void begin_exchange() { wrap(plan_.cut.first); }
  /// The cells that cross a side in a stage, as pieces of contiguous memory: the i-th piece, empty after the
  /// last one. Sender and receiver have the same pieces. Whole lines cross as they lie in memory, with the
  /// numbers between them; parts of lines, and numbers of 64 bits, through a buffer.
  std::span<f32> outgoing(int stage, port side, int i) {
    return crossing(side, i, [&](int less) { return plan_.cut.outgoing(pe_, stage, side, less); }, true);
  }
  std::span<f32> incoming(int stage, port side, int i) {
    return crossing(side, i, [&](int less) { return plan_.cut.incoming(pe_, stage, side, less); }, false);
  }
  void end_stage(int stage) {
    if (through_buffers())
      for (port side : every_side) unpack(stage, side);
  }
  void end_exchange() {
    wrap(plan_.cut.second);
    const box known = plan_.cut.known(pe_), mine = own();
    const bool z_comes = known.at[z_axis] != mine.at[z_axis];
    each_line(known, [&](int x, int y) {
      if ((z_comes || !mine.at[x_axis].has(x) || !mine.at[y_axis].has(y)) && has_line(x, y))
        refresh(parity(time_), x, y, known.at[z_axis]);
    });
  }

  /// Marches `steps` steps, at most the depth of the cut.
  void march(int steps) {
    const stencils::cut& c = plan_.cut;
    const box all = c.computed(pe_, steps - 1);
    const auto end = [&](int a) { return all.at[a].to + c.axis[a].radius * (steps - 1); };
    for (int x = all.at[x_axis].from; x < end(x_axis); x += plan_.tile[x_axis])
      for (int y = all.at[y_axis].from; y < end(y_axis); y += plan_.tile[y_axis])
        for (int z = all.at[z_axis].from; z < end(z_axis); z += plan_.tile[z_axis])
          for (int s = 0; s < steps; ++s) {
            box b = c.computed(pe_, steps - 1 - s);
            const int corner[] = {x, y, z};
            for (int a = 0; a < 3; ++a) {
              const int from = corner[a] - c.axis[a].radius * s;
              b.at[a] = overlap(b.at[a], {from, from + plan_.tile[a]});
            }
            if (b.count() > 0) compute(b, time_ + s);
          }
    time_ += steps;
  }

  /// The time on a wafer of a step of this PE's cells: the operations of the update, and copies to and from
  /// buffers and to cells beyond the sides.
  u64 step_cycles(const machine& m) const {
    const i64 cells = static_cast<i64>(own().count());
    kernel::vector_work copies(m);
    if (through_buffers())
      for (port side : every_side)
        copies.sums(2 * in.fields, static_cast<i64>(plan_.cut.incoming(pe_, 0, side, 0).count()));
    for (const boundary::side* s : {&plan_.sides[z_axis].low, &plan_.sides[z_axis].high})
      if (!s->is_constant() && plan_.cut.axis[z_axis].parts == 1)
        copies.sums(in.fields, plan_.cut.axis[z_axis].radius);
    if (plan_.absorbs()) copies.products((in.fields + reads.before * in.fields), cells);
    if (!sponges_agree_) copies.sums(1 + in.fields, cells).quotients(in.fields * cells);
    return reads.operations.cycles(m, cells) + copies.cycles();
  }

 private:
  static constexpr int lines_at_once = 64;
  static constexpr int cells_at_once = 64;  ///< of a line, where sponges draw each to another value
  static int parity(i64 steps) { return static_cast<int>(steps & 1); }

  template <class F>
  static void each_line(const box& b, F f) {
    for (int x = b.at[x_axis].from; x < b.at[x_axis].to; ++x)
      for (int y = b.at[y_axis].from; y < b.at[y_axis].to; ++y) f(x, y);
  }

  // --- steps

  /// One step of some cells: line after line along y, or along x where the grid has no y.
  void compute(const box& b, i64 time) {
    const bool along_x = reads.dimensions < 3;
    const range outer = b.at[along_x ? y_axis : x_axis], inner = b.at[along_x ? x_axis : y_axis];
    for (int o = outer.from; o < outer.to; ++o)
      for (int i = inner.from; i < inner.to; i += lines_at_once) {
        const int count = std::min(lines_at_once, inner.to - i);
        const int x = along_x ? i : o, y = along_x ? o : i;
        compute_lines(x, y, along_x, count, b.at[z_axis], time);
        with_stations(x, y, along_x, count, b.at[z_axis], time,
                      [&](auto& s, const box& lines, auto line) { s.emit(lines, time, line); });
        for (int k = 0; k < count && has_images_; ++k)
          refresh(parity(time + 1), along_x ? x + k : x, along_x ? y : y + k, b.at[z_axis]);
        with_stations(x, y, along_x, count, b.at[z_axis], time,
                      [&](auto& s, const box& lines, auto line) { s.record(lines, time, line); });
      }
  }
  /// Calls f(stations, lines, function that gives a line after the step) if this PE has stations.
  template <class F>
  void with_stations([[maybe_unused]] int x, [[maybe_unused]] int y, [[maybe_unused]] bool along_x,
                     [[maybe_unused]] int count, [[maybe_unused]] const range& z, [[maybe_unused]] i64 time,
                     [[maybe_unused]] F f) {
    if constexpr (Storage::has_stations) {
      if (store_.stations().empty()) return;
      const box lines{{{x, along_x ? x + count : x + 1}, {y, along_x ? y + 1 : y + count}, z}};
      f(store_.stations(), lines,
        [&](int field, int at_x, int at_y) { return store_.field(field, parity(time + 1), at_x, at_y); });
    }
  }
  void compute_lines(int x, int y, bool along_x, int count, const range& z, i64 time) {
    lines_of_cells<in, T> l;
    for (int f = 0; f < in.fields; ++f) {
      l.fields[f] = store_.around(f, parity(time), x, y);
      l.next[f] = store_.field(f, parity(time + 1), x, y);
    }
    for (int c = 0; c < in.coefficients; ++c) l.coefficients[c] = store_.around_coefficient(c, x, y);
    l.sx = store_.sx(), l.sy = store_.sy(), l.step = along_x ? l.sx : l.sy;
    l.count = count, l.from = z.from, l.to = z.to;
    l.scalars = scalars_;
    if (!plan_.absorbs()) {
      sweep_lines<update, in, T, false>(l);
      if constexpr (Storage::has_border)
        for (int i = 0; i < count && !store_.border().empty(); ++i, l.advance())
          store_.border().step(l, along_x ? x + i : x, along_x ? y : y + i);
      return;
    }
    T factors[lines_at_once];
    const T *of_x = store_.fading(x_axis), *of_y = store_.fading(y_axis);
    for (int i = 0; i < count; ++i) factors[i] = along_x ? of_x[x + i] * of_y[y] : of_x[x] * of_y[y + i];
    l.fading_z = store_.fading(z_axis), l.fading_line = factors;
    T rest[std::size_t(in.fields)][std::size_t(cells_at_once + widest_lanes)];
    for (std::size_t f = 0; f < std::size_t(in.fields); ++f) l.rest[f] = rest[f];
    if (sponges_agree_) {
      for (std::size_t f = 0; f < std::size_t(in.fields); ++f) std::fill_n(rest[f], widest_lanes, rest_[f]);
      l.rest_mask = 0;
      sweep_lines<update, in, T, true>(l);
      return;
    }
    l.count = 1, l.rest_mask = -1;
    for (int i = 0; i < count; ++i, l.advance()) {
      l.fading_line = factors + i;
      sponge_mean of_line;
      add_sponges(of_line, x_axis, along_x ? x + i : x);
      add_sponges(of_line, y_axis, along_x ? y : y + i);
      for (l.from = z.from; l.from < z.to; l.from = l.to) {
        l.to = std::min(l.from + cells_at_once, z.to);
        for (int p = l.from; p < l.to; ++p) {
          sponge_mean mean = of_line;
          add_sponges(mean, z_axis, p);
          for (int f = 0; f < in.fields; ++f) rest[f][p - l.from] = static_cast<T>(mean.value(f));
        }
        for (std::size_t f = 0; f < std::size_t(in.fields); ++f)
          std::fill_n(rest[f] + (l.to - l.from), widest_lanes, T(0));  // vectors are read to their end
        sweep_lines<update, in, T, true>(l);
      }
    }
  }
  void add_sponges(sponge_mean& to, int a, int p) const {
    if (plan_.sides[a].absorbs()) to.add(plan_.sides[a], p, plan_.cut.axis[a].n, in.fields);
  }

  // --- cells beyond the sides

  /// Calls f(position, side) for each position beyond a side of the grid that has the value of position p, as
  /// far as this PE has memory for it.
  template <class F>
  void each_image(int a, int p, F f) const {
    const cut_axis& axis = plan_.cut.axis[a];
    const int n = axis.n, r = axis.radius;
    if (axis.wraps || (p > r && p < n - 1 - r)) return;
    const auto image = [&](int at, const boundary::side& s) {
      if (stored_[a].has(at)) f(at, s);
    };
    const boundary::side &low = plan_.sides[a].low, &high = plan_.sides[a].high;
    if (low.kind == boundary::kind::mirrored && p < r) image(-1 - p, low);
    if (low.kind == boundary::kind::centred && p > 0 && p <= r) image(-p, low);
    if (low.kind == boundary::kind::periodic && p >= n - r) image(p - n, low);
    if (low.kind == boundary::kind::open && p == 0)
      for (int q = -r; q < 0; ++q) image(q, low);
    if (high.kind == boundary::kind::mirrored && p >= n - r) image(2 * n - 1 - p, high);
    if (high.kind == boundary::kind::centred && p < n - 1 && p >= n - 1 - r) image(2 * (n - 1) - p, high);
    if (high.kind == boundary::kind::periodic && p < r) image(p + n, high);
    if (high.kind == boundary::kind::open && p == n - 1)
      for (int q = n; q < n + r; ++q) image(q, high);
  }
  static T factor(const boundary::side& s, int field) {
    return s.is_mirror() ? static_cast<T>(s.values[std::size_t(field)]) : T(1);
  }

  /// Cells beyond the ends of a line in z, after some of its cells have changed.
  void refresh_ends(T* line, int field, const range& z) const {
    const cut_axis& axis = plan_.cut.axis[z_axis];
    const auto write = [&](int p) {
      each_image(z_axis, p, [&](int q, const boundary::side& s) { line[q] = factor(s, field) * line[p]; });
    };
    const int low = axis.radius + 1, high = std::max(axis.n - low, low);
    for (int p = z.from; p < std::min(z.to, low); ++p) write(p);
    for (int p = std::max(z.from, high); p < z.to; ++p) write(p);
  }
  /// Cells of a line that are zero, as a centred side says.
  void clear_centres(T* line, int field, int x, int y, const range& z) const {
    const int at[] = {x, y};
    for (int a : {x_axis, y_axis})
      if ((at[a] == 0 && plan_.sides[a].low.is_zero(field)) ||
          (at[a] == plan_.cut.axis[a].n - 1 && plan_.sides[a].high.is_zero(field)))
        return void(std::fill(line + z.from, line + z.to, T(0)));
    const int last = plan_.cut.axis[z_axis].n - 1;
    if (z.has(0) && plan_.sides[z_axis].low.is_zero(field)) line[0] = 0;
    if (z.has(last) && plan_.sides[z_axis].high.is_zero(field)) line[last] = 0;
  }
  /// All cells beyond the sides that follow from the cells of a line. Those beyond two sides follow from
  /// those beyond the first.
  void refresh(int parity, int x, int y, const range& z) {
    for (int f = 0; f < in.fields; ++f) {
      T* line = store_.field(f, parity, x, y);
      clear_centres(line, f, x, y, z);
      refresh_ends(line, f, z);
      const auto copy = [&](const T* from, int to_x, int to_y, const boundary::side& s) {
        T* to = store_.field(f, parity, to_x, to_y);
        const T by = factor(s, f);
        for (int p = z.from; p < z.to; ++p) to[p] = by * from[p];
        refresh_ends(to, f, z);
        return to;
      };
      each_image(y_axis, y, [&](int to_y, const boundary::side& s) {
        if (has_line(x, to_y)) copy(line, x, to_y, s);
      });
      each_image(x_axis, x, [&](int to_x, const boundary::side& s) {
        if (!has_line(to_x, y)) return;
        const T* image = copy(line, to_x, y, s);
        each_image(y_axis, y, [&](int to_y, const boundary::side& t) {
          if (has_line(to_x, to_y)) copy(image, to_x, to_y, t);
        });
      });
    }
  }
  void refresh(const box& b) {
    each_line(b, [&](int x, int y) { refresh(parity(time_), x, y, b.at[z_axis]); });
  }

  /// The values that never change: those beyond fixed and absorbing sides, in both time steps.
  void prepare_outside() {
    const range z = stored(z_axis);
    each_line({{stored(x_axis), stored(y_axis), z}}, [&](int x, int y) {
      if (!has_line(x, y)) return;
      for (int f = 0; f < in.fields; ++f)
        for (int p : {0, 1}) {
          T* line = store_.field(f, p, x, y);
          const auto set = [&](int q) { outside({x, y, q}, f, line[q]); };
          if (!inside(x_axis, x) || !inside(y_axis, y))
            for (int q = z.from; q < z.to; ++q) set(q);
          else {
            for (int q = z.from; q < 0; ++q) set(q);
            for (int q = plan_.cut.axis[z_axis].n; q < z.to; ++q) set(q);
          }
        }
    });
  }
  bool inside_own(int a, int p) const { return own().at[a].has(p); }
  bool inside(int a, int p) const { return plan_.cut.axis[a].wraps || (p >= 0 && p < plan_.cut.axis[a].n); }
  /// Sets the value of a cell beyond the sides if it is constant; the last axis along which it is outside of
  /// a constant side decides, and mirrors before that one multiply.
  void outside(const std::array<int, 3>& at, int field, T& value) const {
    T factors[3];
    int mirrors = 0;
    for (int a = z_axis; a >= x_axis; --a) {
      if (inside(a, at[std::size_t(a)])) continue;
      const boundary::side& s = at[std::size_t(a)] < 0 ? plan_.sides[a].low : plan_.sides[a].high;
      if (s.is_constant()) {
        value = static_cast<T>(s.values[std::size_t(field)]);
        while (mirrors > 0) value *= factors[--mirrors];
        return;
      }
      factors[mirrors++] = factor(s, field);
    }
  }

  void prepare_fading() {
    for (int a = 0; a < 3; ++a) {
      const int n = plan_.cut.axis[a].n;
      const range r = stored(a);
      T* factors = store_.fading(a);
      for (int p = r.from; p < r.to; ++p) {
        const int i = plan_.cut.axis[a].wraps ? (p % n + n) % n : p;
        if (i >= 0 && i < n)
          factors[p] = static_cast<T>(plan_.sides[a].low.fading(i)) *
                       static_cast<T>(plan_.sides[a].high.fading(n - 1 - i));
      }
    }
    std::array<f64, most_fields> values{};
    sponges_agree_ = stencils::sponges_agree(plan_.sides, in.fields, values);
    for (std::size_t f = 0; f < std::size_t(in.fields); ++f) rest_[f] = static_cast<T>(values[f]);
  }

  // --- exchange

  /// Whether cells cross through buffers, not as whole lines.
  bool through_buffers() const {
    if constexpr (!Storage::has_buffers) return false;
    else return is_for_wafers || !std::is_same_v<T, f32> || plan_.cut.axis[z_axis].parts > 1;
  }

  /// Along an axis that goes around on this PE alone: cells beyond its ends are those at the other one.
  void wrap(int a) {
    const cut_axis& axis = plan_.cut.axis[a];
    if (!axis.wraps || axis.parts > 1) return;
    for (int less = 0; less <= int{reads.before}; ++less) {
      box b = plan_.cut.computed(pe_, plan_.cut.depth - less);
      if (a == plan_.cut.first) b.at[plan_.cut.second] = own().at[plan_.cut.second];
      const range all = b.at[a];
      for (int f = 0; f < in.fields; ++f)
        for (int p = all.from; p < all.to; ++p) {
          const int from = (p % axis.n + axis.n) % axis.n;
          if (p != from) copy_slice(f, parity(time_ + less), b, a, from, p);
        }
    }
  }
  /// The cells of a box at one position along an axis, from another one.
  void copy_slice(int f, int level, box b, int a, int from, int to) {
    if (a != z_axis) b.at[a] = {to, to + 1};
    each_line(b, [&](int x, int y) {
      T* line = store_.field(f, level, x, y);
      if (a == z_axis) line[to] = line[from];
      else
        std::copy_n(
            store_.field(f, level, a == x_axis ? from : x, a == y_axis ? from : y) + b.at[z_axis].from,
            b.at[z_axis].size(), line + b.at[z_axis].from);
    });
  }

  template <class BoxOf>
  std::span<f32> crossing(port side, int i, BoxOf box_of, bool leaves) {
    if (through_buffers()) return i == 0 ? through_buffer(side, box_of, leaves) : std::span<f32>{};
    if constexpr (std::is_same_v<T, f32>)
      for (int less = 0; less <= int{reads.before}; ++less) {
        const box b = box_of(less);
        if (b.count() == 0) continue;
        for (int f = 0; f < in.fields; ++f) {
          const int pieces = pieces_of(b);
          if (i < pieces) return piece(f, parity(time_ + less), b, i);
          i -= pieces;
        }
      }
    if constexpr (Storage::has_border) {
      const box b = box_of(1);  // as the values of the step before, where cells are computed
      const int pieces = b.count() == 0 || store_.border().empty() ? 0 : pieces_of(b);
      const range x = b.at[x_axis];
      if (i < pieces)
        return store_.border().of({pieces == 1 ? x : range{x.from + i, x.from + i + 1}, b.at[y_axis]});
    }
    return {};
  }
  template <class BoxOf>
  std::span<f32> through_buffer(port side, BoxOf box_of, bool leaves) {
    std::size_t numbers = 0;
    for (int less = 0; less <= int{reads.before}; ++less)
      numbers += box_of(less).count() * std::size_t(in.fields);
    const std::size_t words = numbers * (sizeof(T) / sizeof(f32));
    if (words == 0) return {};
    const int number = index_of(side) - 1;
    if (!leaves) return store_.entering(number, words);
    const std::span<f32> buffer = store_.leaving(number, words);
    each_part(box_of, [p = buffer.data()](T* cells, std::size_t n) mutable {
      std::memcpy(p, cells, n * sizeof(T)), p += n * (sizeof(T) / sizeof(f32));
    });
    return buffer;
  }
  void unpack(int stage, port side) {
    const auto box_of = [&](int less) { return plan_.cut.incoming(pe_, stage, side, less); };
    const std::span<f32> buffer = through_buffer(side, box_of, false);
    each_part(box_of, [p = buffer.data()](T* cells, std::size_t n) mutable {
      std::memcpy(cells, p, n * sizeof(T)), p += n * (sizeof(T) / sizeof(f32));
    });
  }
  /// Lines that span all of y follow each other from plane to plane, others within a plane; on a wafer each
  /// is a piece.
  bool planes_follow(const box& b) const { return b.at[y_axis] == range{0, plan_.cut.axis[y_axis].n}; }
  int pieces_of(const box& b) const {
    if (!Storage::lines_follow) return b.at[x_axis].size() * b.at[y_axis].size();
    return planes_follow(b) ? 1 : b.at[x_axis].size();
  }
  std::span<f32> piece(int f, int level, const box& b, int i) {
    range x = b.at[x_axis], y = b.at[y_axis];
    if (!Storage::lines_follow) {
      x.from += i / y.size(), y.from += i % y.size();
      x.to = x.from + 1, y.to = y.from + 1;
    } else if (!planes_follow(b)) {
      x.from += i, x.to = x.from + 1;
    }
    return {store_.field(f, level, x.from, y.from),
            static_cast<std::size_t>((x.size() - 1) * store_.sx() + (y.size() - 1) * store_.sy() +
                                     b.at[z_axis].size())};
  }
  /// Calls f(numbers, count) for the parts of lines in the boxes of all fields and time steps.
  template <class BoxOf, class F>
  void each_part(BoxOf box_of, F f) {
    for (int less = 0; less <= int{reads.before}; ++less) {
      const box b = box_of(less);
      if (b.count() == 0) continue;
      for (int field = 0; field < in.fields; ++field)
        each_line(b, [&](int x, int y) {
          f(store_.field(field, parity(time_ + less), x, y) + b.at[z_axis].from,
            static_cast<std::size_t>(b.at[z_axis].size()));
        });
    }
  }
  tile_plan plan_;
  coord pe_;
  i64 time_ = 0;
  range stored_[3];          ///< positions with memory, by axes
  bool has_images_ = false;  ///< whether cells beyond a side change
  bool sponges_agree_ = true;
  T scalars_[std::size_t(in.scalars > 0 ? in.scalars : 1)]{};
  T rest_[std::size_t(in.fields)]{};  ///< to which all sponges draw, where they agree
  Storage store_;
};

}  // namespace wsl::stencils
