// SPDX-License-Identifier: MIT
// A histogram whose buckets lie on all PEs. A value travels to the PE of its bucket, first along its column
// and then along a row, on rings that are folded so that no step is long. No PE knows when the last value has
// arrived; so each reports the values that it has received, and a tally tells all PEs when none is missing.
// Then the next phase may begin: which bucket is the fullest?
#include <wsl/collective/all_reduce.hpp>
#include <wsl/collective/tally.hpp>
#include <wsl/host/device.hpp>
#include <wsl/collective/folded_ring.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>
using namespace wsl;

struct parcel {  // four bytes: a payload
  u8 x, y;
  u16 bucket;
};
constexpr folded_ring<parcel> in_column{0, folded_ring<parcel>::axis::columns},
                              in_row{3, folded_ring<parcel>::axis::rows};
constexpr tally arrivals{.first = 6};
constexpr all_reduce<u32, larger> fullest{.first = 11};

/// The values that go around a ring wait in memory until the fabric takes them: a PE that cannot send still
/// receives, so a ring whose queues are full cannot block itself.
template <auto ring, u32 room>
class outbox {
 public:
  void put(pe& me, color<parcel> to, parcel p) {
    waiting_[put_++ % room] = p, to_ = to;
    if (put_ - taken_ == 1) me.activate<&outbox::send>();
  }
 private:
  void send(pe& me) {
    me.async(mov(fabout(to_), mem(waiting_).part(static_cast<int>(taken_ % room), 1)), then<&outbox::sent>());
  }
  void sent(pe& me) {
    if (put_ != ++taken_) me.activate<&outbox::send>();
  }
  parcel waiting_[room]{};
  color<parcel> to_{};
  u32 put_ = 0, taken_ = 0;

 public:
  using tasks = task_list<local<&outbox::send>, local<&outbox::sent>, sends<ring>>;
};

template <u32 width, u32 height, u32 values, u32 buckets>
struct histogram {
  static constexpr u32 all_values = width * height * values;
  u32 value[values]{}, bucket[buckets]{}, most = 0;
  // There is room for all values that can be on their way in a column, or turn into one row.
  outbox<in_column, height * values> vertical;
  outbox<in_row, width * height * values> horizontal;
  tally_counter<arrivals> arrived;
  reducer<fullest> comparing;

  void start(pe& me) {
    arrived.expect(me, all_values);
    for (u32 v : value) {
      const u32 target = v / buckets;
      pass(me, {static_cast<u8>(target % width), static_cast<u8>(target / width),
                static_cast<u16>(v % buckets)});
    }
  }
  void pass(pe& me, parcel p) {
    if (p.y != me.y()) vertical.put(me, in_column.out(me.y(), me.height()), p);
    else if (p.x != me.x()) horizontal.put(me, in_row.out(me.x(), me.width()), p);
    else ++bucket[p.bucket], arrived.report(me);
  }
  void all_are_here(pe& me, u32) { comparing.contribute(me, *std::max_element(bucket, bucket + buckets)); }
  void compared(pe&, u32 largest) { most = largest; }

  using tasks = task_list<launch<&histogram::start>, on<in_column, &histogram::pass>,
                          on<in_row, &histogram::pass>, use<&histogram::vertical>,
                          use<&histogram::horizontal>, use<&histogram::arrived>, use<&histogram::comparing>,
                          on<arrivals.complete(), &histogram::all_are_here>,
                          on<fullest.total(), &histogram::compared>>;
};

/// Counts random values on the fabric and serially, and returns how many of the numbers differ.
template <u32 width, u32 height, u32 values, u32 buckets>
int wrong() {
  using program = histogram<width, height, values, buckets>;
  layout l{wse2, width, height};
  l.place<program>(all).wire(in_column, in_row, arrivals, fullest);
  fabric f{l};
  device d{f};

  std::mt19937 engine{7};
  std::uniform_int_distribution<u32> random{0, width * height * buckets - 1};
  std::vector<u32> value(program::all_values), expected(width * height * buckets);
  for (u32& v : value) v = std::min(random(engine), random(engine)), ++expected[v];
  d.copy_in(&program::value, all, value);
  d.launch();

  const std::vector<u32> found = d.copy_out(&program::bucket, all);
  int differ = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) differ += found[i] != expected[i];
  for (u32 most : d.copy_out(&program::most, all))
    differ += most != *std::max_element(expected.begin(), expected.end());
  return differ;
}

int main() {
  const int differ = wrong<6, 4, 64, 10>() + wrong<3, 5, 20, 3>();
  std::printf("histograms on 6 x 4 and 3 x 5 PEs: %d numbers are wrong\n", differ);
  return differ == 0 ? 0 : 1;
}
