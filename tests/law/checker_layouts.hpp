// SPDX-License-Identifier: MIT
// Random small layouts, right ones and nearly right ones. A color begins as a random set of links between
// neighbours, from which every PE's route follows, so all links agree; equal routes are then joined into
// random strided rectangles, programs are made to fit, and a few mutations of the records follow. In a layout
// that changes, some routes are split into the positions of a switch, some are filtered, and some colors have
// a second phase.
#pragma once
#include <deque>
#include <optional>
#include <random>
#include <variant>
#include <vector>

#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>

namespace oracle {

using namespace wsl;
using namespace wsl::detail;

class random_layout {
 public:
  static constexpr int colors = 4;

  explicit random_layout(unsigned seed, bool changing = false) : random_(seed), changing_(changing) {
    shape();
    for (int c = 0; c < colors; ++c)
      if (chance(70)) color_routes(c);
    if (changing_) change_some();
    programs();
    if (chance(20)) claim_some();
    for (int n = chance(55) ? 0 : 1 + below(2); n > 0; --n) mutate();
    if (chance(15)) idle_color_ = below(colors);
  }

  layout build() const {
    return build(machine_, [](const program& p) -> const program& { return p; });
  }
  /// For another machine, with other programs in the place of the drawn ones.
  template <class Replace>
  layout build(const machine& target, Replace other) const {
    layout l{target, w_, h_};
    for (const auto& p : placements_) l.place(p.where, other(*p.what));
    for (const auto& p : paths_) add_path(l, p);
    if (idle_color_ >= 0) add_path(l, {idle_color_, region{}, ramp >> east, false, 0, {}, {}, 0, false});
    for (const auto& s : streams_) add_stream(l, s);
    for (const auto& c : claims_) l.claim_colors(c.module, c.first, c.count, c.where);
    return l;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T& any(std::vector<T>& v) {
    return v[static_cast<size_t>(below(static_cast<int>(v.size())))];
  }

  void shape() {
    w_ = 1 + below(6), h_ = chance(25) ? 1 : 1 + below(6);
    if (chance(10)) std::swap(w_, h_);
    machine_ = chance(50) ? wse2 : wse3;
    machine_.colors = colors;
    if (changing_ && chance(10)) machine_.switch_colors = static_cast<u64>(below(16));
    if (changing_ && chance(15)) machine_.filters = below(3);
    if (!chance(20)) return;
    machine_.data_tasks = below(4), machine_.local_tasks = below(4), machine_.task_ids = below(6);
    machine_.input_queues = below(4), machine_.output_queues = below(4);
  }

  // ---- routes -----------------------------------------------------------------------------------
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
        } else if (const port side = by_column ? south : east;
                   inside(p + step(side)) && (by_column ? y : x) % period < length) {
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
        const auto free = [&](int u, int v) {
          return u < w_ && v < h_ && !done[index({u, v})] && cells[index({u, v})] == value;
        };
        const int sx = 1 + below(4), sy = 1 + below(4);
        int columns = 1, rows = 1;
        while (free(x + columns * sx, y)) ++columns;
        for (bool whole = true; whole; rows += whole)
          for (int i = 0; i < columns; ++i) whole = whole && free(x + i * sx, y + rows * sy);
        for (int j = 0; j < rows; ++j)
          for (int i = 0; i < columns; ++i) done[index({x + i * sx, y + j * sy})] = true;
        const int slack_x = below(sx), slack_y = below(sy);  // bounds need not be tight
        emit(region{x, std::min(w_, x + (columns - 1) * sx + 1 + slack_x), y,
                    std::min(h_, y + (rows - 1) * sy + 1 + slack_y), sx, sy},
             value);
      }
  }

  struct path_of {
    int color;
    region where;
    route how;
    bool merges;
    int type;
    std::optional<switches> changes;
    std::variant<std::monostate, counter_filter, sparse_counter_filter, range_filter> filter;
    int phase;
    bool closed;

    route ports_used() const {
      route r = how;
      if (changes)
        for (const route& later : {changes->pos1, changes->pos2, changes->pos3})
          r = {r.from | later.from, r.to | later.to};
      return r;
    }
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
      if (!k.from.empty())
        paths_.push_back({c, r, {k.from, k.to}, !k.from.single() || chance(10), type, {}, {}, 0, false});
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
      const auto with_filter = [&](const auto&... options) {
        std::visit(
            [&](const auto& f) {
              if constexpr (std::is_same_v<decltype(f), const std::monostate&>)
                l.path(color<decltype(t)>{p.color}, p.where, p.how, options...);
              else l.path(color<decltype(t)>{p.color}, p.where, p.how, options..., f);
            },
            p.filter);
      };
      const auto with_switch = [&](const auto&... options) {
        p.changes ? with_filter(options..., *p.changes) : with_filter(options...);
      };
      const auto with_merge = [&](const auto&... options) {
        p.merges ? with_switch(options..., merges) : with_switch(options...);
      };
      p.closed ? with_merge(phase{p.phase}, starts_closed) : with_merge(phase{p.phase});
    });
  }

  // ---- routes that change -----------------------------------------------------------------------
  void change_some() {
    const std::size_t first = paths_.size();
    for (int c = 0; c < colors; ++c)
      if (chance(15)) color_routes(c);
    for (std::size_t i = first; i < paths_.size(); ++i) paths_[i].phase = 1;
    // mutations may add some
    int switches_left = layout::max_switches - 2, filters_left = layout::max_filters - 2;
    for (path_of& p : paths_) {
      if (chance(35) && switches_left-- > 0) split(p);
      if (chance(p.ports_used().to.has(ramp) ? 20 : 1) && filters_left-- > 0) p.filter = random_filter();
      if (chance(2)) p.closed = true;
    }
  }
  /// Some ports of one side take turns.
  void split(path_of& p) {
    const bool outputs = !p.how.to.single() && (p.how.from.single() || chance(50));
    ports& side = outputs ? p.how.to : p.how.from;
    switches s{.ring = chance(60), .pop = static_cast<pop>(below(4))};
    route* const later[] = {&s.pos1, &s.pos2, &s.pos3};
    int n = 0;
    for (port each : every_port)
      if (n < 3 && side.has(each) && !side.single() && chance(80)) {
        side.bits = static_cast<u8>(side.bits & ~ports{each}.bits);
        (outputs ? later[n]->to : later[n]->from) = each, ++n;
      }
    if (n == 0 && chance(70)) return;
    s.start = chance(75) ? 0 : below(n + 1);
    p.changes = s;
  }
  std::variant<std::monostate, counter_filter, sparse_counter_filter, range_filter> random_filter() {
    const int kind = below(3), per_column = below(5) - 2, per_row = below(3) - 1, period = 1 + below(9),
              last = below(period);
    if (kind == 0) {
      const int counted = below(8);
      return counter_filter{.keep = 1 + last,
                            .period = period,
                            .start = below(9),
                            .per_column = per_column,
                            .per_row = per_row,
                            .counts_data = counted != 1,
                            .counts_control = counted < 3,
                            .holds_control = counted % 3 == 1};
    }
    if (kind == 1)
      return sparse_counter_filter{.first = below(1 + last),
                                   .last = last,
                                   .period = period,
                                   .per_column = per_column,
                                   .per_row = per_row};
    return range_filter{.first = below(1 + last), .last = last, .per_column = per_column, .per_row = per_row};
  }
  void mutate_change() {
    const int kind = below(6);
    if (kind == 0 && !placements_.empty()) {
      placement& p = any(placements_);
      std::vector<binding>& t = tables_.emplace_back(p.what->begin(), p.what->end());
      t.push_back({.what = chance(50) ? role::steer : role::torn_down,
                   .id = below(colors),
                   .type = address(0),
                   .commands = static_cast<u8>(2 << below(3))});
      p.what = finish(t, p.what->bytes);
    }
    if (paths_.empty()) return;
    path_of& p = any(paths_);
    if (kind == 1) p.filter = random_filter();
    if (kind == 2) p.closed = !p.closed;
    if (kind == 3) p.phase = 1 - p.phase;
    if (kind < 4 || !p.changes || !given(p.changes->pos1)) return;
    route changed = p.changes->pos1;
    (below(2) ? changed.to : changed.from).bits ^= static_cast<u8>(1 << below(5));
    if (given(changed)) p.changes->pos1 = changed;
  }

  static void add_stream(layout& l, const stream_of& s) {
    const area where{s.where.x0, s.where.x1, s.where.y0, s.where.y1, s.where.sx, s.where.sy};
    with_type(s.type, [&](auto t) {
      const color<decltype(t)> c{s.color};
      s.inbound ? l.stream_in(c, where, s.side) : l.stream_out(c, where, s.side);
    });
  }

  // ---- programs ---------------------------------------------------------------------------------
  struct needs {
    int takes[colors] = {}, sends[colors] = {};  // 1 + payload type, 0 for none
    bool operator==(const needs&) const = default;
    bool any() const { return *this != needs{}; }
    void add(const needs& other) {
      for (int c = 0; c < colors; ++c)
        takes[c] = std::max(takes[c], other.takes[c]), sends[c] = std::max(sends[c], other.sends[c]);
    }
  };

  void programs() {
    std::vector<needs> cells(static_cast<size_t>(w_ * h_));
    needs together;
    for (const path_of& p : paths_)
      for (int i = 0; i < p.where.count(); ++i) {
        needs& n = cells[index(p.where.nth(i))];
        if (p.ports_used().to.has(ramp)) n.takes[p.color] = 1 + p.type;
        if (p.ports_used().from.has(ramp)) n.sends[p.color] = 1 + p.type;
        together.add(n);
      }
    if (chance(40)) std::fill(cells.begin(), cells.end(), together);
    cover(cells, [&](const region& r, const needs& n) {
      if (n.any() || chance(20)) placements_.push_back({r, make_program(n), {}});
    });
  }

  const program* make_program(const needs& n) {
    std::vector<binding>& t = tables_.emplace_back();
    for (int c = 0; c < colors; ++c) {
      if (n.takes[c])
        t.push_back({.what = chance(60) ? role::data : role::read, .id = c, .type = address(n.takes[c] - 1)});
      if (n.sends[c])
        t.push_back({.what = role::send, .id = c, .type = address(n.sends[c] - 1), .after = after(n)});
    }
    if (chance(60)) t.push_back({.what = role::launch, .id = 0});
    for (int i = chance(70) ? 0 : below(4); i > 0; --i)
      t.push_back({.what = role::local, .id = i, .start = static_cast<initially>(below(3))});
    for (int i = chance(70) ? 0 : below(3); i > 0; --i) t.push_back({.what = role::control, .id = 10 * i});
    if (chance(10)) share_a_queue(t);
    if (changing_) add_changes(t, n);
    return finish(t, 1 + below(1000));
  }
  /// Some of the colors that the program sends leave through one output queue.
  void share_a_queue(std::vector<binding>& t) {
    u64 shared = 0;
    for (const binding& b : t)
      if (b.what == role::send && chance(70)) shared |= color_bit(b.id);
    for (int c = 0; c < colors; ++c)
      if (shared >> c & 1) t.push_back({.what = role::share, .id = c, .after = shared});
  }
  void add_changes(std::vector<binding>& t, const needs& n) {
    for (int c = 0; c < colors; ++c) {
      bool switched = false, late = false;
      for (const path_of& p : paths_)
        if (p.color == c) switched = switched || p.changes, late = late || p.phase > 0 || p.closed;
      const bool steered = n.sends[c] && chance(switched ? 75 : 2);
      const int commands = (chance(90) ? command_bit(switch_adv) : 0) |
                           (chance(40) ? command_bit(switch_rst) : 0) |
                           (chance(10) ? command_bit(teardown) : 0);
      if (steered)
        t.push_back({.what = role::steer,
                     .id = c,
                     .type = address(n.sends[c] - 1),
                     .commands = static_cast<u8>(commands)});
      if (late && chance(90)) t.push_back({.what = role::torn_down, .id = c});
    }
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

  // ---- mutations --------------------------------------------------------------------------------
  void mutate() {
    if (changing_ && chance(40)) return mutate_change();
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
    if (kind == 7)
      paths_.push_back(
          {p.color, random_region(), p.how, p.merges, p.type, p.changes, p.filter, p.phase, p.closed});
    if (kind == 8) p.how = {ports{ramp}, ports{ramp}};
  }
  void mutate_placement(int kind) {
    placement& p = any(placements_);
    if (kind == 9) placements_.erase(placements_.begin() + (&p - placements_.data()));
    if (kind == 10) p.where = random_region();
    if (kind == 11) placements_.push_back({random_region(), p.what, {}});
    if (kind == 12) p.what = placements_[0].what;
    if (kind == 13)
      p.what = finish(tables_.emplace_back(p.what->begin(), p.what->end()), 48 * 1024 + 1 - below(2));
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
  bool changing_;
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
