// SPDX-License-Identifier: MIT
// A number does not name a color.
// says: wsl: reads<...> and sends<...> name colors, or modules with colors
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

#ifdef WSL_MISUSE
struct part {
  using tasks = task_list<reads<1>>;
};
#else
struct part {
  using tasks = task_list<reads<red>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
