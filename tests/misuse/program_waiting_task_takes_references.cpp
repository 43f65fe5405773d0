// SPDX-License-Identifier: MIT
// The object that a reference names may be gone when the task goes on after a wait.
// says: wsl: a task that waits takes its arguments by value, not by reference
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  task gather(pe&, const f32&) { co_return; }
  using tasks = task_list<launch<&part::gather>, on<red, &part::gather>>;
};
#else
struct part {
  task gather(pe&, f32) { co_return; }
  using tasks = task_list<launch<&part::gather>, on<red, &part::gather>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
