// SPDX-License-Identifier: MIT
// A dump shows members by their names.
// says: wsl: an export list names a member once, and members of different names
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x = 0, y = 0;
  void start(pe&) {}
  using tasks = task_list<launch<&part::start>>;
#ifdef WSL_MISUSE
  using exports = export_list<&part::x, &part::y, &part::x>;
#else
  using exports = export_list<&part::x, &part::y>;
#endif
};
constexpr layout one = layout{wse2, 1, 1}.place<part>(all);
