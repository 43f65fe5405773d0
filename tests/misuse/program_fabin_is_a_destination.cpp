// SPDX-License-Identifier: MIT
// Wavelets that arrive cannot be written.
// says: wsl: fabin is a source: the destination of an operation is memory, fabout or a scalar's address
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) { me.async(mov(fabin(red), mem(x))); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) { me.async(mov(fabout(red), mem(x))); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
