// SPDX-License-Identifier: MIT
// A module is given a completion, not an event.
// says in 5 lines: wsl: signals.event. goes with me.async;
// says in 5 lines: a module.s completion is then<&part::next>.. or unblocks<&part::next>..
#include <wsl/wsl.hpp>

#include <wsl/program/event.hpp>

using namespace wsl;

constexpr color<f32> red{0};

struct module {
  void start(pe& me, completion done) { me.complete(done); }
};

#ifdef WSL_MISUSE
struct part {
  module inside;
  event ended;
  void go(pe& me) { inside.start(me, signals(ended)); }
  void next(pe&) {}
  using tasks = task_list<launch<&part::go>, local<&part::next>>;
};
#else
struct part {
  module inside;
  event ended;
  void go(pe& me) { inside.start(me, then<&part::next>()); }
  void next(pe&) {}
  using tasks = task_list<launch<&part::go>, local<&part::next>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
