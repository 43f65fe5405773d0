// SPDX-License-Identifier: MIT
// A code region is a rectangle of PEs with a name and a program. A floor plan gives it a place.
#include <wsl/plan/floor_plan.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

template <i32 parameter>
struct cell {
  i32 result = 0;
  void compute(pe& me) { result = parameter + me.x(); }
  using tasks = task_list<launch<&cell::compute>>;
};

constexpr layout plan = [] {
  floor_plan p{wse2, 6, 3};
  return p.place(p.region<cell<40>>("cells", 2, 1), {2, 1}).connected();
}();

int main() {
  fabric f{plan};
  f.launch<&cell<40>::compute>(row(1).columns(2, 4));
  const i32 a = f.read(2, 1, &cell<40>::result), b = f.read(3, 1, &cell<40>::result);
  std::printf("%d %d\n", a, b);
  return a == 42 && b == 43 ? 0 : 1;
}
