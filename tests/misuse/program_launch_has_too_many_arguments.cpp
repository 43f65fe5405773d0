// SPDX-License-Identifier: MIT
// The task takes two arguments.
// says: wsl: the arguments of a launch are those of the task after the PE, in number and type
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x = 0;
  void begin(pe&, f32 by, int) { x = by; }
  int answer(pe&) { return 42; }
  using tasks = task_list<launch<&part::begin>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { f.launch<&part::begin>(all, 0.5f, 2, 3); }
#else
void run(fabric& f) { f.launch<&part::begin>(all, 0.5f, 2); }
#endif
