// SPDX-License-Identifier: MIT
// A broadcast: one wavelet reaches every PE, because a route may have several outputs. `west >> (ramp |
// east)` gives a copy to this PE's ramp and one to the router of the next PE, so that the color runs along
// the first row and, from each PE of that row, down its column.
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr color<i32> notice{0};

struct listener {
  i32 heard = 0;

  void say(pe& me, i32 x) { me.send(notice, x); }
  void hear(pe&, i32 x) { heard += x; }

  using tasks = task_list<launch<&listener::say>, on<notice, &listener::hear>, sends<notice>>;
};

constexpr layout tree = layout{wse2, 6, 4}
  .place<listener>(all)
  .path(notice, at(0, 0),                    ramp >> (ramp | east | south))
  .path(notice, row(0).columns(1, edge - 1), west >> (ramp | east | south))
  .path(notice, at(edge - 1, 0),             west >> (ramp | south))
  .path(notice, rows(1, edge - 1),           north >> (ramp | south))
  .path(notice, row(edge - 1),               north >> ramp);
static_assert(routed<tree>());

int main() {
  fabric f{tree};
  const outcome o = f.launch<&listener::say>(at(0, 0), 42);
  std::printf("sent %llu wavelet, delivered %llu, crossed %llu links\n",
              static_cast<unsigned long long>(o.wavelets), static_cast<unsigned long long>(o.delivered),
              static_cast<unsigned long long>(o.hops));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x)
      if (f.read(x, y, &listener::heard) != 42) return std::printf("PE(%d, %d) did not hear it\n", x, y), 1;
  std::printf("every PE heard 42 once\n");
}
