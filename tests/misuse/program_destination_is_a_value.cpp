// SPDX-License-Identifier: MIT
// A scalar destination is named by its address. says: wsl: the destination of an operation is mem.array.,
// fabout.color. or the address of a scalar: mov.&y, 0.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { add(s, 0, mem(x)); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { add(&s, 0, mem(x)); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
