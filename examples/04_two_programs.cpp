// SPDX-License-Identifier: MIT
// Two programs in one layout: sensors fill the grid except for its last column, where collectors listen. The
// wavelets of a row merge on their way east; `merges` declares that this is intended. A payload of two 16-bit
// halves carries a value and an index, and the task takes both as arguments.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int width = 8, height = 3;
constexpr color<halves<i16>> readings{0};

struct sensor {
  void measure(pe& me) {
    const int value = 10 * me.y() - me.x();
    me.send(readings, {static_cast<i16>(value), static_cast<u16>(me.x())});
  }
  using tasks = task_list<launch<&sensor::measure>, sends<readings>>;
};

struct collector {
  i16 of[width]{};
  void collect(pe&, i16 value, u16 from) { of[from] = value; }
  using tasks = task_list<on<readings, &collector::collect>>;
};

constexpr layout survey = layout{wse2, width, height}
  .place<sensor>(columns(0, edge - 1))
  .place<collector>(column(edge - 1))
  .path(readings, column(0),            ramp >> east)
  .path(readings, columns(1, edge - 1), (ramp | west) >> east, merges)
  .path(readings, column(edge - 1),     west >> ramp);
static_assert(routed<survey>());

int main() {
  fabric f{survey};
  f.launch(columns(0, edge - 1));
  int wrong = 0;
  for (int y = 0; y < height; ++y, std::printf("\n"))
    for (int x = 0; x < width - 1; ++x) {
      const int value = f.program_at<collector>({width - 1, y}).of[x];
      std::printf("%4d", value);
      wrong += value != 10 * y - x;
    }
  return wrong == 0 ? 0 : 1;
}
