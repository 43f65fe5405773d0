// SPDX-License-Identifier: MIT
// Tasks keep notes: texts, values and times, which the host reads when the run has ended. A sender's numbers
// go to two receivers, which double them and add them up; the notes show what each PE did, and in which cycle
// of the machine.
#include <wsl/engine/timed.hpp>
#include <wsl/program/notes.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int N = 3;
constexpr color<u32> comm{0};

struct sender {
  u32 x[N]{};
  notes<8> log;

  void start(pe& me) {
    log.add("sender begins"), log.stamp(me);
    me.async(mov(fabout(comm), mem(x)), then<&sender::sent>());
  }
  void sent(pe& me) { log.add("sender is done"), log.stamp(me); }

  using tasks = task_list<launch<&sender::start>, local<&sender::sent>, sends<comm>>;
};

struct receiver {
  u32 sum = 0;
  notes<16> log;

  void take(pe& me, u32 x) {
    log.stamp(me);
    sum += 2 * x;
    log.add("sum"), log.add(sum);
  }

  using tasks = task_list<on<comm, &receiver::take>>;
};

constexpr layout line = layout{wse2, 3, 1}
  .place<sender>(column(0))
  .place<receiver>(columns(1, edge))
  .path(comm, column(0), ramp >> east)
  .path(comm, column(1), west >> (ramp | east))
  .path(comm, column(2), west >> ramp);
static_assert(routed<line>());

template <class P>
void print(fabric& f, int x) {
  const auto& log = f.program_at<P>({x, 0}).log;
  std::printf("PE %d:", x);
  for (int i = 0; i < log.size(); ++i)
    std::printf(" %s%s", log.text(i).c_str(), i == log.size() - 1 ? "\n" : ",");
}

int main() {
  fabric f{line, timed{}};
  for (u32 i = 0; i < N; ++i) f.program_at<sender>({0, 0}).x[i] = 10 + i;
  f.launch<&sender::start>(column(0));

  print<sender>(f, 0);
  print<receiver>(f, 1);
  print<receiver>(f, 2);
  const bool right = f.read(1, 0, &receiver::sum) == 66 && f.program_at<receiver>({2, 0}).log.text(8) == "66";
  return right ? 0 : 1;
}
