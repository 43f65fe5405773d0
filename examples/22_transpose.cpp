// SPDX-License-Identifier: MIT
// A matrix lies row by row on a line of PEs; after an all-to-all it lies there column by column.
#include <wsl/collective/all_to_all.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
#include <numeric>
using namespace wsl;

constexpr int P = 8;                         // PE i has row i of a P x P matrix
constexpr all_to_all<f32> turn{.first = 0};  // colors 0 to 3

struct line {
  f32 row[P]{}, column[P]{};
  endpoint<turn> turning;

  void start(pe& me) { turning.start(me, mem(row), mem(column)); }
  using tasks = task_list<launch<&line::start>, use<&line::turning>>;
};
constexpr layout lines = layout{wse2, P, 1}.place<line>(all).wire(turn);
static_assert(routed<lines>());

int main() {
  fabric f{lines};
  device d{f};
  std::vector<f32> matrix(P * P);
  std::iota(matrix.begin(), matrix.end(), 0.f);
  d.copy_in(&line::row, all, matrix);
  d.launch();
  const std::vector<f32> turned = d.copy_out(&line::column, all);
  int wrong = 0;
  for (std::size_t i = 0; i < P * P; ++i) wrong += turned[i] != matrix[i % P * P + i / P];
  std::printf("row 2 was column 2: %g %g ... %g; %d of %d elements are wrong\n", turned[2 * P],
              turned[2 * P + 1], turned[3 * P - 1], wrong, P * P);
  return wrong == 0 ? 0 : 1;
}
