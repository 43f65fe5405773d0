// SPDX-License-Identifier: MIT
// One cell of a heat equation a PE, as in examples/09_heat_stencil.cpp: the smallest program of which a whole
// wafer has work. In a step each PE sends one word to each neighbour and takes one from each.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>
#include <wsl/collective/neighbours.hpp>
#include <wsl/kernel/stencil/side_exchange.hpp>
#include <wsl/wsl.hpp>

namespace bench {

inline constexpr wsl::neighbours<wsl::f32> halo{0};

struct plate_cell {
  wsl::f32 u = 0, around[5]{};
  int heard = 0;

  void heat(wsl::pe&, wsl::f32 x) { u = x; }
  void step(wsl::pe& me) { halo.send(me, u); }
  void hear(wsl::pe& me, wsl::f32 v, wsl::port from) {
    around[index_of(from)] = v;
    if (++heard < halo.degree(me)) return;
    wsl::f32 flow = 0;
    for (wsl::port side : wsl::every_side)
      if (!halo.edge(me, side)) flow += around[index_of(side)] - u;
    u += 0.2f * flow;
    heard = 0;
  }

  using tasks = wsl::task_list<wsl::launch<&plate_cell::heat>, wsl::launch<&plate_cell::step>,
                               wsl::on<halo, &plate_cell::hear>, wsl::sends<halo>>;
};

inline wsl::layout plate(int width, int height) {
  wsl::layout l{wsl::wse2, width, height};
  l.place<plate_cell>(wsl::all);
  halo.wire(l);
  return l;
}

/// n x n cells of the plate on each PE: a step sends n words to each neighbour, and a border line costs as
/// much as a cell alone.
template <int n>
struct plate_tile {
  using line = std::array<wsl::f32, std::size_t{n}>;
  std::array<line, std::size_t{n}> u{}, next{};  // rows
  line out[5]{}, in[5]{};                        // by side
  wsl::side_exchange<halo, plate_tile> sides;

  void heat(wsl::pe&, int x, int y, wsl::f32 to) { cell(x, y) = to; }
  void step(wsl::pe& me) {
    for (int k = 0; k < n; ++k)
      for (wsl::port side : wsl::every_side)
        out[index_of(side)][static_cast<std::size_t>(k)] = border(side, k);
    sides.start(me, *this, wsl::then<&plate_tile::compute>());
  }
  std::span<wsl::f32> outgoing(wsl::port side, int i) { return piece(out[index_of(side)], i); }
  std::span<wsl::f32> incoming(wsl::port side, int i) { return piece(in[index_of(side)], i); }

  void compute(wsl::pe& me) {
    // beyond the edge of the plate it is as warm as within
    for (wsl::port side : wsl::every_side)
      if (me.edge(side)) in[index_of(side)] = out[index_of(side)];
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const wsl::f32 flow = (at(x + 1, y) - cell(x, y)) + (at(x - 1, y) - cell(x, y)) +
                              (at(x, y - 1) - cell(x, y)) + (at(x, y + 1) - cell(x, y));
        next[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = cell(x, y) + 0.2f * flow;
      }
    u.swap(next);
  }
  wsl::f32& cell(int x, int y) { return u[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]; }

  using tasks = wsl::task_list<wsl::launch<&plate_tile::heat>, wsl::launch<&plate_tile::step>,
                               wsl::local<&plate_tile::compute>, wsl::use<&plate_tile::sides>>;

 private:
  static std::span<wsl::f32> piece(line& of, int i) { return i == 0 ? std::span(of) : std::span<wsl::f32>{}; }
  wsl::f32 border(wsl::port side, int k) {
    return side == wsl::east    ? cell(n - 1, k)
           : side == wsl::west  ? cell(0, k)
           : side == wsl::north ? cell(k, 0)
                                : cell(k, n - 1);
  }
  wsl::f32 received(wsl::port side, int k) const { return in[index_of(side)][static_cast<std::size_t>(k)]; }
  wsl::f32 at(int x, int y) {
    return x == n   ? received(wsl::east, y)
           : x < 0  ? received(wsl::west, y)
           : y < 0  ? received(wsl::north, x)
           : y == n ? received(wsl::south, x)
                    : cell(x, y);
  }
};

template <int n>
wsl::layout plate_of_tiles(int width, int height) {
  wsl::layout l{wsl::wse2, width / n, height / n};
  l.place<plate_tile<n>>(wsl::all);
  halo.wire(l);
  return l;
}

/// The same plate in one array.
class serial_plate {
 public:
  serial_plate(int width, int height) : width_(width), height_(height), u_(size()), next_(size()) {
    u_[middle()] = 1000;
  }
  void step() {
    const std::size_t w = static_cast<std::size_t>(width_);
    for (std::size_t i = 0; i < size(); ++i) {
      const std::size_t x = i % w, y = i / w;
      wsl::f32 flow = 0;
      if (x + 1 < w) flow += u_[i + 1] - u_[i];
      if (x > 0) flow += u_[i - 1] - u_[i];
      if (y > 0) flow += u_[i - w] - u_[i];
      if (i + w < size()) flow += u_[i + w] - u_[i];
      next_[i] = u_[i] + 0.2f * flow;
    }
    u_.swap(next_);
  }
  /// Whether a cell holds what a PE has computed, but for the last bits.
  bool has(int x, int y, wsl::f32 value) const {
    const wsl::f32 mine = u_[static_cast<std::size_t>(y * width_ + x)];
    return std::abs(mine - value) <= 1e-4f * std::abs(mine) + 1e-20f;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_); }
  std::size_t middle() const { return static_cast<std::size_t>(height_ / 2 * width_ + width_ / 2); }

  int width_, height_;
  std::vector<wsl::f32> u_, next_;
};

}  // namespace bench
