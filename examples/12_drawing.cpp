// SPDX-License-Identifier: MIT
// A layout can be drawn before it is checked or run: the programs on the grid with a table of the colors, and
// the routes of one color. With a file name as its argument, as in `12_drawing turn.svg`, this program also
// draws the routes into that file.
#include <wsl/layout/draw.hpp>
#include <wsl/layout/draw/layout_svg.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <fstream>
using namespace wsl;

constexpr color<f32> supply{0}, result{1};

struct spring {
  void flow(pe& me) { me.send(supply, 1.f); }
  using tasks = task_list<launch<&spring::flow>, sends<supply>>;
};
struct mill {
  void grind(pe& me, f32 x) { me.send(result, 2 * x); }
  using tasks = task_list<on<supply, &mill::grind>, sends<result>>;
};

// A spring in the corner feeds mills along the south edge; the results leave at the east edge. The small
// valley fits a screen; the other one covers a whole wafer and is drawn with gaps.
layout valley(int width, int height) {
  layout l{wse2, width, height};
  l.place<spring>(at(0, 0)).place<mill>(row(edge - 1).columns(1));
  l.path(supply, at(0, 0), ramp >> east);
  l.path(supply, row(0).columns(1, edge - 1), west >> (east | south));
  l.path(supply, at(edge - 1, 0), west >> south);
  l.path(supply, rows(1, edge - 1).columns(1), north >> south);
  l.path(supply, row(edge - 1).columns(1), north >> ramp);
  l.path(result, at(1, edge - 1), ramp >> east);
  l.path(result, row(edge - 1).columns(2), (ramp | west) >> east, merges);
  l.stream_out(result, at(edge - 1, edge - 1), east);
  return l;
}

int main(int argc, char** argv) {
  const layout small = valley(6, 4), wafer = valley(750, 994);
  for (const std::string& text : {draw(small), draw(small, supply), draw(small, result), draw(wafer, supply)})
    std::printf("%s\n", text.c_str());
  if (check(small).found() || check(wafer).found())
    return std::printf("%s%s", explain(small).c_str(), explain(wafer).c_str()), 1;
  if (argc > 1 && !(std::ofstream(argv[1]) << draw_svg(small)))
    return std::printf("cannot write %s\n", argv[1]), 1;
}
