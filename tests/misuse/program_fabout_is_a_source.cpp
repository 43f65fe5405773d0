// SPDX-License-Identifier: MIT
// Wavelets that leave cannot be read.
// says: wsl: fabout is a destination: the sources of an operation are memory, fabin or scalars
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) { me.async(mov(mem(x), fabout(red))); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) { me.async(mov(mem(x), fabin(red))); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
