// SPDX-License-Identifier: MIT
// A PE reads at most two colors at a time.
// says: wsl: an operation reads at most two fabric operands
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) {
    me.async(map_each([](f32 a, f32 b, f32 c) { return a + b + c; },
                      mem(x), fabin(red), fabin(blue), fabin(green)));
  }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{}, y[8]{}, s = 0;
  void work(pe& me) {
    me.async(map_each([](f32 a, f32 b) { return a + b; }, mem(x), fabin(red), fabin(blue)));
  }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
