// SPDX-License-Identifier: MIT
// One PE's part of the grid: its lines, its border profiles, its sources and receivers, and its time steps.
// It marches in tiles, see tiles.hpp.
#pragma once
#include "border_loops.hpp"
#include "drift.hpp"
#include "free_surface.hpp"
#include "step_cycles.hpp"
#include "storage.hpp"
#include "upcoming_lines.hpp"

namespace wsl::wave25 {

template <class Storage>
class subdomain {
 public:
  void prepare(const problem& p, const partition& cut, coord pe) {
    cut_ = cut, pe_ = pe, edge_ = p.damping(), free_surface_ = p.free_surface;
    store_.shape(cut, pe, edge_.kind == border::pml, p.is_layered());
    if constexpr (Storage::has_stretching)
      if (edge_.kind == border::cpml) store_.frame().shape(p, cut.known(pe));
    const f64 scale = p.time_step() / p.spacing;
    p.each_line(cut.ever_computed(pe), [&](int x, int y, const f32* velocity) {
      f32* factor = store_.factor(x, y);
      for (int z = 0; z < cut.size.z; ++z) factor[z] = square(f64{velocity[z]} * scale);
    });
    for (int z = 0; Storage::has_frame && z < cut.size.z; ++z) {
      store_.profile()[z] = f32(edge_.kind == border::sponge ? edge_.factor(z, cut.size.z, damping::down)
                                                             : edge_.eta(z, cut.size.z, damping::down));
      store_.slope()[z] = f32(0.25 * edge_.slope(z, cut.size.z, damping::down));
    }
    const auto add = [&](const station& s) { store_.add(s); };
    for (std::size_t i = 0; i < p.sources.size(); ++i)
      each_station(p, p.sources[i], p.sources[i].kind == source_term::point ? scale : 0, true, i,
                   cut.ever_computed(pe), add);
    for (std::size_t i = 0; i < p.receivers.size(); ++i)
      each_station(p, p.receivers[i], 0, false, i, cut.ever_own(pe), add);
    store_.sort_stations();
  }

  const partition& cut() const { return cut_; }
  std::span<station> stations() { return store_.stations(); }
  /// The steps that this PE has done since the start.
  i64 time() const { return time_; }
  void set_time(i64 steps) { time_ = steps; }
  /// Lines of nz cells: the field after the last step, after the one before it, and phi.
  f32* now(int x, int y) { return store_.field(parity(time_), x, y); }
  f32* before(int x, int y) { return store_.field(parity(time_ + 1), x, y); }
  f32* phi(int x, int y) { return store_.phi(x, y); }
  bool has_phi() const { return edge_.kind == border::pml; }
  /// What a border that absorbs remembers of a line: phi, or the numbers of a cpml; empty without one.
  std::span<f32> memory(int x, int y) {
    if constexpr (Storage::has_stretching)
      if (edge_.kind == border::cpml) return store_.frame().of(x, y);
    if (!has_phi()) return {};
    return {phi(x, y), static_cast<std::size_t>(cut_.size.z)};
  }

  /// Samples of a launch count from here. A receiver has none of the steps that another PE records.
  void begin_launch() {
    launched_ = time_;
    for (station& s : store_.stations())
      if (!s.gives) s.samples = {};
  }

  /// The lines that cross a side in a stage, as pieces of contiguous memory: the i-th piece, empty after
  /// the last one. Sender and receiver have the same pieces, including the zeros between lines. What crosses
  /// borders that drift is a stage after those of the partition.
  std::span<f32> outgoing(int stage, port side, int i) {
    return piece(
        stage, i, [&](int width) { return cut_.outgoing(pe_, stage, side, width, drifted_); },
        [&](int planes) { return drift_.outgoing(side, planes); });
  }
  std::span<f32> incoming(int stage, port side, int i) {
    return piece(
        stage, i, [&](int width) { return cut_.incoming(pe_, stage, side, width, drifted_); },
        [&](int planes) { return drift_.incoming(side, planes); });
  }

  /// Marches `steps` steps, at most the partition's depth.
  void march(int steps) {
    march_tiles(steps, [&](int done) { return cut_.computed(pe_, steps - done).x; });
    time_ += steps;
  }

  /// A march whose borders drift: its begin, with what needs no neighbour; and what needs one, and its end.
  void begin_drift(int steps) {
    drift_ = drift(cut_, pe_, drifted_, steps);
    march(drift_.shrinking());
  }
  void end_drift() {
    march(drift_.growing());
    time_ += drift_.steps;
    drifted_ = drift_.drifted_after(drifted_);
  }
  /// Borders return to their places, if they have drifted: the begin and the end of an exchange of cells.
  bool has_drifted() const { return drifted_ != 0; }
  void begin_return() { drift_ = drift::back(cut_, pe_, drifted_); }
  void end_return() { drifted_ = drift_.drifted_after(drifted_); }

  /// The time on a wafer of a step of one line.
  u64 step_cycles(const machine& m) const { return wave25::step_cycles(m, edge_.kind, cut_.size.z); }

 private:
  static f32 square(f64 x) { return static_cast<f32>(x * x); }
  static int parity(i64 steps) { return static_cast<int>(steps & 1); }

  template <class F>
  static void each_line(const lines& l, F f) {
    for (int x = l.x.from; x < l.x.to; ++x)
      for (int y = l.y.from; y < l.y.to; ++y) f(x, y);
  }

  // Lines that span all of a block in y are contiguous from plane to plane, others within a plane.
  template <class Lines, class Planes>
  std::span<f32> piece(int stage, int i, Lines lines_of, Planes planes_of) {
    const bool drifts = stage >= cut_.stages();
    const widths each = drifts ? drift_.crossing() : cut_.crossing();
    const std::size_t fields = has_phi() || edge_.kind == border::cpml ? 3 : 2;
    for (std::size_t f = 0; f < fields; ++f) {
      const lines l = drifts ? lines{planes_of(each[f]), cut_.known(pe_).y} : lines_of(each[f]);
      const bool together = l.y == cut_.known(pe_).y;
      const int pieces = l.count() == 0 ? 0 : together ? 1 : l.x.size();
      if (i < pieces) return contiguous(f, l.y, together ? l.x : range{l.x.from + i, l.x.from + i + 1});
      i -= pieces;
    }
    return {};
  }
  std::span<f32> contiguous(std::size_t field, range y, range x) {
    if constexpr (Storage::has_stretching)
      if (field == 2 && edge_.kind == border::cpml) return store_.frame().of({x, y});
    f32* first = field == 0 ? now(x.from, y.from) : field == 1 ? before(x.from, y.from) : phi(x.from, y.from);
    return {first, static_cast<std::size_t>((x.size() - 1) * store_.stride_x() +
                                            (y.size() - 1) * store_.stride_y() + cut_.size.z)};
  }

  void march(const moving_planes& part) {
    march_tiles(drift_.steps, [&](int done) { return part.after(done); });
  }

  /// Of the planes that are computed in step n, which counts from 1.
  template <class Planes>
  void march_tiles(int steps, Planes planes) {
    each_tile_step(
        steps, planes, [&](int n) { return cut_.computed(pe_, steps - n).y; },
        [&](const lines& l, const tile_step& of) { update(l, of); });
  }

  void update(const lines& l, const tile_step& of) {
    if (l.count() == 0) return;
    const i64 time = time_ + of.step;
    const auto each = [&](auto f) {
      each_line(l, [&](int x, int y) { f(store_.neighbours(parity(time), x, y), x, y); });
    };
    if (edge_.kind == border::sponge) fade_lines(l, time);
    if (edge_.kind == border::pml) update_in_layer(l, time);
    else step_lines(l, of);
    if constexpr (Storage::has_stretching)
      if (edge_.kind == border::cpml)
        each([&](const line& at, int x, int y) { store_.frame().correct(at, x, y); });
    if (free_surface_)
      each([&](const line& at, int x, int y) { mirror(at, cut_.size.z, f32(1 / (1 + 2 * eta(x, y)))); });
    if (edge_.kind == border::sponge) fade_lines(l, time);
    each_in(store_.stations(), l, [&](station& s) {
      s.serve(store_.field(parity(time + 1), s.at.x, s.at.y) + s.at.z,
              static_cast<std::size_t>(time - launched_));
    });
  }

  /// Lines on which no border acts.
  void step_lines(const lines& l, const tile_step& of) {
    const int to = whole_vectors(cut_.size.z);
    const lines known = cut_.known(pe_);
    for (int z = 0; z < to; z += tile_z)
      for (int x = l.x.from, planes = 1; x < l.x.to; x += planes) {
        planes = std::min(Storage::planes, l.x.to - x);
        step_plain(store_.neighbours(parity(time_ + of.step), x, l.y.from), planes, l.y.size(), z,
                   std::min(z + tile_z, to), upcoming_lines(store_, known, x, l.y.from, of, time_));
      }
  }

  /// The part of a perfectly matched layer's damping that is the same for all cells of a line.
  f64 eta(int x, int y) const {
    return edge_.kind == border::pml ? edge_.eta(x, cut_.size.x) + edge_.eta(y, cut_.size.y) : 0;
  }

  /// The cells that no frame of the border reaches, in whole vectors along z.
  lines inside() const {
    return {{edge_.width, cut_.size.x - edge_.width}, {edge_.width, cut_.size.y - edge_.width}};
  }
  range inside_z() const {
    const int top = edge_.open_top ? 0 : whole_vectors(edge_.width);
    return {top, std::max(top, (cut_.size.z - edge_.width) / widest_lanes * widest_lanes)};
  }

  /// Calls f(line, x, y, from, to) for the cells of lines that lie in the frame: lines inside the frame of x
  /// and y have their ends in it.
  template <class F>
  void each_in_frame(const lines& l, i64 time, F f) {
    each_line(l, [&](int x, int y) {
      const line at = store_.neighbours(parity(time), x, y);
      const int n = whole_vectors(cut_.size.z);
      if (!inside().has(x, y)) return f(at, x, y, 0, n);
      f(at, x, y, 0, inside_z().from), f(at, x, y, inside_z().to, n);
    });
  }

  void fade_lines(const lines& l, i64 time) {
    each_in_frame(l, time, [&](const line& at, int x, int y, int from, int to) {
      fade(at.v, f32(edge_.factor(x, cut_.size.x) * edge_.factor(y, cut_.size.y)), store_.profile(), from,
           to);
    });
  }

  // Line by line: their ends in the frame and the cells between them are in memory next to each other.
  void update_in_layer(const lines& l, i64 time) {
    each_in_frame(l, time, [&](const line& at, int x, int y, int from, int to) {
      step_absorbing(
          at,
          {f32(eta(x, y)), f32(0.25 * edge_.slope(x, cut_.size.x)), f32(0.25 * edge_.slope(y, cut_.size.y)),
           store_.profile(), store_.slope(), store_.phi(x, y)},
          from, to);
      if (from == 0 && to < whole_vectors(cut_.size.z)) step_plain(at, 1, 1, to, inside_z().to, {});
    });
  }

  partition cut_;
  coord pe_;
  damping edge_;
  bool free_surface_ = false;
  i64 time_ = 0, launched_ = 0;
  drift drift_;
  int drifted_ = 0;  ///< planes by which borders are west of their places
  Storage store_;
};

}  // namespace wsl::wave25
