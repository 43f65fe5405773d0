// SPDX-License-Identifier: MIT
// Ports and connections: two senders, an adder, a receiver. The floor plan finds the ways and the colors.
#include <wsl/plan/floor_plan.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int N = 6;

struct sender {
  static constexpr auto out = symbolic<f32>(0);
  f32 x[N]{};
  void start(pe& me, f32 first) {
    for (int i = 0; i < N; ++i) x[i] = first + static_cast<f32>(i);
    me.async(mov(fabout(out), mem(x)));
  }
  using tasks = task_list<launch<&sender::start>, sends<out>>;
};
struct adder {
  static constexpr auto x = symbolic<f32>(0), y = symbolic<f32>(1), sum = symbolic<f32>(2);
  void begin(pe& me) { me.async(add(fabout(sum, forever), fabin(x, forever), fabin(y, forever))); }
  using tasks = task_list<local<&adder::begin, active>, reads<x, y>, sends<sum>>;
};
struct receiver {
  static constexpr auto in = symbolic<f32>(0);
  f32 x[N]{};
  task start(pe&) { co_await mov(mem(x), fabin(in)); }
  using tasks = task_list<launch<&receiver::start>, reads<in>>;
};

constexpr floor_plan planned() {
  floor_plan p{wse2, 12, 7};
  const auto a = p.region<sender>("a", 1, 1), b = p.region<sender>("b", 1, 1),
             s = p.region<adder>("sum", 1, 1), r = p.region<receiver>("result", 1, 1);
  p.place(a, {1, 1}).place(b, {1, 5}).place(s, {5, 3}).place(r, {10, 2});
  p.connect(a.output(sender::out, east), s.input(adder::x, west));
  p.connect(b.output(sender::out, east), s.input(adder::y, west));
  p.connect(s.output(adder::sum, east), r.input(receiver::in, west));
  return p;
}
constexpr layout plan = planned().connected();
static_assert(routed<plan>());

int main() {
  std::printf("%s", planned().table().c_str());
  fabric f{plan};
  f.start<&sender::start>(at(1, 1), 1.f);
  f.start<&sender::start>(at(1, 5), 100.f);
  f.start<&receiver::start>(at(10, 2));
  f.run();
  bool right = true;
  for (int i = 0; i < N; ++i) {
    const f32 x = f.program_at<receiver>({10, 2}).x[i];
    right = right && x == static_cast<f32>(101 + 2 * i);
    std::printf("%5g", x);
  }
  std::printf("\n");
  return right ? 0 : 1;
}
