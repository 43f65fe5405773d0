// SPDX-License-Identifier: MIT
// fmac multiplies by one number.
// says: wsl: the last operand of fmac is a scalar; map_each takes any function
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { fmac(mem(y), mem(y), mem(x), mem(x)); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe&) { fmac(mem(y), mem(y), mem(x), s); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
