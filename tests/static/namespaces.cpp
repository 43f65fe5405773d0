// SPDX-License-Identifier: MIT
// Compiling is passing: the words of the language beside all of the standard library, for a program that says
// `using namespace wsl` and `using namespace std` as well. Each word is used as the examples use it.
#include <wsl/collective.hpp>
#include <wsl/collective/gather.hpp>
#include <wsl/collective/halo_exchange.hpp>
#include <wsl/collective/neighbours.hpp>
#include <wsl/collective/reduce.hpp>
#include <wsl/collective/scatter.hpp>
#include <wsl/collective/shift.hpp>
#include <wsl/host/device.hpp>
#include <wsl/host/queue.hpp>
#include <wsl/layout/draw.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/program/arena.hpp>
#include <wsl/program/descriptor/bits.hpp>
#include <wsl/program/descriptor/box.hpp>
#include <wsl/program/descriptor/circular.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/descriptor/indexed.hpp>
#include <wsl/program/descriptor/window.hpp>
#include <wsl/program/event.hpp>
#include <wsl/program/notes.hpp>
#include <wsl/program/random.hpp>
#include <wsl/wsl.hpp>

#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <chrono>
#include <complex>
#include <concepts>
#include <coroutine>
#include <deque>
#include <execution>
#include <filesystem>
#include <forward_list>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <ranges>
#include <ratio>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

using namespace wsl;
using namespace std;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};
[[maybe_unused]] constexpr color<u32> words{3};
[[maybe_unused]] constexpr collective::reduce<f32> sum{
    .first = 4, .among = each_row, .root = {edge - 1}, .words = 4};
[[maybe_unused]] constexpr broadcast<f32> spread{.first = 6, .among = each_row};
[[maybe_unused]] constexpr neighbours<f32> halo{8};
constexpr lane<f32> eastward{.first = 16, .toward = east, .ends = lane_ends::closed};
constexpr halo_exchange<f32> rim{.first = 8};

template <color<f32> in, color<f32> out>
struct part {
  f32 x[8]{}, y[8]{}, total = 0;
  u32 n[8]{}, m[8]{};
  event ended;
  notes<4> log;
  prng draws;
  arena<64> room;
  fifo<f32, 8> kept;
  awaited<rim> fill;

  void begin(pe& me, f32 by) {
    if (me.west_edge() || me.edge(north)) me.send(out, by);
    mov(mem(y), mem(x));
    add(mem(y), mem(x), by), sub(mem(y), mem(x), mem(y)), mul(mem(y), mem(x), 2.f), neg(mem(y), mem(x)),
        abs(mem(y), mem(x));
    fmax(mem(y), mem(x), mem(y)), fmin(mem(y), mem(x), mem(y));
    fmac(mem(y), mem(y), mem(x), 2.f);
    map_each([](f32 a, f32 b) { return a + b; }, &total, 0, mem(x));
    shift_left(mem(m), mem(n), 2u);
    me.async(mov(fabout(out), mem(x)), then<&part::next>());
    me.async(mov(mem(y), fabin(in, 8)), unblocks<&part::last>());
    me.async(mov(fabout(green, 8), mem(x)), signals(ended), then_advance(green));
    me.async(add(mem(y), eastward.fabin(me), mem(x)), then<&part::both>());
    eastward.send(me, by), me.block(eastward.in(me)), me.unblock(eastward.in(me));
  }
  void both(pe&) {}
  void pass(pe&, f32 v) { total = v; }
  void next(pe& me) { me.unblock<&part::last>(), me.activate<&part::last>(); }
  void last(pe& me) {
    me.send_control(green, {switch_adv, nop, switch_rst}), log.add("last"), draws.seed(1, me);
  }
  void stop(pe&, u16) {
    const memory<f32> some = room.take<f32>(2);
    mov(some, 1.f);
  }
  void torn(pe& me) { me.reopen(green); }
  task wait_for_it(pe& me) {
    co_await ended;
    co_await fill(me, mem(x), tile_shape{1, 1, 1});
    co_await mov(mem(x).part(0, 4), fabin(in));
  }
  template <int k>
  void one_of(pe&) {}
  template <int k>
  using one = local<&part::one_of<k>>;
  using tasks =
      task_list<launch<&part::begin>, launch<&part::wait_for_it>, local<&part::next>,
                urgent<local<&part::last, blocked>>, control<7, &part::stop>, on_teardown<green, &part::torn>,
                numbered<2, one>, when<in.id == 1, reads<in>>, sends<out, green>, sends_after<red, blue>,
                steers<green, switch_adv, switch_rst, teardown>, advances<green>, joins<2, &part::both>,
                use<&part::fill>, sends<eastward>, reads<eastward>>;
};

[[maybe_unused]] constexpr area even = columns(0, edge, 2), odd = columns(1, edge, 2), first_row = row(0),
                                inner = rows(1, edge - 1).column(2);
constexpr layout grid = layout{wse2, 4, 1}
                            .place<part<blue, red>>(all)
                            .path(red, column(0), ramp >> (ramp | east))
                            .path(red, columns(1, edge - 1), (ramp | west) >> east, merges)
                            .path(red, at(edge - 1, 0), west >> ramp);

[[maybe_unused]] void from_the_host(fabric& f, vector<f32>& numbers) {
  device d{f};
  d.copy_in(&part<blue, red>::x, all, numbers);
  d.fill(&part<blue, red>::y, at(0, 0), 1);
  const outcome o = d.launch<&part<blue, red>::begin>(even, 0.5f);
  d.copy_out(&part<blue, red>::x, all, numbers, column_major);
  d.stream_in(red, numbers), d.stream_out(blue, numbers);
  device_queue later{d};
  later.run().wait();
  numbers.push_back(d.read(0, 0, &part<blue, red>::total) + static_cast<f32>(o.tasks));
  cout << draw(grid);
}

}  // namespace
