// SPDX-License-Identifier: MIT
// An array is named with mem.
// says: wsl: a source of an operation is mem.array., fabin.color. or a number of the destination's type
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { add(mem(y), mem(y), x); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { add(mem(y), mem(y), mem(x)); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
