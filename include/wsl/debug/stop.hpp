// SPDX-License-Identifier: MIT
// Where a debugger stops a run, and what it has seen arrive.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "../core/coord.hpp"
#include "../core/wavelet.hpp"

namespace wsl {

/// Where a debugger stands, and why.
struct stop {
  enum class reason {
    begin,     ///< nothing has run yet
    task,      ///< a task is about to run on the PE `at`
    wavelets,  ///< the number of wavelets that was waited for has arrived; the last one at `at`
    value,     ///< a watched member of the PE `at` has another value
    cycle,     ///< the cycle that was waited for has come
    step,      ///< the step that was asked for
    quiet,     ///< the run has ended
    deadlock,  ///< the run has ended, and something waits
    fault,     ///< the run has ended with an exception
  };
  reason why = reason::begin;  ///< the first of them, if there are several; `text` names all
  coord at;
  u64 cycle = 0;
  std::string text = "nothing has run yet";

  bool has_ended() const { return why >= reason::quiet; }
};

/// A wavelet that has reached a PE.
struct arrival {
  u64 cycle = 0;
  coord at;
  wavelet word;
};

namespace debug {

/// One stop for all reasons to stop at one step, of which there is at least one. A text may be empty.
inline stop joined(std::vector<stop> reasons) {
  stop all = std::move(reasons.front());
  for (std::size_t i = 1; i < reasons.size(); ++i) {
    if (!all.text.empty() && !reasons[i].text.empty()) all.text += "; ";
    all.text += reasons[i].text;
  }
  all.text = fmt::format("cycle {}{}{}", all.cycle, all.text.empty() ? "" : ": ", all.text);
  return all;
}

}  // namespace debug
}  // namespace wsl
