// SPDX-License-Identifier: MIT
// The timed engine: links crossed by wavelets a second, every row busy, on 32 x 32 PEs with one thread, and
// on 256 x 256 with one and with two. The cost of a word depends on its path: routers that only pass words on
// are crossed in one step; if each PE takes a copy, every copy costs time; if two colors share each link and
// words wait, every hop is simulated. A slow receiver takes one word in six cycles, so that all queues before
// it are full. The last rows measure the cost of a wafer of idle PEs.
#include "measure.hpp"

#include <wsl/collective.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/wave25/rotating.hpp>
#include <wsl/kernel/wave25/serial.hpp>

namespace {
using namespace wsl;

constexpr color<f32> red{0}, blue{1};

/// The traffic that the west end sends, and the way in which the east end, or all PEs, receive it.
enum class road { through, slow_end, shared, shared_slow_end, multicast, slow_multicast };
constexpr bool two_colors(road how) { return how == road::shared || how == road::shared_slow_end; }
constexpr bool copies(road how) { return how == road::multicast || how == road::slow_multicast; }
constexpr bool slow(road how) {
  return how == road::slow_end || how == road::shared_slow_end || how == road::slow_multicast;
}

template <road how>
struct member {
  f32 sum = 0, other = 0;
  void start(pe& me, int n) {
    if (me.west_edge()) {
      me.async(mov(fabout(red, n), 1.f));
      if constexpr (two_colors(how)) me.async(mov(fabout(blue, n), 1.f));
    } else if (me.east_edge() || copies(how)) {
      take(me, sum, red, n);
      if constexpr (two_colors(how)) take(me, other, blue, n);
    }
  }
  void take(pe& me, f32& into, color<f32> c, int n) {
    if (slow(how)) me.async(map_each([](f32 a, f32 x) { return a + x; }, &into, 0.f, fabin(c, n)));
    else me.async(add(&into, 0.f, fabin(c, n)));
  }
  using tasks = task_list<launch<&member::start>, sends<red>, reads<red>,
                          when<two_colors(how), sends<blue>, reads<blue>>>;
};

template <class Engine, road how>
class rows {
 public:
  rows(int side, int words, Engine choice = {}) : side_(side), words_(words), fabric_{plan(side), choice} {}

  u64 run() {
    const outcome o = fabric_.template launch<&member<how>::start>(all, words_);
    bench::require(fabric_.read(side_ - 1, side_ - 1, &member<how>::sum) == static_cast<f32>(words_),
                   "words were lost");
    return o.hops;
  }
  void check() {}

 private:
  static layout plan(int side) {
    layout l{wse2, side, side};
    l.place<member<how>>(all);
    for (color<f32> c : {red, blue}) {
      if (c == blue && !two_colors(how)) continue;
      l.path(c, column(0), ramp >> east)
          .path(c, columns(1, edge - 1), copies(how) ? west >> (ramp | east) : west >> east);
      l.path(c, column(edge - 1), west >> ramp);
    }
    return l;
  }
  int side_, words_;
  fabric fabric_;
};

/// All PEs add up their numbers, and hear the total.
constexpr all_reduce<f32> in_all{0};
struct summand {
  reducer<in_all> votes;
  f32 total = 0;
  void start(pe& me) { votes.contribute(me, 1); }
  void count(pe&, f32 sum) { total = sum; }
  using tasks = task_list<launch<&summand::start>, use<&summand::votes>, on<in_all.total(), &summand::count>>;
};
struct sums {
  sums(int side, int threads) : side_(side), fabric_{plan(side), timed{.threads = threads}} {}
  u64 run() { return fabric_.launch<&summand::start>(all).hops; }
  void check() {
    for (int at : {0, side_ / 2, side_ - 1})
      bench::require(fabric_.read(at, side_ - 1 - at, &summand::total) == static_cast<f32>(side_ * side_),
                     "an all-reduce has a wrong total");
  }

 private:
  static layout plan(int side) {
    layout l{wse2, side, side};
    l.place<summand>(all);
    in_all.wire(l);
    return l;
  }
  int side_;
  fabric fabric_;
};

/// A step of the wave equation, in which every PE exchanges lines with its neighbors.
struct steps {
  static constexpr int cells = 10;
  steps(int side, int threads) : side_(side), wave_(problem(side), wse2, timed{.threads = threads}) {}
  u64 run() {
    wave_.run(1);
    ++steps_;
    return 1;
  }
  void check() {
    wave25::serial truth(problem(side_));
    truth.run(steps_);
    const std::vector<f32> ours = wave_.field();
    f64 largest = 0, difference = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      largest = std::max(largest, std::abs(truth.field()[i]));
      difference = std::max(difference, std::abs(truth.field()[i] - f64{ours[i]}));
    }
    bench::require(largest > 0 && difference < 1e-5 * largest,
                   "the wave is another than the serial reference's");
  }

 private:
  static wave25::problem problem(int side) {
    wave25::problem p{.size = {side, side, cells}};
    p.sources.push_back({.at = {side / 2, side / 2, cells / 2}});
    return p;
  }
  int side_, steps_ = 0;
  wave25::wafer_simulation<cells, wave25::rotating_wave_pe<cells>> wave_;
};

/// One wavelet goes from a PE to its neighbour; the others do nothing.
struct pair_on_wafer {
  explicit pair_on_wafer(int side) : fabric_{plan(side), timed{}} {}
  int run() {
    bench::require(fabric_.launch<&member<road::multicast>::start>(columns(0, 2).row(0), 1).delivered == 1,
                   "the wavelet was lost");
    return 1;
  }
  void check() {}

 private:
  static layout plan(int side) {
    layout l{wse2, side, side};
    return l.place<member<road::multicast>>(all)
        .path(red, column(0), ramp >> east)
        .path(red, column(1), west >> ramp);
  }
  fabric fabric_;
};

using enum bench::unit;
template <road how>
bool add_rows(const char* row, int words) {
  bench::add<rows<reference, how>>(row, "reference", mega_per_second, 1, 32, words / 10);
  return bench::add<rows<timed, how>>(row, "wsl", mega_per_second, 3, 32, words, timed{.threads = 1});
}
/// On a large grid with one thread and with two; the table shows their ratio.
template <class Case, class... Arguments>
bool add_threads(const char* row, bench::unit u, Arguments... arguments) {
  bench::add<Case>(row, "1 thread", u, 1, arguments..., 1);
  return bench::add<Case>(row, "wsl", u, 1, arguments..., 2);
}
template <road how>
struct large_rows : rows<timed, how> {
  large_rows(int words, int threads) : rows<timed, how>(256, words, timed{.threads = threads}) {}
};
const bool added[] = {
    add_rows<road::through>("timed: links crossed, straight through", 20'000),
    add_rows<road::slow_end>("timed: ..., to a slow receiver", 5'000),
    add_rows<road::shared>("timed: ..., two colors on each link", 2'000),
    add_rows<road::shared_slow_end>("timed: ..., and slow receivers", 1'000),
    add_rows<road::multicast>("timed: ..., each PE takes a copy", 2'000),
    add_rows<road::slow_multicast>("timed: ..., and takes it slowly", 1'000),
    add_threads<large_rows<road::shared>>("timed: 256x256, two colors on a link", mega_per_second, 500),
    add_threads<large_rows<road::shared_slow_end>>("timed: 256x256, slow receivers", mega_per_second, 300),
    add_threads<large_rows<road::multicast>>("timed: 256x256, each PE takes a copy", mega_per_second, 500),
    add_threads<sums>("timed: an all-reduce on 512x512", milliseconds, 512),
    add_threads<steps>("timed: wave25 on 128x128, 10 cells", seconds, 128),
    bench::add<pair_on_wafer>("timed: a launch on 512x512", "wsl", microseconds, 20, 512),
    bench::add<pair_on_wafer>("timed: a launch on 512x512", "on 8x8", microseconds, 1000, 8),
};

}  // namespace
