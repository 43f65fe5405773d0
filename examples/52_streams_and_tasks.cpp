// SPDX-License-Identifier: MIT
// Words stream through two PEs: on the first, a task runs for each word; on the second, one operation adds 1
// to all of them.
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>
#include <cstdio>
#include <numeric>
using namespace wsl;

constexpr color<i16> in{0}, between{1}, out{2};

struct listener {
  i16 last = 0;
  void take(pe& me, i16 word) { me.send(between, last = word); }
  using tasks = task_list<on<in, &listener::take>, sends<between>>;
};
struct adder {
  void begin(pe& me) { me.async(add(fabout(out, forever), fabin(between, forever), 1)); }
  using tasks = task_list<local<&adder::begin, active>, reads<between>, sends<out>>;
};
constexpr layout pipeline = layout{wse2, 2, 1}
  .place<listener>(column(0)).place<adder>(column(1))
  .path(in, column(0), west >> ramp).path(between, column(0), ramp >> east)
  .path(between, column(1), west >> ramp).path(out, column(1), ramp >> east)
  .stream_in(in, column(0), west).stream_out(out, column(1), east);
static_assert(routed<pipeline>());

int main() {
  fabric f{pipeline};
  device d{f};
  for (int size : {10, 3000}) {
    std::vector<i16> given(static_cast<std::size_t>(size)), expected(given), found(given);
    std::iota(given.begin(), given.end(), i16{-5}), std::iota(expected.begin(), expected.end(), i16{-4});
    d.stream_in(in, given), d.stream_out(out, found);
    std::printf("%d words, the last of them %d; now it is %d\n", size, f.read(0, 0, &listener::last),
                found.back());
    if (found != expected || f.read(0, 0, &listener::last) != given.back()) return 1;
  }
}
