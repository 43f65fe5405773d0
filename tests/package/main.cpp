// SPDX-License-Identifier: MIT
// A stranger's program: it needs the headers, threads, and fmt without its library.
#include <wsl/wsl.hpp>

#include <fmt/core.h>
using namespace wsl;

constexpr color<f32> red{0};

struct echo {
  f32 heard = 0;
  void start(pe& me) { me.send(red, 42.f); }
  void hear(pe&, f32 x) { heard = x; }
  using tasks = task_list<launch<&echo::start>, on<red, &echo::hear>, sends<red>>;
};

constexpr layout one = layout{wse3, 1, 1}.place<echo>(all).path(red, all, ramp >> ramp);
static_assert(routed<one>());

int main() {
  fabric f{one};
  f.launch();
  fmt::print("wsl {}.{}.{} heard {}\n", WSL_VERSION_MAJOR, WSL_VERSION_MINOR, WSL_VERSION_PATCH,
             f.read(0, 0, &echo::heard));
}
