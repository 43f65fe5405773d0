// SPDX-License-Identifier: MIT
// An operation with a fabric operand is a value; here the warning about a value that nobody uses is an error.
// says: an operation with a fabric operand or a FIFO runs only when it is given to me.async..... or co_await
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"

#ifdef WSL_MISUSE
struct part {
  f32 x[8]{};
  void work(pe&) { mov(fabout(red), mem(x)); }
  using tasks = task_list<launch<&part::work>, sends<red>>;
};
#else
struct part {
  f32 x[8]{};
  void work(pe& me) { me.async(mov(fabout(red), mem(x))); }
  using tasks = task_list<launch<&part::work>, sends<red>>;
};
#endif
