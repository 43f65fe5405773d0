// SPDX-License-Identifier: MIT
// says: wsl: an export list names members of the program: export_list<&part::x>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x = 0;
  void start(pe&) {}
  using tasks = task_list<launch<&part::start>>;
#ifdef WSL_MISUSE
  using exports = export_list<&part::x, &part::start>;
#else
  using exports = export_list<&part::x>;
#endif
};
constexpr layout one = layout{wse2, 1, 1}.place<part>(all);
