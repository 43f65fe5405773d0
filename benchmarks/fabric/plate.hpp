// SPDX-License-Identifier: MIT
// One cell of a heat equation a PE, as in examples/09_heat_stencil.cpp: the smallest program of which a whole
// wafer has work. In a step each PE sends one word to each neighbour and takes one from each.
#pragma once
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>
#include <wsl/collective/neighbours.hpp>
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
