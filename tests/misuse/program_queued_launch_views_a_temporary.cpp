// SPDX-License-Identifier: MIT
// The vector is gone when the task runs.
// says: wsl: the task runs after this call and would look at an argument that is gone
#include <span>
#include <vector>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 sum = 0;
  void take(pe&, std::span<const f32> x) { for (f32 v : x) sum += v; }
  using tasks = task_list<launch<&part::take>>;
};

#ifdef WSL_MISUSE
void run(fabric& f) { f.start<&part::take>(all, std::vector<f32>(4)), f.run(); }
#else
void run(fabric& f, const std::vector<f32>& x) {
  f.start<&part::take>(all, x), f.start<&part::take>(all, std::span(x)), f.run();
  f.launch<&part::take>(all, std::vector<f32>(4));
}
#endif
