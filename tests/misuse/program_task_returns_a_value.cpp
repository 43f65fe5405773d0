// SPDX-License-Identifier: MIT
// Nobody takes what a task returns. says: wsl: a task is a member function of the program that takes the PE
// first and returns void or task: void f.pe& me.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  int hear(pe&, f32) { return 1; }
  using tasks = task_list<on<red, &part::hear>>;
};
#else
struct part {
  void hear(pe&, f32) {}
  using tasks = task_list<on<red, &part::hear>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
