// SPDX-License-Identifier: MIT
// A data task is bound to a color, not to its number.
// says: wsl: on<...> names a color or a module with colors: on<in, &part::hear> or on<halo, &part::hear>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  void hear(pe&, f32) {}
  using tasks = task_list<on<0, &part::hear>>;
};
#else
struct part {
  void hear(pe&, f32) {}
  using tasks = task_list<on<red, &part::hear>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
