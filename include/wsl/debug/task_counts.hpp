// SPDX-License-Identifier: MIT
// The tasks of programs, with the numbers of PEs on which they are called, begun, active or blocked.
#pragma once
#include <fmt/format.h>

#include <cstring>

#include "../support/text.hpp"
#include "machine_state.hpp"

namespace wsl::debug {

class task_counts {
 public:
  /// The state must outlive it.
  explicit task_counts(const machine_state& of) : s_(of) {
    for (const program_info& p : of.programs) of_programs_.emplace_back(p.tasks.size());
  }

  /// Counts a PE. Requires that it has a program.
  void add(const place_state& p) {
    const std::vector<task_info>& tasks = s_.programs[p.program].tasks;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const task_info& t = tasks[k];
      counts& n = of_programs_[p.program][k];
      n.begun += t.name == p.task;
      if (t.what == detail::role::launch)
        for (const char* call : p.calls)
          if (t.name == call) {
            ++n.called;
            break;
          }
      if (t.what == detail::role::data && t.id >= 0 && t.id < detail::max_colors)
        n.blocked += (p.blocked_colors & detail::color_bit(t.id)) != 0;
      if (t.what == detail::role::local && t.id >= 0 && t.id < detail::max_local_tasks) {
        n.active += (p.active & detail::local_bit(t.id)) != 0;
        n.blocked += (p.blocked & detail::local_bit(t.id)) != 0;
      }
    }
  }
  /// "begin, add of color 2, give (begun on 1 PE), enough (active on 1 PE, blocked on 1 PE)"
  std::string text(std::size_t program) const {
    std::string all;
    const std::vector<task_info>& tasks = s_.programs[program].tasks;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const counts& n = of_programs_[program][k];
      std::string states;
      for (const auto& [pes, what] :
           {std::pair{n.called, "called"}, {n.begun, "begun"}, {n.active, "active"}, {n.blocked, "blocked"}})
        if (pes)
          states += fmt::format("{}{} on {}", states.empty() ? "" : ", ", what, support::counted(pes, "PE"));
      all += (all.empty() ? "" : ", ") + tasks[k].name;
      if (tasks[k].what == detail::role::data && tasks[k].id >= 0)
        all += fmt::format(" of color {}", tasks[k].id);
      if (!states.empty()) all += " (" + states + ")";
    }
    return all;
  }

 private:
  struct counts {
    u64 called = 0, begun = 0, active = 0, blocked = 0;
  };

  const machine_state& s_;
  std::vector<std::vector<counts>> of_programs_;
};

}  // namespace wsl::debug
