// SPDX-License-Identifier: MIT
// A wavelet winds through the grid like a snake: east along the even rows, west along the odd ones. Areas
// name the PEs. Their bounds count from the west or north edge, or back from `edge`; a third number is a
// stride; and `columns(...).rows(...)` is the intersection of the two.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

// The width is even, so that the two programs alternate all along the snake.
constexpr int width = 6, height = 4;
constexpr color<i32> red{0}, blue{1};

template <color<i32> in, color<i32> out>
struct segment {
  i32 place = 0;

  void begin(pe& me) { me.send(out, 1); }
  void visit(pe& me, i32 n) {
    place = n;
    if (n + 1 < me.width() * me.height()) me.send(out, n + 1);
  }

  using tasks = task_list<launch<&segment::begin>, on<in, &segment::visit>, sends<out>>;
};
using even = segment<blue, red>;
using odd = segment<red, blue>;

constexpr area eastward = rows(0, edge, 2), westward = rows(1, edge, 2);

constexpr layout snake = layout{wse2, width, height}
  .place<even>(eastward.columns(0, edge, 2))
  .place<odd>(eastward.columns(1, edge, 2))
  .place<even>(westward.columns(1, edge, 2))
  .place<odd>(westward.columns(0, edge, 2))
  // Along the rows.
  .path(red,  eastward.columns(0, edge, 2),      ramp >> east)
  .path(red,  eastward.columns(1, edge, 2),      west >> ramp)
  .path(blue, eastward.columns(1, edge - 1, 2),  ramp >> east)
  .path(blue, eastward.columns(2, edge, 2),      west >> ramp)
  .path(red,  westward.columns(1, edge, 2),      ramp >> west)
  .path(red,  westward.columns(0, edge, 2),      east >> ramp)
  .path(blue, westward.columns(2, edge, 2),      ramp >> west)
  .path(blue, westward.columns(1, edge - 1, 2),  east >> ramp)
  // From row to row: the last PE of a row is an odd one, the first of the next an even one.
  .path(blue, eastward.column(edge - 1),                    ramp >> south)
  .path(blue, westward.column(edge - 1),                    north >> ramp)
  .path(blue, column(0).rows(1, edge - 1, 2),               ramp >> south)
  .path(blue, column(0).rows(2, edge, 2),                   north >> ramp);
static_assert(routed<snake>());

int main() {
  fabric f{snake};
  f.launch(0, 0);
  int wrong = 0;
  for (int y = 0; y < height; ++y, std::printf("\n"))
    for (int x = 0; x < width; ++x) {
      const i32 place = (x + y) % 2 ? f.read(x, y, &odd::place) : f.read(x, y, &even::place);
      std::printf("%4d", place);
      wrong += place != y * width + (y % 2 ? width - 1 - x : x);
    }
  return wrong == 0 ? 0 : 1;
}
