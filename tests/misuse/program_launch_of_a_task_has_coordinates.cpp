// SPDX-License-Identifier: MIT
// f.launch(0, 0) takes coordinates, and so they are tried with a named task as well.
// says: wsl: the launch of a named task takes an area, then the task's arguments: f.launch<
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  void go(pe&) {}
  using tasks = task_list<launch<&part::go>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { f.launch<&part::go>(0, 0); }
void run(device& d) { d.launch<&part::go>(0, 0); }
#else
void run(fabric& f) { f.launch<&part::go>(at(0, 0)); }
void run(device& d) { d.launch<&part::go>(at(0, 0)); }
#endif
