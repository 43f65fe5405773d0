// SPDX-License-Identifier: MIT
// An asynchronous operation runs beside the tasks on a microthread, of which the machines have eight. The
// library finds a free one. A program that chooses the microthread must keep its operations apart by itself:
// starting two on the same one is a fault that names them.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int M = 10;
constexpr color<f32> across{0};

struct left {
  f32 y[M]{};

  void compute(pe& me) { me.async(mov(fabout(across), mem(y)), microthread{4}); }
  void twice(pe& me) {
    me.async(mov(fabout(across, M / 2), mem(y).part(0, M / 2)), microthread{4});
    me.async(mov(fabout(across, M / 2), mem(y).from(M / 2)), microthread{4});
  }

  using tasks = task_list<launch<&left::compute>, launch<&left::twice>, sends<across>>;
};

struct right {
  f32 y[M]{};
  void compute(pe& me) { me.async(mov(mem(y), fabin(across)), microthread{5}); }
  using tasks = task_list<launch<&right::compute>, reads<across>>;
};

constexpr layout pair = layout{wse3, 2, 1}
  .place<left>(column(0))
  .place<right>(column(1))
  .path(across, column(0), ramp >> east)
  .path(across, column(1), west >> ramp);
static_assert(routed<pair>());

int main() {
  fabric f{pair};
  for (int i = 0; i < M; ++i) f.program_at<left>({0, 0}).y[i] = static_cast<f32>(i) / 2;
  f.start<&right::compute>(column(1));
  f.launch<&left::compute>(column(0));

  bool right_numbers = true;
  for (int i = 0; i < M; ++i) {
    const f32 y = f.program_at<right>({1, 0}).y[i];
    right_numbers = right_numbers && y == static_cast<f32>(i) / 2;
    std::printf("%g%s", y, i == M - 1 ? "\n" : " ");
  }

  bool refused = false;
  try {
    f.launch<&left::twice>(column(0));
  } catch (const fault& e) {
    refused = std::puts(e.what()) >= 0;
  }
  return right_numbers && refused ? 0 : 1;
}
