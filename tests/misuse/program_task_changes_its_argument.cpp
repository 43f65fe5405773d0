// SPDX-License-Identifier: MIT
// The word has been taken from the fabric; nobody would see what it becomes.
// says: wsl: a task takes its arguments by value, void f.pe& me, f32 x.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

struct part {
  f32 sum = 0;
#ifdef WSL_MISUSE
  void hear(pe&, f32& x) { sum += x; }
#else
  void hear(pe&, const f32& x) { sum += x; }
#endif
  using tasks = task_list<on<red, &part::hear>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
