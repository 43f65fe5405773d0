// SPDX-License-Identifier: MIT
// Where the time of a step goes, layer by layer. The threads of the engine share the step's time out: what
// each does at any moment belongs to a layer and is forward, backward, update, transfer, exchange or waiting.
// A layer's row is the mean of all threads, so the rows sum to the step. train/report_text.hpp prints them.
#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "../../../engine/threaded/thread_times.hpp"
#include "../../model/network.hpp"

namespace wsl::ml {

/// Seconds of a step.
struct layer_times {
  std::string name;
  f64 forward = 0, backward = 0;  ///< a worker computes
  f64 update = 0;                 ///< a memory server adds a gradient up, or updates weights by it
  f64 transfer = 0;               ///< the engine moves weights or gradients, and looks for work
  f64 exchange = 0;               ///< workers exchange activations
  f64 waiting = 0;                ///< for other threads, while this layer is at work or comes next

  f64 all() const { return forward + backward + update + transfer + exchange + waiting; }
  layer_times& operator+=(const layer_times& x) {
    forward += x.forward, backward += x.backward, update += x.update;
    transfer += x.transfer, exchange += x.exchange, waiting += x.waiting;
    return *this;
  }
};

/// The kinds of work of a training step.
namespace work_kind {
inline constexpr int transfer = thread_times::moving, waiting = thread_times::waiting,
                     forward = thread_times::first_of_program, backward = forward + 1, update = forward + 2,
                     exchange = forward + 3, count = forward + 4;
}

/// A stretch of time of a thread of the engine, in seconds since the step began.
struct timeline_event {
  int thread = 0;
  int stage = 0;  ///< its number in the network; -1: the host
  int kind = 0;   ///< of `work_kind`
  f64 begin = 0, end = 0;
};
inline std::vector<timeline_event> timeline_of(const thread_times& times, f64 seconds) {
  std::vector<timeline_event> all;
  times.each_event([&](int thread, int subject, int kind, f64 begin, f64 end) {
    all.push_back({thread, subject == times.host() ? -1 : subject, kind, begin * seconds, end * seconds});
  });
  return all;
}

/// The rows of all stages, and one of the host: what a step does before, between and after the runs of the
/// fabric. They sum to `seconds`. Empty if no thread was measured.
inline std::vector<layer_times> layers_of(const network& n, const thread_times& times, f64 seconds) {
  std::vector<layer_times> rows;
  const auto row = [&](const std::string& name, int subject) {
    const auto of = [&](int kind) { return times.share(subject, kind) * times.seconds(); };
    rows.push_back({name, of(work_kind::forward), of(work_kind::backward), of(work_kind::update),
                    of(work_kind::transfer), of(work_kind::exchange), of(work_kind::waiting)});
  };
  for (const auto& s : n.stages()) row(s->name, s->number);
  row("host", times.host());
  if (rows.back().all() == 0) rows.clear();
  // The step's clock and that of the threads do not start and stop at one moment: all threads wait in
  // between.
  else rows.back().waiting = std::max(0., rows.back().waiting + seconds - times.seconds());
  return rows;
}

/// The block that a layer belongs to: "layer 3" of "layer 3 qkv", or the name itself.
inline std::string block_of(const std::string& layer) {
  const auto number = layer.find(' ') + 1, end = layer.find(' ', number);
  const bool is_part =
      number > 0 && end != std::string::npos && std::isdigit(static_cast<unsigned char>(layer[number]));
  return is_part ? layer.substr(0, end) : layer;
}
/// One row for each block, in the order of their first layers.
inline std::vector<layer_times> by_block(const std::vector<layer_times>& layers) {
  std::vector<layer_times> blocks;
  for (const layer_times& x : layers) {
    if (blocks.empty() || blocks.back().name != block_of(x.name))
      blocks.push_back({.name = block_of(x.name)});
    blocks.back() += x;
  }
  return blocks;
}

}  // namespace wsl::ml
