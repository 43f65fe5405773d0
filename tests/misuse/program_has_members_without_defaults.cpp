// SPDX-License-Identifier: MIT
// The fabric makes the memory of every PE.
// says: wsl: the members of a PE program have default values: f32 x = 0;
#include <wsl/wsl.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
struct part {
  f32& x;
  void start(pe&) {}
  using tasks = task_list<launch<&part::start>>;
};
#else
struct part {
  f32 x = 0;
  void start(pe&) {}
  using tasks = task_list<launch<&part::start>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
