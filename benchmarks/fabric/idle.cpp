// SPDX-License-Identifier: MIT
// The cost of idle PEs: one wavelet runs to and fro along a row while the rest of the grid waits. A hop
// should take as long on 512 x 512 PEs as on 8 x 8.
#include "measure.hpp"

namespace {
using namespace wsl;

template <color<u32> from_west, color<u32> to_east, color<u32> from_east, color<u32> to_west>
struct runner {
  u64 seen = 0;

  void start(pe& me, u32 laps) { me.send(to_east, laps); }
  void eastward(pe& me, u32 laps) {
    ++seen;
    if (me.east_edge()) me.send(to_west, laps);
    else me.send(to_east, laps);
  }
  void westward(pe& me, u32 laps) {
    ++seen;
    if (!me.west_edge()) me.send(to_west, laps);
    else if (laps > 1) me.send(to_east, laps - 1);
  }

  using tasks = task_list<launch<&runner::start>, on<from_west, &runner::eastward>,
                          on<from_east, &runner::westward>, sends<to_east, to_west>>;
};

constexpr color<u32> east_of_even{0}, east_of_odd{1}, west_of_even{2}, west_of_odd{3};
using even_runner = runner<east_of_odd, east_of_even, west_of_odd, west_of_even>;
using odd_runner = runner<east_of_even, east_of_odd, west_of_even, west_of_odd>;

layout track(int side) {
  const area even = columns(0, edge, 2), odd = columns(1, edge, 2);
  return layout{host, side, side}
      .place<even_runner>(even)
      .place<odd_runner>(odd)
      .path(east_of_even, columns(0, edge - 1, 2), ramp >> east)
      .path(east_of_even, odd, west >> ramp)
      .path(east_of_odd, columns(1, edge - 1, 2), ramp >> east)
      .path(east_of_odd, columns(2, edge, 2), west >> ramp)
      .path(west_of_even, columns(2, edge, 2), ramp >> west)
      .path(west_of_even, columns(1, edge - 1, 2), east >> ramp)
      .path(west_of_odd, odd, ramp >> west)
      .path(west_of_odd, columns(0, edge - 1, 2), east >> ramp);
}

class one_runner {
 public:
  one_runner(int side, u32 laps) : side_(side), laps_(laps), fabric_{track(side), bench::on_threads(1)} {}

  u64 run() {
    const outcome done = fabric_.launch<&even_runner::start>(at(0, side_ / 2), laps_);
    const u64 hops = 2 * static_cast<u64>(side_ - 1) * laps_;
    bench::require(done.hops == hops, "the runner lost its way");
    ++runs_;
    return hops;
  }
  void check() {
    bench::require(fabric_.read(0, side_ / 2, &even_runner::seen) == runs_ * laps_ &&
                       fabric_.read(1, side_ / 2, &odd_runner::seen) == 2 * runs_ * laps_,
                   "the runner ran a wrong number of laps");
  }

 private:
  int side_;
  u32 laps_;
  u64 runs_ = 0;
  fabric fabric_;
};

/// The host's side of it: a launch that moves one wavelet over one lap, per launch.
struct short_launch : one_runner {
  explicit short_launch(int side) : one_runner(side, 1) {}
  int run() {
    one_runner::run();
    return 1;
  }
};

using enum bench::unit;
const bool added[] = {
    bench::add<one_runner>("a hop on 512x512", "wsl", nanoseconds, 3, 512, 2'000u),
    bench::add<one_runner>("a hop on 512x512", "wsl on 8x8", nanoseconds, 3, 8, 140'000u),
    bench::add<short_launch>("a launch on 512x512", "wsl", microseconds, 20, 512),
    bench::add<short_launch>("a launch on 512x512", "wsl on 8x8", microseconds, 1000, 8),
};

}  // namespace
