// SPDX-License-Identifier: MIT
// The Mandelbrot set in a pipeline: each row of PEs computes some rows of pixels. The first PE of a row
// begins with each pixel and iterates a few times; the others go on where the one before them stopped; the
// numbers of iterations leave the fabric in the east.
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr lane<f32> right{.first = 0, .toward = east, .ends = lane_ends::to_host};

struct point {  // z after some iterations of z² + c, and how many there were until |z| reached 2
  f32 re = 0, im = 0, iterations = 0;

  void iterate(f32 c_re, f32 c_im, int times) {
    for (int i = 0; i < times && re * re + im * im < 4; ++i) {
      const f32 next = re * re - im * im + c_re;
      im = 2 * re * im + c_im, re = next, ++iterations;
    }
  }
};

// A row of PEs computes rows x columns pixels of the picture; a PE does at most `iterations` for each pixel.
template <int rows, int columns, int iterations>
struct stage {
  f32 packet[3]{};

  task run(pe& me) {
    for (int i = 0; i < rows * columns; ++i) {
      const f32 c_re = 3.f * static_cast<f32>(i % columns) / (columns - 1) - 2;
      const f32 c_im =
        3.f * static_cast<f32>(me.y() * rows + i / columns) / static_cast<f32>(me.height() * rows - 1) - 1.5f;
      if (me.west_edge()) mov(mem(packet), 0);
      else co_await mov(mem(packet), right.fabin(me));
      point z{packet[0], packet[1], packet[2]};
      z.iterate(c_re, c_im, iterations);
      packet[0] = z.re, packet[1] = z.im, packet[2] = z.iterations;
      co_await mov(right.fabout(me), mem(packet));
    }
  }
  using tasks = task_list<launch<&stage::run>, reads<right>, sends<right>>;
};

template <int width, int height, int rows, int columns, int iterations>
int wrong(bool show) {
  layout l{wse2, width, height};
  l.place<stage<rows, columns, iterations>>(all).wire(right);
  fabric f{l};
  device d{f};
  std::vector<f32> packets(3 * height * rows * columns);
  f.start();
  d.stream_out(right.exit(l), packets);

  int differ = 0;
  for (int y = 0; y < height * rows; ++y, show && std::puts(""))
    for (int x = 0; x < columns; ++x) {
      point z;
      z.iterate(3.f * static_cast<f32>(x) / (columns - 1) - 2,
                3.f * static_cast<f32>(y) / (height * rows - 1) - 1.5f, width * iterations);
      const f32 n = packets[static_cast<std::size_t>((y * columns + x) * 3 + 2)];
      differ += n != z.iterations;
      if (show)
        std::putchar(
          ".,:;-=+*#@"[n == width * iterations ? 9 : static_cast<int>(n) * 9 / (width * iterations)]);
    }
  return differ;
}

int main() {
  const int differ = wrong<4, 4, 6, 64, 8>(true) + wrong<5, 3, 5, 16, 2>(false);
  std::printf("%d pixels differ from those of a serial loop\n", differ);
  return differ == 0 ? 0 : 1;
}
