// SPDX-License-Identifier: MIT
// The time of one all-reduce: every PE contributes, and when the total arrives it contributes to the next
// one.
#include <wsl/collective.hpp>

#include "measure.hpp"

namespace {
using namespace wsl;

constexpr all_reduce<f32> sum{0};

struct voter {
  reducer<sum> votes;
  int left = 0;
  f64 totals = 0;

  void start(pe& me, int rounds) {
    left = rounds;
    votes.contribute(me, 1);
  }
  void count(pe& me, f32 total) {
    totals += total;
    if (--left) votes.contribute(me, 1);
  }

  using tasks = task_list<launch<&voter::start>, use<&voter::votes>, on<sum.total(), &voter::count>>;
};

class rounds_of_votes {
 public:
  rounds_of_votes(int side, int rounds)
      : side_(side), rounds_(rounds), fabric_{make(side), bench::on_threads(1)} {}

  int run() {
    fabric_.launch<&voter::start>(all, rounds_);
    ++runs_;
    return rounds_;
  }
  void check() {
    const f64 expected = static_cast<f64>(side_ * side_) * rounds_ * runs_;
    for (int y = 0; y < side_; ++y)
      for (int x = 0; x < side_; ++x)
        bench::require(fabric_.read(x, y, &voter::totals) == expected, "an all-reduce has a wrong total");
  }

 private:
  static layout make(int side) {
    layout l{host, side, side};
    l.place<voter>(all);
    sum.wire(l);
    return l;
  }

  int side_, rounds_, runs_ = 0;
  fabric fabric_;
};

bool add_side(int side, int rounds) {
  const std::string name = std::to_string(side);
  return bench::add<rounds_of_votes>("all-reduce " + name + "x" + name, "wsl", bench::unit::microseconds, 5,
                                     side, rounds);
}
const bool added[] = {add_side(4, 20'000), add_side(8, 6'000), add_side(16, 1'500), add_side(32, 400),
                      add_side(64, 80)};

}  // namespace
