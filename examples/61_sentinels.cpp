// SPDX-License-Identifier: MIT
// Control wavelets run tasks. In a row, numbers stream to a PE that adds them up; it need not know how many
// there are, because a sentinel follows the last one and runs the PE's task `finish`. Around the hub, every
// control wavelet brings a neighbour 16 bits for its task `greet`, and on its way it turns the hub's switch:
// the next one goes to the next neighbour.
#include <wsl/host/device.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <numeric>
#include <vector>
using namespace wsl;

constexpr int end_of_stream = 7, greeting = 40;  // ids of control tasks
constexpr color<f32> numbers{0}, sums{1};
constexpr color<u16> post{2};

struct sender {
  int missing = 0;
  void expect(pe&, int n) { missing = n; }
  void pass(pe& me, f32 x) {
    me.send(sums, x);
    if (--missing == 0) me.send_control(sums, end_of_stream);
  }
  using tasks = task_list<launch<&sender::expect>, on<numbers, &sender::pass>, sends<sums>>;
};
struct adder {
  f32 sum = 0, result = 0;
  void add_up(pe&, f32 x) { sum += x; }
  void finish(pe&) { result = sum, sum = 0; }
  using tasks = task_list<on<sums, &adder::add_up>, control<end_of_stream, &adder::finish>>;
};
constexpr layout pair = layout{wse2, 2, 1}
  .place<sender>(column(0)).place<adder>(column(1))
  .path(numbers, column(0), west >> ramp).stream_in(numbers, column(0), west)
  .path(sums, column(0), ramp >> east).path(sums, column(1), west >> ramp);
static_assert(routed<pair>());

struct hub {
  void greet_all(pe& me, int rounds) {
    for (u16 i = 0; i < 4 * rounds; ++i)
      me.send_control(post, {switch_adv}, greeting, static_cast<u16>(2 * i));
  }
  using tasks = task_list<launch<&hub::greet_all>, sends<post>, steers<post, switch_adv>>;
};
struct neighbour {
  int heard = 0;
  void greet(pe&, u16 data) { heard += data; }
  using tasks = task_list<control<greeting, &neighbour::greet>, reads<post>>;
};
constexpr layout cross = layout{wse2, 3, 3}
  .place<hub>(at(1, 1))
  .place<neighbour>(row(1).columns(0, edge, 2)).place<neighbour>(column(1).rows(0, edge, 2))
  .path(post, at(1, 1), ramp >> west,
        switches{.pos1 = {.to = east}, .pos2 = {.to = south}, .pos3 = {.to = north}, .ring = true})
  .path(post, at(0, 1), east >> ramp).path(post, at(2, 1), west >> ramp)
  .path(post, at(1, 2), north >> ramp).path(post, at(1, 0), south >> ramp);
static_assert(routed<cross>());

int main() {
  fabric f{pair}, g{cross};
  device d{f};
  bool right = true;
  for (int n : {10, 1000}) {
    std::vector<f32> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 1.f);
    d.launch<&sender::expect>(column(0), n);
    d.stream_in(numbers, x), d.run();
    right &= f.read(1, 0, &adder::result) == static_cast<f32>(n * (n + 1) / 2);
    std::printf("1 + ... + %d = %g\n", n, f.read(1, 0, &adder::result));
  }
  for (int sum = 0, greetings = 0; int rounds : {1, 5}) {  // of 2 k, 2 k + 8, 2 k + 16, ... for neighbour k
    g.launch<&hub::greet_all>(at(1, 1), rounds), greetings += rounds, sum += 4 * rounds * (rounds - 1);
    for (int k = 0; const coord c : {coord{0, 1}, {2, 1}, {1, 2}, {1, 0}}) {
      right &= g.read(c.x, c.y, &neighbour::heard) == sum + 2 * k++ * greetings;
      std::printf("%4d", g.read(c.x, c.y, &neighbour::heard));
    }
  }
  std::printf("\n%s\n", right ? "as the serial sums" : "wrong");
  return right ? 0 : 1;
}
