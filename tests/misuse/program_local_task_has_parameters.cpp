// SPDX-License-Identifier: MIT
// Nobody gives a local task arguments.
// says: wsl: a local task takes only the PE: void f.pe& me.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  void step(pe&, f32) {}
  using tasks = task_list<local<&part::step>>;
};
#else
struct part {
  void step(pe&) {}
  using tasks = task_list<local<&part::step>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
