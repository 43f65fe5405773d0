// SPDX-License-Identifier: MIT
// The task list says what the program does.
// says: wsl: a task list has at least one entry
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  using tasks = task_list<>;
};
#else
struct part {
  using tasks = task_list<reads<red>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
