// SPDX-License-Identifier: MIT
// A constant is no destination.
// says: wsl: the destination of an operation must be writable
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{};
  static constexpr f32 weights[8]{};
  void work(pe&) { mov(mem(weights), mem(x)); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#else
struct part {
  f32 x[8]{};
  static constexpr f32 weights[8]{};
  void work(pe&) { mov(mem(x), mem(weights)); }
  using tasks = task_list<launch<&part::work>, reads<red, blue, green>, sends<red>>;
};
#endif
