// SPDX-License-Identifier: MIT
// The PEs whose memory may change in a step of a run, so that a debugger need not look at all that it watches
// after each: those on which a task has begun, for as long as it has not ended or operations are in flight.
#pragma once
#include <utility>
#include <vector>

#include "../core/area.hpp"
#include "../engine/engine.hpp"
#include "pe_snapshot.hpp"

namespace wsl::debug {

/// A task that has begun.
struct begun_task {
  const detail::binding* what = nullptr;  ///< null if none has
  bool has_word = false;                  ///< its input is a wavelet, with these bits
  u32 bits = 0;
};

class changing_pes {
 public:
  /// A run on this grid begins, in which any PE may be in the middle of something.
  void open(const region& grid) {
    grid_ = grid;
    of_ = std::vector<entry>(static_cast<std::size_t>(grid.count()));
    list_.clear();
    for (int k = 0; k < grid.count(); ++k) add(grid.nth(k));
  }
  void begins(coord c, const begun_task& t) {
    add(c);
    of(c).last = t, of(c).is_new = true;
  }

  /// Looks at a PE if it is one of them: look(c, entry).
  template <class Look>
  void look_at(coord c, Look look) {
    if (of(c).is_listed) see(c, look);
  }
  /// Looks at all of them, and keeps those in which something is still under way.
  template <class Look>
  void look_at_all(engines::engine& from, Look look) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < list_.size(); ++k) {
      const coord c = list_[k];
      see(c, look);
      snapshot_.clear();
      from.look_at(c, snapshot_);
      if (*snapshot_.task || !snapshot_.operations.empty()) list_[kept++] = c;
      else of(c).is_listed = false;
    }
    list_.resize(kept);
  }

  struct entry {
    begun_task last;      ///< the last task that has begun there
    bool is_new = false;  ///< it has begun since the last look
    bool is_listed = false;
  };

 private:
  entry& of(coord c) { return of_[static_cast<std::size_t>(grid_.rank(c))]; }
  void add(coord c) {
    if (std::exchange(of(c).is_listed, true)) return;
    list_.push_back(c);
  }
  template <class Look>
  void see(coord c, Look look) {
    look(c, of(c));
    of(c).is_new = false;
  }

  region grid_{};
  std::vector<entry> of_;
  std::vector<coord> list_;
  pe_snapshot snapshot_;
};

}  // namespace wsl::debug
