// SPDX-License-Identifier: MIT
// A reducer does not serve an all-reduce in each row.
// says: wsl: a reducer joins single values over the rectangle, in chains; otherwise use an endpoint
#include <wsl/collective/all_reduce.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr all_reduce<f32> sum{.first = 0, .among = each_row};
#else
constexpr all_reduce<f32> sum{.first = 0};
#endif

struct worker {
  reducer<sum> adding;
  void start(pe& me) { adding.contribute(me, 1); }
  void done(pe&, f32) {}
  using tasks = task_list<launch<&worker::start>, use<&worker::adding>, on<sum.total(), &worker::done>>;
};
constexpr layout wired = [] { layout l{wse2, 4, 4}; l.place<worker>(all); sum.wire(l); return l; }();
