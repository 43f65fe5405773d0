// SPDX-License-Identifier: MIT
// The color that a symbolic one stands for is asked for where its program is not.
// says in 5 lines: no_program_there_gives_the_color_one_of_the_fabric
#include <wsl/wsl.hpp>

using namespace wsl;

struct symbolic_giver {
  static constexpr auto out = symbolic<f32>(0);
  void start(pe& me) { me.send(out, 1.f); }
  using tasks = task_list<launch<&symbolic_giver::start>, sends<out>>;
};
constexpr layout placed =
    layout{wse2, 2, 1}.place<symbolic_giver>(column(0), given_colors(symbolic_giver::out, color<f32>{2}));

#ifdef WSL_MISUSE
constexpr color<f32> wrong = placed.color_at({1, 0}, symbolic_giver::out);
#else
constexpr color<f32> right = placed.color_at({0, 0}, symbolic_giver::out);
#endif
