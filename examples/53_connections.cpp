// SPDX-License-Identifier: MIT
// Programs anywhere on the grid, and a function that routes a color from one to another: first along the row,
// then along the column.
#include <wsl/wsl.hpp>
#include <cstdio>
using namespace wsl;

constexpr color<u16> left{0}, right{1}, sum{2};

constexpr void connect(layout& l, color<u16> c, coord from, coord to) {
  port came = ramp, next = ramp;
  for (; from != to; from = from + step(next), came = opposite(next)) {
    next = from.x < to.x ? east : from.x > to.x ? west : from.y < to.y ? south : north;
    l.path(c, at(from.x, from.y), came >> next);
  }
  l.path(c, at(to.x, to.y), came >> ramp);
}

template <color<u16> out, std::size_t size>
struct sender {
  u16 data[size]{};
  void send(pe& me) {
    for (u16 next = 1; u16& word : data) word = next++;
    me.async(mov(fabout(out), mem(data)));
  }
  using tasks = task_list<local<&sender::send, active>, sends<out>>;
};
template <std::size_t size>
struct adder {
  void add_up(pe& me) { me.async(add(fabout(sum, size), fabin(left, size), fabin(right, size))); }
  using tasks = task_list<local<&adder::add_up, active>, reads<left, right>, sends<sum>>;
};
template <std::size_t size>
struct receiver {
  u16 data[size]{};
  void receive(pe& me) { me.async(mov(mem(data), fabin(sum))); }
  using tasks = task_list<local<&receiver::receive, active>, reads<sum>>;
};

template <std::size_t size>
int wrong(coord first, coord second, coord third, coord fourth) {
  layout l{wse2, 9, 9};
  l.place<sender<left, size>>(at(first.x, first.y));
  l.place<sender<right, size>>(at(second.x, second.y));
  l.place<adder<size>>(at(third.x, third.y));
  l.place<receiver<size>>(at(fourth.x, fourth.y));
  connect(l, left, first, third), connect(l, right, second, third), connect(l, sum, third, fourth);
  fabric f{l};
  f.run();
  int differ = 0;
  for (int i = 0; u16 x : f.program_at<receiver<size>>(fourth).data) differ += x != 2 * ++i;
  return differ;
}

int main() {
  std::printf("of 510 sums %d are wrong\n",
              wrong<10>({2, 2}, {4, 7}, {7, 4}, {3, 3}) + wrong<500>({8, 0}, {0, 8}, {1, 1}, {5, 0}));
}
