// SPDX-License-Identifier: MIT
// An array is named with mem: alone it would be the address of its first element. says: wsl: the destination
// of an operation is mem.array., fabout.color. or the address of a scalar: mov.&y, 0.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { mov(y, 0); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { mov(mem(y), 0); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
