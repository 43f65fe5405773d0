// SPDX-License-Identifier: MIT
// The second entry would never run. One function may be a host function and a local task, though, or serve
// two colors.
// says: wsl: a task list binds a local task once, as local<&part::f> or joins<n, &part::f>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1};

struct part {
  void go(pe& me) { me.activate<&part::step>(); }
  void step(pe&) {}
  void hear(pe&, f32) {}
#ifdef WSL_MISUSE
  using tasks = task_list<launch<&part::go>, joins<2, &part::step>, local<&part::step>>;
#else
  using tasks = task_list<launch<&part::go>, launch<&part::step>, local<&part::step>,
                          on<red, &part::hear>, on<blue, &part::hear>>;
#endif
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
