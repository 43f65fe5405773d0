// SPDX-License-Identifier: MIT
// The times at which the words of host streams come over the link (host_link.hpp). The host's commands are
// carried out one after the other. The words of one go to the PEs of its stream in turn, so all times are
// known when the host writes: they do not depend on the run.
#pragma once
#include <algorithm>
#include <cmath>

#include "../../core/coord.hpp"
#include "../../support/flat_queue.hpp"
#include "../host_link.hpp"

namespace wsl::engines {

/// When the words of one PE of a stream are at the edge; empty without a link.
class arrival_times {
 public:
  /// So many words, the first at a time in cycles, the others `step` cycles apart.
  void add(u64 words, f64 first, f64 step) {
    if (words > 0) parts_.push({words, 0, first, step});
  }
  /// The first cycle in which the next word can enter.
  u64 next() {
    if (parts_.empty()) return 0;
    const part& p = parts_.front();
    return static_cast<u64>(std::ceil(p.first + static_cast<f64>(p.taken) * p.step));
  }
  void take() {
    if (!parts_.empty() && ++parts_.front().taken == parts_.front().words) parts_.pop();
  }

 private:
  struct part {
    u64 words, taken;
    f64 first, step;
  };
  support::flat_queue<part> parts_;
};

/// Commands of the host: words for all PEs of a stream, or some, one PE after the other.
class host_commands {
 public:
  host_commands(const host_link& link, f64 clock_hz)
      : on_(link.channels > 0),
        cycles_a_word_(on_ ? 32 / (link.channels * link.bits_a_second) * clock_hz : 0),
        latency_(link.latency * clock_hz) {}

  /// The host writes words now to the PE with a place among the n of a stream. It is part of the last command
  /// if that was to PEs before this one of the same stream.
  void write(arrival_times& to, u64 now, int color, u64 place, u64 n, u64 words) {
    if (!on_) return;
    if (color != color_ || now != now_ || place <= place_) begin_ = std::max(static_cast<f64>(now), end_);
    color_ = color, now_ = now, place_ = place;
    const auto time_of = [&](u64 word) {
      return begin_ + static_cast<f64>(word * n + place + 1) * cycles_a_word_;
    };
    to.add(words, time_of(0) + latency_, static_cast<f64>(n) * cycles_a_word_);
    if (words > 0) end_ = std::max(end_, time_of(words - 1));
  }

 private:
  bool on_;
  f64 cycles_a_word_, latency_;
  f64 begin_ = 0, end_ = 0;  // of the last command; and of all of them
  int color_ = -1;
  u64 now_ = 0, place_ = 0;
};

}  // namespace wsl::engines
