// SPDX-License-Identifier: MIT
// Switches: one color leads four ways. A hub in the middle sends a word and then a control wavelet, which
// makes the hub's router turn the color to the next side. The words go west, north, east and south in turn
// although the program never names a direction; the positions of the switch form a ring.
#include <wsl/layout/draw.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr color<i32> post{0};

struct hub {
  void deal(pe& me, i32 words) {
    for (i32 i = 0; i < words; ++i) {
      me.send(post, i);
      me.send_control(post, switch_adv);
    }
  }
  using tasks = task_list<launch<&hub::deal>, sends<post>, steers<post, switch_adv>>;
};

struct house {
  i32 words = 0, sum = 0;
  void take(pe&, i32 word) { ++words, sum += word; }
  using tasks = task_list<on<post, &house::take>>;
};

constexpr layout village = layout{wse2, 3, 3}
  .place<hub>(at(1, 1))
  .place<house>(row(1).columns(0, edge, 2))
  .place<house>(column(1).rows(0, edge, 2))
  .path(post, at(1, 1), ramp >> west,
        switches{.pos1 = {.to = north}, .pos2 = {.to = east}, .pos3 = {.to = south}, .ring = true})
  .path(post, at(0, 1), east >> ramp)
  .path(post, at(1, 0), south >> ramp)
  .path(post, at(2, 1), west >> ramp)
  .path(post, at(1, 2), north >> ramp);
static_assert(routed<village>());

int main() {
  std::printf("%s\n", draw(village, post).c_str());
  fabric f{village};
  int expected[4]{}, dealt = 0, wrong = 0;
  for (const int words : {10, 34}) {  // the second time the switch goes on where it stopped
    f.launch<&hub::deal>(at(1, 1), words);
    for (int word = 0; word < words; ++word) expected[dealt++ % 4] += word;
    for (int turn = 0; const coord at : {coord{0, 1}, coord{1, 0}, coord{2, 1}, coord{1, 2}}) {
      const house& h = f.program_at<house>(at);
      std::printf("PE(%d, %d) took %d words, the sum is %d\n", at.x, at.y, h.words, h.sum);
      wrong += h.sum != expected[turn++];
    }
  }
  return wrong == 0 ? 0 : 1;
}
