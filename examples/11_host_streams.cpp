// SPDX-License-Identifier: MIT
// Words stream through the fabric: the host writes them at the west edge and reads them at the east edge.
// Each row of PEs sorts its words: a PE keeps the larger of two words and passes on the other. No launch is
// needed, because the words trigger the tasks.
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>
using namespace wsl;

constexpr int W = 8, H = 3;  // each of H rows sorts W words
constexpr i32 smallest = std::numeric_limits<i32>::min(), largest = std::numeric_limits<i32>::max();
constexpr color<i32> red{0}, blue{1};

template <color<i32> in, color<i32> out>
struct keeper {
  i32 kept = smallest;
  void take(pe& me, i32 x) {
    me.send(out, std::min(x, kept));
    kept = std::max(x, kept);
  }
  using tasks = task_list<on<in, &keeper::take>, sends<out>>;
};

constexpr layout sorter = layout{wse2, W, H}
  .place<keeper<red, blue>>(columns(0, edge, 2))
  .place<keeper<blue, red>>(columns(1, edge, 2))
  .path(red,  columns(0, edge, 2), west >> ramp)
  .path(blue, columns(0, edge, 2), ramp >> east)
  .path(blue, columns(1, edge, 2), west >> ramp)
  .path(red,  columns(1, edge, 2), ramp >> east)
  .stream_in(red, column(0), west)
  .stream_out(red, column(edge - 1), east);
static_assert(routed<sorter>());

int main() {
  std::vector<i32> words;
  for (int i = 0; i < W * H; ++i) words.push_back(i * 37 % 101);
  std::vector<i32> sorted(words.size()), rest(words.size());

  fabric f{sorter};
  device d{f};
  d.stream_in(red, words);                                    // in equal parts, the first for the first row
  d.stream_out(red, rest);                                    // `smallest`, kept before: W times a row
  d.stream_in(red, std::vector<i32>(words.size(), largest));  // pushes the sorted words out
  d.stream_out(red, sorted);

  int wrong = 0;
  for (auto row = sorted.begin(), given = words.begin(); row != sorted.end(); row += W, given += W) {
    std::sort(given, given + W);
    wrong += !std::equal(row, row + W, given);
    for (int i = 0; i < W; ++i) std::printf("%4d", row[i]);
    std::printf("\n");
  }
  return wrong == 0 ? 0 : 1;
}
