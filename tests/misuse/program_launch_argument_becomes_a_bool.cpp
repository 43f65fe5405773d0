// SPDX-License-Identifier: MIT
// 0.3 would be true.
// says: wsl: the arguments of a launch are those of the task after the PE, in number and type;
// says: a floating-point number becomes a whole one, and any number a bool, only by a cast
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  bool on_time = false;
  void set(pe&, bool b) { on_time = b; }
  using tasks = task_list<launch<&part::set>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { f.launch<&part::set>(all, 0.3); }
#else
void run(fabric& f) { f.launch<&part::set>(all, true); }
#endif
