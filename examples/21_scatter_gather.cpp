// SPDX-License-Identifier: MIT
// A scatter and a gather: one PE deals an array out to a rectangle of PEs, each PE works on its block, and
// the first PE collects the results.
#include <wsl/collective/gather.hpp>
#include <wsl/collective/scatter.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
#include <numeric>
using namespace wsl;

constexpr int W = 5, H = 3, N = 4;  // N words for each of W x H PEs
constexpr scatter<i32> deal{.first = 0, .root = {2, 1}};    // colors 0 to 3
constexpr gather<i32> collect{.first = 4, .root = {2, 1}};  // colors 4 to 7

struct worker {
  i32 block[N]{};
  endpoint<deal> dealing;
  endpoint<collect> collecting;

  void start(pe& me) { dealing.start(me, mem(block), then<&worker::square>()); }
  void square(pe& me) {
    mul(mem(block), mem(block), mem(block));
    collecting.start(me, mem(block));
  }
  using tasks = task_list<launch<&worker::start>, use<&worker::dealing>, use<&worker::collecting>,
                          local<&worker::square>>;
};
struct master : worker {  // the root has the whole array as well
  i32 whole[W * H * N]{};

  void start(pe& me) { dealing.start(me, mem(whole), mem(block), then<&master::square>()); }
  void square(pe& me) {
    mul(mem(block), mem(block), mem(block));
    collecting.start(me, mem(block), mem(whole));
  }
  using tasks = task_list<launch<&master::start>, use<&master::dealing>, use<&master::collecting>,
                          local<&master::square>>;
};

layout grid() {
  layout l{wse2, W, H};
  l.place<master>(at(2, 1)).place<worker>(row(0)).place<worker>(rows(2));
  l.place<worker>(row(1).columns(0, 2)).place<worker>(row(1).columns(3));
  return l.wire(deal, collect);
}

int main() {
  fabric f{grid()};
  device d{f};
  std::vector<i32> numbers(W * H * N);
  std::iota(numbers.begin(), numbers.end(), 1);
  d.copy_in(&master::whole, at(2, 1), numbers);
  f.launch();
  int wrong = 0, sum = 0;
  for (int i = 0; i32 x : d.copy_out(&master::whole, at(2, 1)))
    wrong += x != (i + 1) * (i + 1), ++i, sum += x;
  std::printf("the squares of 1 to %d add up to %d; %d are wrong\n", W * H * N, sum, wrong);
  return wrong == 0 ? 0 : 1;
}
