// SPDX-License-Identifier: MIT
// A reduce begins its colors where a broadcast has its only one.
// says: two_modules_claim_one_color
// says: color_id.2.*column.0.*row.0
// says: wsl: two library modules own the same color in the same place: give one of them other colors, or
#include <wsl/collective.hpp>

using namespace wsl;

constexpr broadcast<f32> spread{.first = 2};
#ifdef WSL_MISUSE
constexpr collective::reduce<f32> sum{.first = 2};
#else
constexpr collective::reduce<f32> sum{.first = 3};
#endif

struct worker {
  f32 x[4]{};
  endpoint<spread> spreading;
  endpoint<sum> adding;
  void start(pe& me) { spreading.start(me, mem(x), then<&worker::add_up>()); }
  void add_up(pe& me) { adding.start(me, mem(x)); }
  using tasks = task_list<launch<&worker::start>, use<&worker::spreading>, use<&worker::adding>,
                          local<&worker::add_up>>;
};
constexpr layout wired = [] {
  layout l{wse2, 4, 4};
  l.place<worker>(all);
  spread.wire(l), sum.wire(l);
  return l;
}();
static_assert(routed<wired>());
