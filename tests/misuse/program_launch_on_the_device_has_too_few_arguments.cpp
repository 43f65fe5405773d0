// SPDX-License-Identifier: MIT
// The device checks the arguments of a launch as the fabric does.
// says: wsl: the arguments of a launch are those of the task after the PE, in number and type
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x = 0;
  void begin(pe&, f32 by, int) { x = by; }
  int answer(pe&) { return 42; }
  using tasks = task_list<launch<&part::begin>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { device{f}.launch<&part::begin>(all, 0.5f); }
#else
void run(fabric& f) { device{f}.launch<&part::begin>(all, 0.5f, 2); }
#endif
