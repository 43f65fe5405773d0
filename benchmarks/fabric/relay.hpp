// SPDX-License-Identifier: MIT
// The smallest program whose wavelets cause work: each PE adds up the numbers that arrive and sends each of
// them, plus one, to the east. Colors alternate, because a PE receives one and sends the other.
#pragma once
#include <wsl/wsl.hpp>

namespace bench {

template <wsl::color<wsl::f32> in, wsl::color<wsl::f32> out>
struct relay {
  wsl::f32 sum = 0;

  void start(wsl::pe& me, int waves) { me.async(wsl::mov(wsl::fabout(out, waves), 1)); }
  void pass(wsl::pe& me, wsl::f32 x) {
    sum += x;
    if (!me.east_edge()) me.send(out, x + 1);
  }

  using tasks = wsl::task_list<wsl::launch<&relay::start>, wsl::on<in, &relay::pass>, wsl::sends<out>>;
};

inline constexpr wsl::color<wsl::f32> red{0}, blue{1};
using even_relay = relay<blue, red>;
using odd_relay = relay<red, blue>;

inline wsl::layout relay_rows(int width, int height) {
  using namespace wsl;
  const area even = columns(0, edge, 2), odd = columns(1, edge, 2);
  return layout{host, width, height}
      .place<even_relay>(even)
      .place<odd_relay>(odd)
      .path(red, columns(0, edge - 1, 2), ramp >> east)
      .path(red, odd, west >> ramp)
      .path(blue, columns(1, edge - 1, 2), ramp >> east)
      .path(blue, columns(2, edge, 2), west >> ramp);
}

}  // namespace bench
