// SPDX-License-Identifier: MIT
// A collective of one's own, a scan (prefix sum): along each row, PE i learns the sum of the words of PEs 0
// to i, element by element. The module is a constant with two colors, which neighbours use alternately; its
// part in the program is a member with one task.
#include <wsl/collective/cost.hpp>
#include <wsl/collective/relay.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/layout/draw.hpp>
#include <cstdio>
using namespace wsl;

template <payload T>
struct scan {
  int first = 0;     // of two colors
  area where = all;  // the rectangle

  // Toward the east: a relay to the last PE of each row.
  constexpr collective::relay way(const region& r) const {
    return {{r, collective::axis::x, r.columns() - 1}, first};
  }
  constexpr void wire(layout& l) const {
    const region r = collective::rectangle_of(l, where, "scan");
    collective::claim_colors<T>(l, "scan", first, 2, r);
    way(r).template wire<T>(l);
  }
  // A PE costs the hop of the first word, the words, and the time from their end to the first word sent on.
  constexpr f64 cycles(const layout& l, int words) const {
    const int others = collective::rectangle_of(l, where, "scan").columns() - 1;
    return others * (words + collective::handling + 1 + collective::restart);
  }

  template <auto net>
  class part {
   public:
    void start(pe& me, memory<T> words, completion done) {
      const region r = collective::rectangle_of(me, net.where, "scan");
      const collective::relay w = net.way(r);
      words_ = words, done_ = done;
      ahead_ = w.where.distance_of(me.x() - r.x0);
      out_ = {w.color_of(0, ahead_)};
      if (me.x() == r.x0) pass(me);
      else me.async(add(words, fabin(color<T>{w.color_of(0, ahead_ + 1)}), words), then<&part::pass>());
    }
   private:
    void pass(pe& me) {
      if (ahead_ > 0) me.async(mov(fabout(out_), words_), done_);
      else collective::finish(me, net.first, unused_, done_);
    }
    memory<T> words_{nullptr, 0};
    completion done_{};
    int ahead_ = 0;
    color<T> out_{};
    T unused_{};

   public:
    using tasks = task_list<local<&part::pass>, collective::uses_colors<T, net.first, 2>>;
  };
};

constexpr scan<i32> sums{.first = 4};  // colors 4 and 5

struct worker {
  i32 x[3]{};
  int told = 0;
  endpoint<sums> summing;

  void start(pe& me) {
    for (int i = 0; i < 3; ++i) x[i] = me.x() + i;
    summing.start(me, mem(x), then<&worker::done>());
  }
  void done(pe&) { ++told; }
  using tasks = task_list<launch<&worker::start>, use<&worker::summing>, local<&worker::done>>;
};
constexpr layout grid = layout{wse2, 7, 2}.place<worker>(all).wire(sums);
static_assert(routed<grid>());

int main() {
  std::puts(draw(grid, 4).c_str());
  fabric f{grid};
  f.launch();
  int wrong = 0;
  for (int x = 0; x < 7; ++x)
    for (int i = 0; i < 3; ++i)
      wrong += f.read(x, 1, &worker::x)[i] != x * (x + 1) / 2 + i * (x + 1) ||
               f.read(x, 1, &worker::told) != 1;
  std::printf("the last PE has %d, %d, %d; %d words are wrong\n", f.read(6, 0, &worker::x)[0],
              f.read(6, 0, &worker::x)[1], f.read(6, 0, &worker::x)[2], wrong);
  // The launch begins a task, which issues the first operation; the end of the last one begins another task.
  const auto counted = static_cast<f64>(fabric{grid, timed{}}.launch().cycles);
  const f64 formula = sums.cycles(grid, 3) + collective::restart + collective::begin;
  std::printf("a scan of 3 words takes %.0f cycles; %.0f by its formula\n", counted, formula);
  return wrong == 0 ? 0 : 1;
}
