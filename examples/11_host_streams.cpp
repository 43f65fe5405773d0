// SPDX-License-Identifier: MIT
// Words stream through the fabric: the host writes them at the west edge and reads them at the east edge.
// Each row of PEs sorts its words: a PE keeps the larger of two words and passes on the other. No launch is
// needed, because the words trigger the tasks.
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>
using namespace wsl;

constexpr int W = 8, H = 3;  // each of H rows sorts W words
constexpr i32 smallest = std::numeric_limits<i32>::min(), largest = std::numeric_limits<i32>::max();
constexpr lane<i32> right{.first = 0, .toward = east, .ends = lane_ends::host};  // colors 0 and 1

struct keeper {
  i32 kept = smallest;
  void take(pe& me, i32 x) {
    right.send(me, std::min(x, kept));
    kept = std::max(x, kept);
  }
  using tasks = task_list<on<right, &keeper::take>, sends<right>>;
};

constexpr layout sorter = layout{wse2, W, H}.place<keeper>(all).wire(right);
static_assert(routed<sorter>());

int main() {
  std::vector<i32> words;
  for (int i = 0; i < W * H; ++i) words.push_back(i * 37 % 101);
  std::vector<i32> sorted(words.size()), rest(words.size());

  fabric f{sorter};
  device d{f};
  constexpr color<i32> in = right.entrance(sorter), out = right.exit(sorter);
  d.stream_in(in, words);                                    // in equal parts, the first for the first row
  d.stream_out(out, rest);                                   // `smallest`, kept before: W times a row
  d.stream_in(in, std::vector<i32>(words.size(), largest));  // pushes the sorted words out
  d.stream_out(out, sorted);

  int wrong = 0;
  for (auto row = sorted.begin(), given = words.begin(); row != sorted.end(); row += W, given += W) {
    std::sort(given, given + W);
    wrong += !std::equal(row, row + W, given);
    for (int i = 0; i < W; ++i) std::printf("%4d", row[i]);
    std::printf("\n");
  }
  return wrong == 0 ? 0 : 1;
}
