// SPDX-License-Identifier: MIT
// A task is given its PE. says: wsl: a task is a member function of the program that takes the PE first and
// returns void or task: void f.pe& me.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  void start(f32) {}
  using tasks = task_list<launch<&part::start>>;
};
#else
struct part {
  void start(pe&, f32) {}
  using tasks = task_list<launch<&part::start>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
