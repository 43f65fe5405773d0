// SPDX-License-Identifier: MIT
// Contention at a PE that receives several inputs one after the other, over links and a ramp which they
// share: a part of the cost model of reduce_cost.hpp. An input that arrives before its turn waits in the PE's
// queue, on the ramp and in the routers before it. Its words get there between those of the input whose turn
// it is, and each of them takes a cycle of the shared link. All constants are those of the machine.
#pragma once
#include "../support/inplace_vector.hpp"
#include "cost.hpp"

namespace wsl::collective {

/// One of several inputs of equal length. Times count from the start of the first operation.
struct input {
  f64 first_word = 0;  ///< the time at which it could be taken if no other input delayed it
  int queue = 0;       ///< its place among the colors that the PE receives
  int side = 0;        ///< inputs from one side share links, all share the ramp
  int shared = 0;      ///< last links of its way that later ones from its side share

  constexpr int depth() const {
    return wse2.input_depth[queue < wse2.input_queues ? queue : wse2.input_queues - 1];
  }
};
using inputs = support::inplace_vector<input, 32>;

/// The delay that the input `later` causes to the input `now`, of `words` words, which is received from
/// `start` on. The later one must have arrived before its turn.
constexpr f64 delay_by(const input& now, f64 start, const input& later, int words) {
  // While an input waits its queue fills. The PE consumes these words, except for the one in its hands,
  // while others occupy the line.
  const f64 waited = start - now.first_word, full = now.depth() - 1, spare = waited < full ? waited : full;
  f64 most = 0;
  for (int link = 0; link <= (now.side == later.side ? now.shared : 0); ++link) {
    const f64 ahead = start - later.first_word;
    // The first words of the later input cause no delay.
    const f64 fits =
        wse2.router_depth * link + ramp_latency + later.depth() - spare - (ahead > 0 ? ahead : 0);
    // The words of a waiting input that have crossed the link.
    const f64 over = wse2.router_depth * link + 3, stood = waited < over ? waited : over;
    const f64 left = words - 2 * spare - (-ahead > stood ? -ahead : stood);
    const f64 here = fits < left ? fits : left;
    if (here > most) most = here;
  }
  return most;
}

/// Whether one of the inputs from i on has the color of a later one, which then queues behind it.
constexpr bool queues(const inputs& all, int i, int later) {
  while (all[i].queue != all[later].queue) ++i;
  return i < later;
}

/// The time at which the last word of the last input has been received, in this order.
constexpr f64 taken(const inputs& all, int words) {
  f64 end = 0;
  for (int i = 0; i < all.size(); ++i) {
    const f64 before = end, ready = i ? end + restart : 0,
              start = ready > all[i].first_word ? ready : all[i].first_word;
    end = start + words;
    for (int m = i + 1; m < all.size(); ++m)
      if ((i == 0 || all[m].first_word >= before) && all[m].first_word < end && !queues(all, i, m))
        end += delay_by(all[i], start, all[m], words);
  }
  return end;
}

}  // namespace wsl::collective
