// SPDX-License-Identifier: MIT
// Stencils of one cell a PE: what a step costs a PE when all PEs of a small or a large grid take part, and
// what memory the engine needs for each while it runs. A second program, of nine points, sends eight words a
// cell, four of them around a corner; it is compared with what eight hops of single wavelets and one start of
// a task cost in the same run.
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "measure.hpp"
#include "nine_points.hpp"
#include "plate.hpp"

namespace {
using namespace wsl;

/// Requires that cell(x, y) is that of a serial plate after so many steps, for all cells.
template <class Cell>
void require_serial(int width, int height, int steps, Cell cell) {
  bench::serial_plate serial(width, height);
  for (int k = 0; k < steps; ++k) serial.step();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      bench::require(serial.has(x, y, cell(x, y)), "a cell of the plate is wrong");
}

/// A plate that is heated in the middle and takes so many steps at a time.
class plate_steps {
 public:
  plate_steps(int width, int height, int steps)
      : width_(width),
        height_(height),
        steps_(steps),
        fabric_{bench::plate(width, height), bench::on_threads(1)} {
    fabric_.launch<&bench::plate_cell::heat>(at(width / 2, height / 2), 1000.f);
  }
  int run() {
    for (int k = 0; k < steps_; ++k, ++taken_) {
      const outcome done = fabric_.launch<&bench::plate_cell::step>(all);
      bench::require(done.delivered == links(), "the plate lost wavelets");
    }
    return width_ * height_ * steps_;
  }
  void check() {
    require_serial(width_, height_, taken_,
                   [this](int x, int y) { return fabric_.read(x, y, &bench::plate_cell::u); });
  }

 private:
  u64 links() const {
    return 2 * (static_cast<u64>(width_ - 1) * static_cast<u64>(height_) +
                static_cast<u64>(width_) * static_cast<u64>(height_ - 1));
  }
  int width_, height_, steps_, taken_ = 0;
  fabric fabric_;
};

/// The same plate with n x n cells on each PE.
template <int n>
class tiled_plate_steps {
 public:
  tiled_plate_steps(int width, int height, int steps)
      : width_(width),
        height_(height),
        steps_(steps),
        fabric_{bench::plate_of_tiles<n>(width, height), bench::on_threads(1)} {
    const int x = width / 2, y = height / 2;
    fabric_.launch<&bench::plate_tile<n>::heat>(at(x / n, y / n), x % n, y % n, 1000.f);
  }
  int run() {
    for (int k = 0; k < steps_; ++k, ++taken_) fabric_.launch<&bench::plate_tile<n>::step>(all);
    return width_ * height_ * steps_;
  }
  void check() {
    require_serial(width_, height_, taken_, [this](int x, int y) {
      return fabric_.program_at<bench::plate_tile<n>>({x / n, y / n}).cell(x % n, y % n);
    });
  }

 private:
  int width_, height_, steps_, taken_ = 0;
  fabric fabric_;
};

/// Bytes of this process that lie in memory.
double resident() {
  std::ifstream pages("/proc/self/statm");
  double all = 0, in_memory = 0;
  pages >> all >> in_memory;
  return in_memory * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// The memory that a plate needs after some steps, beside the cells' own members.
class plate_bytes {
 public:
  plate_bytes(int width, int height) : width_(width), height_(height) {}

  double run() {
    plate_.reset();
    malloc_trim(0);
    const double before = resident();
    plate_ = std::make_unique<plate_steps>(width_, height_, steps);
    plate_->run();
    return (resident() - before) / (width_ * height_) - sizeof(bench::plate_cell);
  }
  void check() { plate_->check(); }

 private:
  static constexpr int steps = 3;
  int width_, height_;
  std::unique_ptr<plate_steps> plate_;
};

class nine_point_steps {
  template <int px, int py>
  using cell = nine_points::cell<px, py>;

 public:
  explicit nine_point_steps(int steps) : steps_(steps), serial_(width * height) {
    serial_[middle] = 1000;
    fabric_.launch<&cell<0, 0>::heat>(at(width / 2, height / 2), 1000.f);
  }
  int run() {
    for (int k = 0; k < steps_; ++k, ++taken_) {
      fabric_.start<&cell<0, 0>::step>(columns(0, edge, 2).rows(0, edge, 2));
      fabric_.start<&cell<1, 0>::step>(columns(1, edge, 2).rows(0, edge, 2));
      fabric_.start<&cell<0, 1>::step>(columns(0, edge, 2).rows(1, edge, 2));
      fabric_.start<&cell<1, 1>::step>(columns(1, edge, 2).rows(1, edge, 2));
      const outcome done = fabric_.run();
      constexpr u64 sides = 2 * ((width - 1) * height + width * (height - 1)),
                    corners = 4 * (width - 1) * (height - 1);
      bench::require(done.delivered == sides + corners, "the nine points lost wavelets");
    }
    return width * height * steps_;
  }
  void check() {
    for (int k = 0; k < taken_; ++k) serial_step();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const f32 mine = serial_[static_cast<std::size_t>(y * width + x)];
        bench::require(std::abs(mine - read(x, y)) <= 1e-4f * std::abs(mine) + 1e-20f,
                       "a cell of the nine points is wrong");
      }
  }

 private:
  static constexpr int width = 64, height = 48;
  static constexpr std::size_t middle = height / 2 * width + width / 2;

  f32 read(int x, int y) {
    if (y % 2 == 0)
      return x % 2 == 0 ? fabric_.read(x, y, &cell<0, 0>::u) : fabric_.read(x, y, &cell<1, 0>::u);
    return x % 2 == 0 ? fabric_.read(x, y, &cell<0, 1>::u) : fabric_.read(x, y, &cell<1, 1>::u);
  }
  void serial_step() {
    std::vector<f32> next(serial_.size());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        f32 sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
              sum += serial_[static_cast<std::size_t>((y + dy) * width + x + dx)];
        next[static_cast<std::size_t>(y * width + x)] = sum / 9;
      }
    serial_.swap(next);
  }

  int steps_, taken_ = 0;
  std::vector<f32> serial_;
  fabric fabric_{nine_points::plan(width, height), bench::on_threads(1)};
};

using enum bench::unit;
const bool added[] = {
    bench::add<plate_steps>("a step on 20x20, per PE", "wsl", nanoseconds, 3, 20, 20, 500),
    bench::add<plate_steps>("a step on 200x200, per PE", "wsl", nanoseconds, 3, 200, 200, 5),
    bench::add<plate_steps>("a step on 700x700, per PE", "wsl", nanoseconds, 2, 700, 700, 1),
    bench::add<plate_steps>("a step of a plate of 64x48, per cell", "wsl", nanoseconds, 3, 64, 48, 50),
    bench::add<tiled_plate_steps<16>>("a step of a plate of 64x48, per cell", "16x16 a PE", nanoseconds, 3,
                                      64, 48, 500),
    bench::add<plate_bytes>("bytes a PE of a plate, 48x32", "wsl", plain, 1, 48, 32),
    bench::add<plate_bytes>("bytes a PE of a plate, 750x994", "wsl", plain, 1, 750, 994),
    bench::add<nine_point_steps>("nine points on 64x48, per PE", "wsl", nanoseconds, 3, 50),
};

}  // namespace
