// SPDX-License-Identifier: MIT
// The number of words that fit into a PE that forwards all words that it receives while no other PE takes
// them: from its router over the ramp, the input queue, one operation, the output queue and the ramp back
// into the router. The vendor's tutorial pipeline-01 states the number.
#pragma once
#include "line.hpp"

namespace timing_table {

struct pipe_end {
  void start(pe& me) {
    if (me.west_edge()) me.async(mov(fabout(even, 1000), u16{1}));
    else if (!me.east_edge()) me.async(add(fabout(odd), fabin(even, forever), u16{1}));
  }
  static constexpr color<u16> even{0}, odd{1};
  using tasks = task_list<launch<&pipe_end::start>, sends<even, odd>, reads<even, odd>>;
};
/// The same without the operation in the middle: one color goes through.
struct wire_end {
  void start(pe& me) {
    if (me.west_edge()) me.async(mov(fabout(pipe_end::even, 1000), u16{1}));
  }
  using tasks = task_list<launch<&wire_end::start>, sends<pipe_end::even>, reads<pipe_end::even>>;
};

/// Words that leave the first PE before everything stands still.
inline int words_until_stall(const layout& line, const area& programs) {
  fabric f{line, timed{}};
  try {
    f.launch(programs);
  } catch (const deadlock& d) {
    for (const deadlock::wait& w : d.open())
      if (w.why == deadlock::wait::reason::output && w.at == coord{0, 0})
        return 1000 - static_cast<int>(w.count);
  }
  throw std::runtime_error("the pipeline does not stall");
}

inline int words_in_pipeline(const machine& m) {
  constexpr auto in = pipe_end::even, out = pipe_end::odd;
  layout relayed{m, 3, 1};
  relayed.place<pipe_end>(all)
      .path(in, column(0), ramp >> east)
      .path(in, column(1), west >> ramp)
      .path(out, column(1), ramp >> east)
      .path(out, column(2), west >> ramp);
  layout direct{m, 3, 1};
  direct.place<wire_end>(columns(0, edge, 2))
      .path(in, column(0), ramp >> east)
      .path(in, column(1), west >> east)
      .path(in, column(2), west >> ramp);
  return words_until_stall(relayed, all) - words_until_stall(direct, columns(0, edge, 2));
}

}  // namespace timing_table
