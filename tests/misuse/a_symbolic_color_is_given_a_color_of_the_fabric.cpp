// SPDX-License-Identifier: MIT
// A symbolic color stands for a color of the fabric, not for another symbolic one.
// says in 5 lines: a_symbolic_color_is_given_a_color_of_the_fabric
#include <wsl/wsl.hpp>

using namespace wsl;

struct symbolic_giver {
  static constexpr auto out = symbolic<f32>(0);
  void start(pe& me) { me.send(out, 1.f); }
  using tasks = task_list<launch<&symbolic_giver::start>, sends<out>>;
};

#ifdef WSL_MISUSE
constexpr layout wrong =
    layout{wse2, 2, 1}.place<symbolic_giver>(all, given_colors(symbolic_giver::out, symbolic<f32>(1)));
#else
constexpr layout right =
    layout{wse2, 2, 1}.place<symbolic_giver>(all, given_colors(symbolic_giver::out, color<f32>{2}));
#endif
