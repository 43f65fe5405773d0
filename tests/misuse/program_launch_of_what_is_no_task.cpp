// SPDX-License-Identifier: MIT
// Nobody takes what a task returns. says: wsl: a task is a member function of the program that takes the PE
// first and returns void or task: void f.pe& me.
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x = 0;
  void begin(pe&, f32 by, int) { x = by; }
  int answer(pe&) { return 42; }
  using tasks = task_list<launch<&part::begin>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { f.launch<&part::answer>(all); }
#else
void run(fabric& f) { f.launch<&part::begin>(all, 0.5f, 2); }
#endif
