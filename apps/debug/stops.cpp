// SPDX-License-Identifier: MIT
// A program that stops, for the test of wsl-debug: debug_stops deadlock|fault|quiet reference|threaded|timed
// [file for a dump when all is quiet]; with "prompt" in the first place a debugger reads commands from the
// standard input instead, on the reference or the timed engine.
//
// A row of PEs adds up what its first PE sends, and the last PE hears two values from the row below. In the
// deadlock it waits for a third, and PE 1 activates a task that it has blocked; in the fault, PE 2 throws.
#include <cstdio>
#include <cstring>
#include <wsl/debug/debugger.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> values{2}, answer{5};

struct adder {
  f32 sum = 0;
  f32 seen[2][2]{};
  std::array<f16, 3> halves{f16(0.5f), f16(1.f), f16(-2.f)};
  int count = 0, fails_at = 0;
  std::vector<i32> steps;

  void begin(pe& me, int fails_at_column) {
    fails_at = fails_at_column;
    if (!me.west_edge()) return;
    for (int i = 1; i <= 3; ++i) me.send(values, static_cast<f32>(i));
  }
  void add(pe& me, f32 x) {
    if (me.x() == fails_at) throw std::out_of_range("the table has no such row");
    sum += x;
    seen[count / 2][count % 2] = x;
    steps.push_back(++count);
    if (count == 3) me.activate<&adder::enough>();
  }
  void enough(pe&) {}
  task give(pe& me, int most) {
    if (me.x() == 1 && most == 3) me.block<&adder::enough>(), me.activate<&adder::enough>();
    if (me.x() == 3) co_await mov(mem(more).part(0, most), fabin(answer));
  }
  f32 more[4]{};
  using tasks = task_list<launch<&adder::begin>, launch<&adder::give>, on<values, &adder::add>,
                          local<&adder::enough>, sends<values>, reads<answer>>;
  using exports = export_list<&adder::sum, &adder::seen, &adder::halves, &adder::count, &adder::steps>;
};

struct giver {
  f32 mine[4]{4, 3, 2, 1};
  void give(pe& me) {
    if (me.x() == 0) me.async(mov(fabout(answer), mem(mine).part(0, 2)));
  }
  using tasks = task_list<launch<&giver::give>, sends<answer>>;
};

constexpr layout stopping = layout{wse2, 4, 2}
                                .place<adder>(row(0))
                                .place<giver>(row(1))
                                .path(values, at(0, 0), ramp >> (ramp | east))
                                .path(values, columns(1, 3).row(0), west >> (ramp | east))
                                .path(values, at(3, 0), west >> ramp)
                                .path(answer, at(0, 1), ramp >> east)
                                .path(answer, columns(1, 3).row(1), west >> east)
                                .path(answer, at(3, 1), west >> north)
                                .path(answer, at(3, 0), south >> ramp);
static_assert(routed<stopping>());

template <class Engine>
int run(const char* how, const Engine& engine, const char* file) {
  fabric f{stopping, engine};
  try {
    f.start<&adder::begin>(row(0), std::strcmp(how, "fault") == 0 ? 2 : -1);
    f.run();
    f.start<&giver::give>(row(1));
    f.start<&adder::give>(row(0), std::strcmp(how, "deadlock") == 0 ? 3 : 2);
    f.run();
  } catch (const std::exception& e) { std::printf("%s\n", e.what()); }
  if (file) f.dump(file);
  return 0;
}

template <class Engine>
int converse(const Engine& engine) {
  debugger d{[&] {
    fabric f{stopping, engine};
    f.start<&adder::begin>(row(0), -1);
    f.start<&adder::give>(row(0), 3);
    f.start<&giver::give>(row(1));
    return f;
  }};
  d.prompt();
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  const char* const file = argc > 3 ? argv[3] : nullptr;
  if (std::strcmp(argv[1], "prompt") == 0)
    return std::strcmp(argv[2], "timed") == 0 ? converse(timed{}) : converse(reference{});
  if (std::strcmp(argv[2], "reference") == 0) return run(argv[1], reference{}, file);
  if (std::strcmp(argv[2], "timed") == 0) return run(argv[1], timed{}, file);
  return run(argv[1], threaded{.threads = 2, .pes_per_partition = 1}, file);
}
