// SPDX-License-Identifier: MIT
// The execution log of each PE: its tasks, host calls and operations in order, where equal ones in a row are
// one entry with a count. The threaded engine writes such a log if it is given one; a PE is run by one thread
// at a time, so nothing is locked. fabric/race.hpp compares logs.
#pragma once
#include <string_view>

#include "../../core/coord.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl {

namespace engines {

struct run_entry {
  const char* what = "";  ///< name of the task or operation
  int color = -1;         ///< the color of the wavelets that it took, -1 for none
  coord from;             ///< the PE that sent them
  u64 times = 0;          ///< wavelets, or 1

  bool same_kind(const run_entry& other) const {
    return color == other.color && from == other.from &&
           (what == other.what || std::string_view(what) == other.what);
  }
};

}  // namespace engines

class run_log {
 public:
  void open(std::size_t pes) { runs_ = support::flat_vector<support::flat_vector<engines::run_entry>>(pes); }

  void note(u32 pe, const engines::run_entry& e) {
    support::flat_vector<engines::run_entry>& runs = runs_[pe];
    if (!runs.empty() && runs.back().same_kind(e)) runs.back().times += e.times;
    else runs.push_back(e);
  }
  /// The log of the PE with this index in its engine.
  const support::flat_vector<engines::run_entry>& of(u32 pe) const { return runs_[pe]; }

 private:
  support::flat_vector<support::flat_vector<engines::run_entry>> runs_;
};

}  // namespace wsl
