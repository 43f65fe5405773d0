// SPDX-License-Identifier: MIT
// The timed engine on one thread: links crossed by wavelets a second on 32 x 32 PEs, every row busy. What counts is what words meet on their way:
// routers that only pass them on are crossed in one step; where two colors share each link, and where each PE takes a copy, every hop is
// looked at. Then what a wafer of idle PEs costs.
#include "measure.hpp"

#include <wsl/fabric/reference.hpp>
#include <wsl/fabric/timed.hpp>

namespace {
using namespace wsl;

constexpr color<f32> red{0}, blue{1};

/// What the west end sends; how the east end, or everybody, takes it.
enum class road { through, slow_end, shared, multicast };

template <road how>
struct member {
  f32 sum = 0, other = 0;
  void start(pe& me, int n) {
    if (me.west_edge()) {
      me.async(mov(fabout(red, n), 1.f));
      if constexpr (how == road::shared) me.async(mov(fabout(blue, n), 1.f));
    } else if (me.east_edge() || how == road::multicast) {
      if (how == road::slow_end) me.async(map([](f32 a, f32 x) { return a + x; }, &sum, 0.f, fabin(red, n)));
      else me.async(add(&sum, 0.f, fabin(red, n)));
      if constexpr (how == road::shared) me.async(add(&other, 0.f, fabin(blue, n)));
    }
  }
  static consteval auto tasks() {
    if constexpr (how == road::shared)
      return table(launch<&member::start>(), sends<red>(), reads<red>(), sends<blue>(), reads<blue>());
    else
      return table(launch<&member::start>(), sends<red>(), reads<red>());
  }
};

template <class Engine, road how>
class rows {
 public:
  explicit rows(int words) : words_(words), fabric_{plan(), Engine{}} {}

  u64 run() {
    const outcome o = fabric_.template launch<&member<how>::start>(all, words_);
    bench::require(fabric_.read(31, 31, &member<how>::sum) == static_cast<f32>(words_), "words were lost");
    return o.hops;
  }
  void check() {}

 private:
  static layout plan() {
    layout l{wse2, 32, 32};
    l.place(all, program_v<member<how>>);
    for (color<f32> c : {red, blue}) {
      if (c == blue && how != road::shared) continue;
      l.path(c, column(0), ramp >> east).path(c, columns(1, end - 1), how == road::multicast ? west >> (ramp | east) : west >> east);
      l.path(c, column(end - 1), west >> ramp);
    }
    return l;
  }
  int words_;
  fabric fabric_;
};

/// One wavelet goes from a PE to its neighbour; the others do nothing.
struct pair_on_wafer {
  explicit pair_on_wafer(int side) : fabric_{plan(side), timed{}} {}
  int run() {
    bench::require(fabric_.launch<&member<road::multicast>::start>(columns(0, 2).row(0), 1).delivered == 1, "the wavelet was lost");
    return 1;
  }
  void check() {}

 private:
  static layout plan(int side) {
    layout l{wse2, side, side};
    return l.place(all, program_v<member<road::multicast>>).path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  }
  fabric fabric_;
};

using enum bench::unit;
template <road how>
bool add_rows(const char* row, int words) {
  bench::add<rows<reference, how>>(row, "reference", mega_per_second, 1, words / 10);
  return bench::add<rows<timed, how>>(row, "wsl", mega_per_second, 3, words);
}
const bool added[] = {
    add_rows<road::through>("timed: links crossed, straight through", 20'000),
    add_rows<road::slow_end>("timed: ..., to a slow receiver", 5'000),
    add_rows<road::shared>("timed: ..., two colors on each link", 2'000),
    add_rows<road::multicast>("timed: ..., each PE takes a copy", 2'000),
    bench::add<pair_on_wafer>("timed: a launch on 512x512", "wsl", microseconds, 20, 512),
    bench::add<pair_on_wafer>("timed: a launch on 512x512", "on 8x8", microseconds, 1000, 8),
};

}  // namespace
