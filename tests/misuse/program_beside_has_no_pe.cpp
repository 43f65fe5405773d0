// SPDX-License-Identifier: MIT
// A computation beside the tasks can neither send nor read, so it is not given the PE.
// says: what a PE computes beside its tasks is a member function without arguments: void f()
#include <wsl/wsl.hpp>
using namespace wsl;

struct part {
#ifdef WSL_MISUSE
  void compute(pe&) {}
#else
  void compute() {}
#endif
  void go(pe& me) { me.async_compute<&part::compute>(*this, then<&part::done>()); }
  void done(pe&) {}
  using tasks = task_list<launch<&part::go>, local<&part::done>>;
};

constexpr layout alone = layout{wse2, 1, 1}.place<part>(all);

int main() { fabric f{alone}; }
