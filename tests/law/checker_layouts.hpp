// SPDX-License-Identifier: MIT
// Random small layouts, right ones and nearly right ones. A color begins as a random set of links between neighbours, from which
// every PE's route follows, so all links agree; equal routes are then joined into random strided rectangles, programs are made to
// fit, and a few mutations of the records follow.
#pragma once
#include <deque>
#include <random>
#include <vector>

#include <wsl/layout/layout.hpp>

namespace oracle {

using namespace wsl;

class random_layout {
 public:
  static constexpr int colors = 4;

  explicit random_layout(unsigned seed) : random_(seed) {
    shape();
    for (int c = 0; c < colors; ++c)
      if (chance(70)) color_routes(c);
    programs();
    if (chance(20)) claim_some();
    for (int n = chance(55) ? 0 : 1 + below(2); n > 0; --n) mutate();
    if (chance(15)) idle_color_ = below(colors);
  }

  layout build() const {
    layout l{machine_, w_, h_};
    for (const auto& p : placements_) l.place(p.where, *p.what);
    for (const auto& p : paths_) add_path(l, p);
    if (idle_color_ >= 0) add_path(l, {idle_color_, region{}, ramp >> east, false, 0});
    for (const auto& s : streams_) add_stream(l, s);
    for (const auto& c : claims_) l.claim_colors(c.module, c.first, c.count, c.where);
    return l;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T& any(std::vector<T>& v) { return v[static_cast<size_t>(below(static_cast<int>(v.size())))]; }

  void shape() {
    w_ = 1 + below(6), h_ = chance(25) ? 1 : 1 + below(6);
    if (chance(10)) std::swap(w_, h_);
    machine_ = chance(50) ? wse2 : wse3;
    machine_.colors = colors;
    if (!chance(20)) return;
    machine_.data_tasks = below(4), machine_.local_tasks = below(4), machine_.task_ids = below(6);
    machine_.input_queues = below(4), machine_.output_queues = below(4);
  }

  // ---- routes ----
  struct cell {
    ports from, to;
    bool operator==(const cell&) const = default;
  };
  size_t index(coord c) const { return static_cast<size_t>(c.y * w_ + c.x); }
  bool inside(coord c) const { return c.x >= 0 && c.y >= 0 && c.x < w_ && c.y < h_; }

  void link(std::vector<cell>& cells, coord p, port side) {
    cell &a = cells[index(p)], &b = cells[index(p + step(side))];
    a.to = a.to | ports{side}, b.from = b.from | ports{opposite(side)};
  }

  void random_links(std::vector<cell>& cells) {
    const int kind = below(8), density = 10 + below(80);
    const bool monotone = chance(85), one_in = kind < 3, one_out = kind >= 3 && kind < 6;
    for (int n = 0; n < w_ * h_ * 4; ++n) {
      const coord p{below(w_), below(h_)};
      const port side = every_side[monotone ? 2 * below(2) : below(4)];
      if (!inside(p + step(side)) || !chance(density)) continue;
      if (one_in && !cells[index(p + step(side))].from.empty()) continue;
      if (one_out && !cells[index(p)].to.empty()) continue;
      link(cells, p, side);
    }
  }
  // One direction everywhere: in rows of pairs, in one long row, or in a snake.
  void regular_links(std::vector<cell>& cells) {
    const bool snake = chance(30), by_column = chance(50);
    const int period = 1 + below(4), length = below(period) + (period == 1);
    for (int y = 0; y < h_; ++y)
      for (int x = 0; x < w_; ++x) {
        const coord p{x, y};
        if (snake) {
          const bool turn = y % 2 == 0 ? x == w_ - 1 : x == 0;
          const port side = turn ? south : y % 2 == 0 ? east : west;
          if (inside(p + step(side))) link(cells, p, side);
        } else if (const port side = by_column ? south : east; inside(p + step(side)) && (by_column ? y : x) % period < length) {
          link(cells, p, side);
        }
      }
  }
  void circular_links(std::vector<cell>& cells) {
    if (w_ < 2 || h_ < 2) return;
    const int x1 = 1 + below(w_ - 1), y1 = 1 + below(h_ - 1);
    for (int x = 0; x < x1; ++x) link(cells, {x, 0}, east), link(cells, {x + 1, y1}, west);
    for (int y = 0; y < y1; ++y) link(cells, {x1, y}, south), link(cells, {0, y + 1}, north);
  }

  void color_routes(int c) {
    std::vector<cell> cells(static_cast<size_t>(w_ * h_));
    const int kind = below(20);
    if (kind < 12) random_links(cells);
    else if (kind < 19) regular_links(cells);
    else circular_links(cells);
    const int type = below(3);
    for (int y = 0; y < h_; ++y)
      for (int x = 0; x < w_; ++x) ramps_and_streams(cells, {x, y}, c, type);
    compress(cells, c, type);
  }

  void ramps_and_streams(std::vector<cell>& cells, coord p, int c, int type) {
    cell& k = cells[index(p)];
    if (k.from.empty() && k.to.empty() && !chance(3)) return;
    for (port side : every_side) {
      if (inside(p + step(side)) || !chance(8)) continue;
      const bool inbound = chance(50);
      ports& used = inbound ? k.from : k.to;
      used = used | ports{side};
      streams_.push_back({c, {p.x, p.x + 1, p.y, p.y + 1}, side, inbound, type});
    }
    if (k.from.empty() || chance(20)) k.from = k.from | ports{ramp};
    if (k.to.empty() || chance(30)) k.to = k.to | ports{ramp};
  }

  /// Covers equal cells with random strided rectangles.
  template <class T, class Emit>
  void cover(const std::vector<T>& cells, Emit emit) {
    std::vector<bool> done(cells.size());
    for (int y = 0; y < h_; ++y)
      for (int x = 0; x < w_; ++x) {
        if (done[index({x, y})]) continue;
        const T& value = cells[index({x, y})];
        const auto free = [&](int u, int v) { return u < w_ && v < h_ && !done[index({u, v})] && cells[index({u, v})] == value; };
        const int sx = 1 + below(4), sy = 1 + below(4);
        int columns = 1, rows = 1;
        while (free(x + columns * sx, y)) ++columns;
        for (bool whole = true; whole; rows += whole)
          for (int i = 0; i < columns; ++i) whole = whole && free(x + i * sx, y + rows * sy);
        for (int j = 0; j < rows; ++j)
          for (int i = 0; i < columns; ++i) done[index({x + i * sx, y + j * sy})] = true;
        const int slack_x = below(sx), slack_y = below(sy);  // bounds need not be tight
        emit(region{x, std::min(w_, x + (columns - 1) * sx + 1 + slack_x), y, std::min(h_, y + (rows - 1) * sy + 1 + slack_y), sx, sy}, value);
      }
  }

  struct path_of {
    int color;
    region where;
    route how;
    bool merges;
    int type;
  };
  struct stream_of {
    int color;
    region where;
    port side;
    bool inbound;
    int type;
  };

  void compress(const std::vector<cell>& cells, int c, int type) {
    cover(cells, [&](const region& r, const cell& k) {
      if (!k.from.empty()) paths_.push_back({c, r, {k.from, k.to}, !k.from.single() || chance(10), type});
    });
  }

  template <class Use>
  static void with_type(int type, Use use) {
    if (type == 0) use(f32{});
    else if (type == 1) use(u32{});
    else use(i16{});
  }
  static const payload_type* address(int type) {
    const payload_type* p = nullptr;
    with_type(type, [&](auto t) { p = &payload_type_of<decltype(t)>; });
    return p;
  }
  static void add_path(layout& l, const path_of& p) {
    with_type(p.type, [&](auto t) {
      const color<decltype(t)> c{p.color};
      p.merges ? l.path(c, p.where, p.how, merge) : l.path(c, p.where, p.how);
    });
  }
  static void add_stream(layout& l, const stream_of& s) {
    const area where{s.where.x0, s.where.x1, s.where.y0, s.where.y1, s.where.sx, s.where.sy};
    with_type(s.type, [&](auto t) {
      const color<decltype(t)> c{s.color};
      s.inbound ? l.stream_in(c, where, s.side) : l.stream_out(c, where, s.side);
    });
  }

  // ---- programs ----
  struct needs {
    int takes[colors] = {}, sends[colors] = {};  // 1 + payload type, 0 for none
    bool operator==(const needs&) const = default;
    bool any() const { return *this != needs{}; }
    void add(const needs& other) {
      for (int c = 0; c < colors; ++c) takes[c] = std::max(takes[c], other.takes[c]), sends[c] = std::max(sends[c], other.sends[c]);
    }
  };

  void programs() {
    std::vector<needs> cells(static_cast<size_t>(w_ * h_));
    needs together;
    for (const path_of& p : paths_)
      for (int i = 0; i < p.where.count(); ++i) {
        needs& n = cells[index(p.where.nth(i))];
        if (p.how.to.has(ramp)) n.takes[p.color] = 1 + p.type;
        if (p.how.from.has(ramp)) n.sends[p.color] = 1 + p.type;
        together.add(n);
      }
    if (chance(40)) std::fill(cells.begin(), cells.end(), together);
    cover(cells, [&](const region& r, const needs& n) {
      if (n.any() || chance(20)) placements_.push_back({r, make_program(n)});
    });
  }

  const program* make_program(const needs& n) {
    std::vector<binding>& t = tables_.emplace_back();
    for (int c = 0; c < colors; ++c) {
      if (n.takes[c]) t.push_back({.what = chance(60) ? role::data : role::read, .id = c, .type = address(n.takes[c] - 1)});
      if (n.sends[c]) t.push_back({.what = role::send, .id = c, .type = address(n.sends[c] - 1), .after = after(n)});
    }
    if (chance(60)) t.push_back({.what = role::launch, .id = 0});
    for (int i = chance(70) ? 0 : below(4); i > 0; --i)
      t.push_back({.what = role::local, .id = i, .start = static_cast<initially>(below(3))});
    for (int i = chance(70) ? 0 : below(3); i > 0; --i) t.push_back({.what = role::control, .id = 10 * i});
    return finish(t, 1 + below(1000));
  }
  u64 after(const needs& n) {
    const int c = below(colors);
    return chance(15) && n.takes[c] ? color_bit(c) : 0;
  }
  const program* finish(const std::vector<binding>& t, int bytes) {
    return &programs_.emplace_back(
        program{.name = "random", .bytes = bytes, .table = t.data(), .entries = static_cast<int>(t.size())});
  }

  void claim_some() {
    const int w = 1 + below(w_), h = 1 + below(h_), first = below(colors);
    claims_.push_back({region{0, w, 0, h, 1, 1}, "left", first, 1 + below(colors - first)});
    if (w < w_ && chance(60)) claims_.push_back({region{w, w_, 0, h_, 1, 1}, "right", first, 1});
    else if (first > 0) claims_.push_back({region{0, w, 0, h, 1, 1}, "below", 0, first});
  }

  // ---- mutations ----
  void mutate() {
    const int kind = below(20);
    if (kind < 9 && !paths_.empty()) mutate_path(kind);
    else if (kind < 15 && !placements_.empty()) mutate_placement(kind);
    else if (kind < 17) mutate_streams();
    else if (kind < 18) claims_.push_back({random_region(), "more", below(colors), 1});
    else mutate_table();
  }

  void mutate_path(int kind) {
    path_of& p = any(paths_);
    const u8 bit = static_cast<u8>(1 << below(5));
    if (kind == 0) paths_.erase(paths_.begin() + (&p - paths_.data()));
    if (kind == 1) p.where = random_region();
    if (kind == 2 && p.how.from.bits != bit) p.how.from.bits ^= bit, p.merges = p.merges || chance(70);
    if (kind == 3 && p.how.to.bits != bit) p.how.to.bits ^= bit;
    if (kind == 4) p.merges = !p.merges;
    if (kind == 5) p.type = below(3);
    if (kind == 6) p.color = below(colors);
    if (kind == 7) paths_.push_back({p.color, random_region(), p.how, p.merges, p.type});
    if (kind == 8) p.how = {ports{ramp}, ports{ramp}};
  }
  void mutate_placement(int kind) {
    placement& p = any(placements_);
    if (kind == 9) placements_.erase(placements_.begin() + (&p - placements_.data()));
    if (kind == 10) p.where = random_region();
    if (kind == 11) placements_.push_back({random_region(), p.what});
    if (kind == 12) p.what = placements_[0].what;
    if (kind == 13) p.what = finish(tables_.emplace_back(p.what->begin(), p.what->end()), 48 * 1024 + 1 - below(2));
    if (kind == 14) mutate_table();
  }
  void mutate_table() {
    if (placements_.empty()) return;
    placement& p = any(placements_);
    std::vector<binding>& t = tables_.emplace_back(p.what->begin(), p.what->end());
    const int kind = below(7), c = below(colors);
    if (kind == 0 && !t.empty()) t.erase(t.begin() + below(static_cast<int>(t.size())));
    if (kind == 1) t.push_back({.what = role::data, .id = c, .type = address(below(3))});
    if (kind == 2) t.push_back({.what = role::read, .id = c, .type = address(below(3))});
    if (kind == 3) t.push_back({.what = role::send, .id = c, .type = address(below(3))});
    if (kind == 4 && !t.empty() && t[0].type) t[0].type = address(below(3));
    if (kind == 5) t.push_back({.what = role::control, .id = below(10) == 0 ? -1 : 10 * below(8)});
    if (kind == 6)
      for (int i = 0; i < 32; ++i) t.push_back({.what = role::local, .id = 10 + i});
    p.what = finish(t, p.what->bytes);
  }
  void mutate_streams() {
    if (!streams_.empty() && chance(60)) {
      stream_of& s = any(streams_);
      const int kind = below(4);
      if (kind == 0) streams_.erase(streams_.begin() + (&s - streams_.data()));
      else if (kind == 1) s.type = below(3);
      else if (kind == 2) s.inbound = !s.inbound;
      else streams_.push_back(stream_of{s});
      return;
    }
    const port side = every_side[below(4)];
    region r{0, w_, 0, h_, 1 + below(2), 1 + below(2)};
    if (side == east) r.x0 = w_ - 1;
    if (side == west) r.x1 = 1;
    if (side == north) r.y1 = 1;
    if (side == south) r.y0 = h_ - 1;
    streams_.push_back({below(colors), r, side, chance(50), below(3)});
  }
  region random_region() {
    const int x = below(w_), y = below(h_);
    return {x, x + 1 + below(w_ - x), y, y + 1 + below(h_ - y), 1 + below(4), 1 + below(4)};
  }

  std::mt19937 random_;
  int w_ = 1, h_ = 1;
  machine machine_ = wse2;
  int idle_color_ = -1;  // has a path on no PE
  std::vector<path_of> paths_;
  std::vector<stream_of> streams_;
  std::vector<placement> placements_;
  std::vector<claim> claims_;
  std::deque<std::vector<binding>> tables_;
  std::deque<program> programs_;
};

}  // namespace oracle
