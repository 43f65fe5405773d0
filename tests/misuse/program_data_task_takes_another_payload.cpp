// SPDX-License-Identifier: MIT
// A wavelet of red is a float.
// says: wsl: the task's parameter must be the payload of its color: void f.pe& me, f32 x. for a color<f32>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  void hear(pe&, i32) {}
  using tasks = task_list<on<red, &part::hear>>;
};
#else
struct part {
  void hear(pe&, f32) {}
  using tasks = task_list<on<red, &part::hear>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
