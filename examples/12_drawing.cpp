// SPDX-License-Identifier: MIT
// A layout can be drawn before it is checked or run: the programs on the grid with a table of the colors, and the routes of one
// color. With the name of a file, as in `12_drawing turn.svg`, the routes are drawn into it as a picture.
#include <wsl/layout/draw.hpp>
#include <wsl/layout/draw/layout_svg.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <fstream>
using namespace wsl;

constexpr color<f32> supply{0}, result{1};

struct spring {
  void flow(pe& me) { me.send(supply, 1.f); }
  static consteval auto tasks() { return table(launch<&spring::flow>(), sends<supply>()); }
};
struct mill {
  void grind(pe& me, f32 x) { me.send(result, 2 * x); }
  static consteval auto tasks() { return table(on<supply, &mill::grind>(), sends<result>()); }
};

// One spring in the corner; mills along the south edge; results leave at the east edge.
// The small one fits a screen; the other one is the whole wafer, drawn with gaps.
layout valley(int width, int height) {
  layout l{wse2, width, height};
  l.place(at(0, 0), program_v<spring>).place(row(end - 1).columns(1), program_v<mill>);
  l.path(supply, at(0, 0), ramp >> east);
  l.path(supply, row(0).columns(1, end - 1), west >> (east | south));
  l.path(supply, at(end - 1, 0), west >> south);
  l.path(supply, rows(1, end - 1).columns(1), north >> south);
  l.path(supply, row(end - 1).columns(1), north >> ramp);
  l.path(result, at(1, end - 1), ramp >> east);
  l.path(result, row(end - 1).columns(2), (ramp | west) >> east, merge);
  l.stream_out(result, at(end - 1, end - 1), east);
  return l;
}

int main(int argc, char** argv) {
  const layout small = valley(6, 4), wafer = valley(750, 994);
  for (const std::string& text : {draw(small), draw(small, supply), draw(small, result), draw(wafer, supply)})
    std::printf("%s\n", text.c_str());
  if (check(small).found() || check(wafer).found()) return std::printf("%s%s", explain(small).c_str(), explain(wafer).c_str()), 1;
  if (argc > 1 && !(std::ofstream(argv[1]) << draw_svg(small))) return std::printf("cannot write %s\n", argv[1]), 1;
}
