// SPDX-License-Identifier: MIT
// 2.5 would be 2.
// says: wsl: the arguments of a launch are those of the task after the PE, in number and type;
// says: a floating-point number becomes a whole one
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  int n = 0;
  void set(pe&, int to) { n = to; }
  using tasks = task_list<launch<&part::set>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { f.launch<&part::set>(all, 2.5); }
#else
void run(fabric& f) { f.launch<&part::set>(all, 2u); }
#endif
