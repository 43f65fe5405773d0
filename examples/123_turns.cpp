// SPDX-License-Identifier: MIT
// Turns: three sensors have one way each to a recorder, and one color. A switch at the recorder lets one of
// them through, until its control wavelet gives the turn to the next; whoever is early waits in the routers.
#include <wsl/plan/floor_plan.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

struct sensor {
  static constexpr auto out = symbolic<f32>(0);
  void measure(pe& me, f32 first) {
    for (int i = 0; i < 3; ++i) me.send(out, first + static_cast<f32>(i));
    me.send_control(out, switch_adv);
  }
  using tasks = task_list<launch<&sensor::measure>, sends<out>, steers<out, switch_adv>>;
};
struct recorder {
  static constexpr auto in = symbolic<f32>(0);
  std::vector<f32> heard;
  void hear(pe&, f32 x) { heard.push_back(x); }
  using tasks = task_list<on<in, &recorder::hear>>;
};

constexpr floor_plan planned() {
  floor_plan p{wse2, 9, 7};
  const auto a = p.region<sensor>("a", 1, 1), b = p.region<sensor>("b", 1, 1),
             c = p.region<sensor>("c", 1, 1), r = p.region<recorder>("recorder", 1, 1);
  p.place(a, {1, 1}).place(b, {8, 2}).place(c, {5, 6}).place(r, {4, 3});
  for (const code_region& s : {a, b, c})
    p.connect(s.output(sensor::out, all), r.input(recorder::in, all), by_turns);
  return p;
}
constexpr layout plan = planned().connected();
static_assert(routed<plan>());

int main() {
  std::printf("%s", planned().table().c_str());
  fabric f{plan};
  f.start<&sensor::measure>(at(5, 6), 300.f);
  f.start<&sensor::measure>(at(8, 2), 200.f);
  f.start<&sensor::measure>(at(1, 1), 100.f);
  f.run();
  for (const f32 x : f.program_at<recorder>({4, 3}).heard) std::printf("%.0f ", x);
  std::printf("\n");
}
