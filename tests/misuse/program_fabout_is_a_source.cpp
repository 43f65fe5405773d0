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
  static consteval auto tasks() { return table(launch<&part::work>(), reads<red>(), reads<blue>(), reads<green>(), sends<red>()); }
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) { me.async(mov(mem(x), fabin(red))); }
  static consteval auto tasks() { return table(launch<&part::work>(), reads<red>(), reads<blue>(), reads<green>(), sends<red>()); }
};
#endif
