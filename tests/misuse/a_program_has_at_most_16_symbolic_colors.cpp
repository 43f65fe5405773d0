// SPDX-License-Identifier: MIT
// The symbolic colors of a program have the numbers 0 to 15.
// says in 5 lines: a_program_has_at_most_16_symbolic_colors
#include <wsl/wsl.hpp>

using namespace wsl;

struct symbolic_giver {
  static constexpr auto out = symbolic<f32>(0);
  void start(pe& me) { me.send(out, 1.f); }
  using tasks = task_list<launch<&symbolic_giver::start>, sends<out>>;
};

#ifdef WSL_MISUSE
constexpr color<f32> wrong = symbolic<f32>(16);
#else
constexpr color<f32> right = symbolic<f32>(15);
#endif
