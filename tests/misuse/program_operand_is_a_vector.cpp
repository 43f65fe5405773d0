// SPDX-License-Identifier: MIT
// The elements of a std::vector move when it grows, so a descriptor of them is asked for by name.
// says: wsl: mem takes an array, a std::array or a std::span: mem.std::span.v.. for a std::vector
#include <wsl/wsl.hpp>

#include <vector>

using namespace wsl;

struct part {
  std::vector<f32> x = std::vector<f32>(4);
#ifdef WSL_MISUSE
  void go(pe&) { mov(mem(x), 0); }
#else
  void go(pe&) { mov(mem(std::span(x)), 0); }
#endif
  using tasks = task_list<launch<&part::go>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
