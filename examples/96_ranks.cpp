// SPDX-License-Identifier: MIT
// One fabric on several processes: alone, or with `mpirun -n 4`. All processes run this program; each runs
// some rows of the PEs, and the host sees the same in all of them.
#include <wsl/collective/all_reduce.hpp>
#include <wsl/host/device.hpp>
#include <wsl/mpi.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <numeric>
#include <vector>
using namespace wsl;

constexpr int side = 64;
constexpr all_reduce<u32> total{.first = 0};

struct part {
  u32 mine = 0, sum = 0;
  reducer<total> adder;

  void begin(pe& me) { adder.contribute(me, mine); }
  void know(pe&, u32 x) { sum = x; }
  using tasks = task_list<launch<&part::begin>, use<&part::adder>, on<total.total(), &part::know>>;
};
constexpr layout square = layout{host, side, side}.place<part>(all).wire(total);
static_assert(routed<square>());

int main() {
  fabric f{square, mpi::world()};
  device d{f};
  std::vector<u32> numbers(side * side);
  std::iota(numbers.begin(), numbers.end(), 1u);
  d.copy_in(&part::mine, all, numbers);
  d.launch();

  const u32 expected = std::accumulate(numbers.begin(), numbers.end(), 0u);
  int wrong = 0;
  for (u32 sum : d.copy_out(&part::sum, all)) wrong += sum != expected;
  if (mpi::world().root())
    std::printf("%d PEs on %d process%s: %d of them do not know that the sum is %u\n", side * side,
                mpi::world().size(), mpi::world().size() == 1 ? "" : "es", wrong, expected);
  return wrong == 0 ? 0 : 1;
}
