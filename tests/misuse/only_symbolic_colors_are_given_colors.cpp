// SPDX-License-Identifier: MIT
// A color of the fabric is given another.
// says in 5 lines: only_symbolic_colors_are_given_colors
#include <wsl/wsl.hpp>

using namespace wsl;

struct symbolic_giver {
  static constexpr auto out = symbolic<f32>(0);
  void start(pe& me) { me.send(out, 1.f); }
  using tasks = task_list<launch<&symbolic_giver::start>, sends<out>>;
};

#ifdef WSL_MISUSE
constexpr layout wrong =
    layout{wse2, 2, 1}.place<symbolic_giver>(all, given_colors(color<f32>{1}, color<f32>{2}));
#else
constexpr layout right =
    layout{wse2, 2, 1}.place<symbolic_giver>(all, given_colors(symbolic_giver::out, color<f32>{2}));
#endif
