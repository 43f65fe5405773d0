// SPDX-License-Identifier: MIT
// A task works on the memory of its PE. says: wsl: a task is a member function of the program that takes the
// PE first and returns void or task: void f.pe& me.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  static void step(pe&) {}
  using tasks = task_list<local<&part::step>>;
};
#else
struct part {
  void step(pe&) {}
  using tasks = task_list<local<&part::step>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
