// SPDX-License-Identifier: MIT
// Symbolic colors: a program numbers its colors, and a floor plan gives them colors of the fabric. Inside of
// a region, paths are laid as in a layout, in coordinates of the region. The two regions run one program.
#include <wsl/plan/floor_plan.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

struct teller {
  static constexpr auto word = symbolic<i32>(0), echo = symbolic<i32>(1);
  i32 heard = 0, answered = 0;
  void tell(pe& me, i32 x) { me.send(word, x); }
  void hear(pe& me, i32 x) {
    heard = x;
    me.send(echo, 10 * x);
  }
  void answer(pe&, i32 x) { answered = x; }
  using tasks =
      task_list<launch<&teller::tell>, on<word, &teller::hear>, on<echo, &teller::answer>, sends<word, echo>>;
};

constexpr floor_plan two_rows() {
  floor_plan p{wse2, 5, 4};
  for (const int y : {0, 2}) {
    const auto r = p.region<teller>("a row", 4, 1);
    p.place(r, {0, y});
    p.path(r, teller::word, column(0), ramp >> east)
        .path(r, teller::word, columns(1, edge - 1), west >> east);
    p.path(r, teller::word, column(edge - 1), west >> ramp);
    p.path(r, teller::echo, column(edge - 1), ramp >> west)
        .path(r, teller::echo, columns(1, edge - 1), east >> west);
    p.path(r, teller::echo, column(0), east >> ramp);
  }
  return p;
}
constexpr layout plan = two_rows().connected();
static_assert(routed<plan>());

int main() {
  fabric f{plan};
  for (const int y : {0, 2}) f.launch<&teller::tell>(at(0, y), y + 1);
  bool right = true;
  for (const int y : {0, 2}) {
    const teller &first = f.program_at<teller>({0, y}), &last = f.program_at<teller>({3, y});
    std::printf("row %d: %d, and back %d\n", y, last.heard, first.answered);
    right = right && last.heard == y + 1 && first.answered == 10 * (y + 1);
  }
  return right ? 0 : 1;
}
