// SPDX-License-Identifier: MIT
// Where a debugger stops a run, and what it has seen arrive.
#pragma once
#include <fmt/format.h>

#include <algorithm>
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
    value,     ///< a watched member of the PE `at` has another value, or its condition has become true
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
  std::vector<int> numbers{};  ///< of the stops and watches because of which it stands here

  bool has_ended() const { return why >= reason::quiet; }
};

/// A wavelet that has reached a PE.
struct arrival {
  u64 cycle = 0;
  coord at;
  wavelet word;
};

namespace debug {

/// "stop 2", or "stops 2, 3 and 5".
inline std::string stops_text(const std::vector<int>& numbers) {
  std::string text = numbers.size() == 1 ? "stop " : "stops ";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
  return text;
}
/// One stop for all reasons to stop at one step, of which there is at least one: "cycle 6, stop 1: PE(1, 0)
/// begins add(3); stop 2: ...". Reasons with the same text are one.
inline stop joined(std::vector<stop> reasons) {
  std::vector<stop> different;
  for (stop& r : reasons) {
    const auto same = std::find_if(different.begin(), different.end(),
                                   [&](const stop& d) { return d.text == r.text && !r.text.empty(); });
    if (same == different.end()) different.push_back(std::move(r));
    else same->numbers.insert(same->numbers.end(), r.numbers.begin(), r.numbers.end());
  }
  stop all = different.front();
  all.numbers.clear();
  all.text = fmt::format("cycle {}", all.cycle);
  for (const stop& r : different) {
    const bool first = &r == &different.front();
    if (!r.numbers.empty()) all.text += (first ? ", " : "; ") + stops_text(r.numbers) + ": " + r.text;
    else if (!r.text.empty()) all.text += (first ? ": " : "; ") + r.text;
    all.numbers.insert(all.numbers.end(), r.numbers.begin(), r.numbers.end());
  }
  return all;
}

}  // namespace debug
}  // namespace wsl
