// SPDX-License-Identifier: MIT
// The record of a traced run of the timed engine: tasks, operations and stalls of every PE with their times,
// and the number of words that cross each link. It ends when it is full, because viewers cannot open larger
// traces.
#pragma once
#include "../../core/scalar.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

class timeline {
 public:
  static constexpr std::size_t most_events = 1'000'000;
  static constexpr u64 window = 64;  ///< cycles for which a link's words are counted together

  struct event {
    enum class kind : u8 { task, operation, starved, held_up };
    kind what;
    u8 thread;  ///< 0 the main thread, k + 1 microthread k
    u32 pe;
    const char* name;
    u64 from, to;
  };
  struct count {
    u32 pipe;
    u32 words;
    u64 window;  ///< its number
  };

  void note(const event& e) {
    if (e.from == e.to) return;
    if (full()) cut_ = true;
    else events_.push_back(e);
  }
  /// Records that a word has entered a pipe.
  void crossed(u32 pipe, u64 now) {
    while (last_.size() <= pipe) last_.push_back(none);
    if (const u32 last = last_[pipe]; last != none && counts_[last].window == now / window)
      return void(++counts_[last].words);
    if (full()) return void(cut_ = true);
    last_[pipe] = static_cast<u32>(counts_.size());
    counts_.push_back({pipe, 1, now / window});
  }

  const support::flat_vector<event>& events() const { return events_; }
  const support::flat_vector<count>& counts() const { return counts_; }
  bool cut() const { return cut_; }

 private:
  static constexpr u32 none = ~u32{0};
  bool full() const { return events_.size() + counts_.size() >= most_events; }

  support::flat_vector<event> events_;
  support::flat_vector<count> counts_;
  support::flat_vector<u32> last_;  // of each pipe, its newest count
  bool cut_ = false;
};

}  // namespace wsl::engines
