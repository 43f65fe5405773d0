// SPDX-License-Identifier: MIT
// A limit on the seconds of one run, for programs that never become quiet: a task that activates itself for
// ever, or PEs that answer each other for ever. The environment variable WSL_LIMIT=10s sets it. In the last
// tenth of the time engines count which tasks run, so that the fault which ends the run names them. An engine
// looks at the clock between visits of PEs or every few cycles, and only if there is a limit.
#pragma once
#include <time.h>

#include <cstdlib>
#include <string>

#include "../../support/flat_vector.hpp"
#include "../../support/text.hpp"
#include "../rules.hpp"

namespace wsl::engines {

/// How often the tasks of each PE have run. One thread at a time runs a PE, so nothing is locked.
class task_census {
 public:
  struct entry {
    const char* task = "";
    u64 times = 0;
  };

  void open(std::size_t pes) { of_ = support::flat_vector<support::flat_vector<entry>>(pes); }
  void note(u32 pe, const char* task, u64 times) {
    for (entry& e : of_[pe])
      if (e.task == task) return void(e.times += times);
    of_[pe].push_back({task, times});
  }
  std::size_t size() const { return of_.size(); }
  const support::flat_vector<entry>& of(std::size_t pe) const { return of_[pe]; }

 private:
  support::flat_vector<support::flat_vector<entry>> of_;
};

/// The seconds that WSL_LIMIT gives one run, or 0 for no limit if it is not set. Throws fault if its value is
/// not a number of seconds.
inline f64 limit_of_environment() {
  const char* given = std::getenv("WSL_LIMIT");
  if (!given || !*given) return 0;
  char* unit = nullptr;
  const f64 seconds = std::strtod(given, &unit);
  if (std::string(unit) != "s" || !(seconds > 0) || seconds > 1e9)
    throw fault(std::string("wsl: WSL_LIMIT is \"") + given +
                "\"; it must be the seconds after which a run is ended, as in WSL_LIMIT=10s");
  return seconds;
}

class run_limit {
 public:
  /// The fault that ends the run; `explained` adds the tasks that have run.
  struct passed : fault {
    explicit passed(const run_limit& l)
        : fault("wsl: the run has not become quiet in " + l.text() + " (WSL_LIMIT=" + l.text() + ")") {}
  };

  /// Throws fault if WSL_LIMIT is no limit.
  run_limit() : seconds_(limit_of_environment()) {}

  bool is_set() const { return seconds_ > 0; }
  /// Notes that a run on this number of PEs begins.
  void begin(std::size_t pes) {
    if (!is_set()) return;
    begin_ = seconds_now();
    census_.open(pes);
  }
  /// The run has stood still for so many seconds, which do not count.
  void leave_out(f64 seconds) { begin_ += seconds; }
  /// Looks at the clock and returns where to count the tasks that run from now on: null before the last tenth
  /// of the time. `before` is the result of the caller's last look. Throws `passed` when the time is over,
  /// but not before the caller has counted a task. Any thread may ask; a PE is counted by the thread that
  /// runs it.
  task_census* look(const task_census* before) {
    const f64 time = seconds_now() - begin_;
    if (before && time > seconds_) throw passed(*this);
    return time > 0.9 * seconds_ ? &census_ : nullptr;
  }

  /// The same fault with the tasks that ran most; `state(i)` is the state of PE i. No thread may be counting.
  template <class State>
  fault explained(const passed& what, State state) const {
    std::string text = what.what();
    std::size_t lines = 0;
    for (const busiest& b : most_runs()) {
      text += lines++ ? "\n  " : "; in the last tenth of that these tasks ran most:\n  ";
      text += name_of(state(b.pe)) + ": " + b.of.task + ", " + support::counted(b.of.times, "time");
    }
    if (!lines)
      return fault(
          text +
          "; no task ran in the last tenth of that: operations without an end may move words for ever");
    return fault(
        text +
        "\nA task that activates itself for ever, or PEs that answer each other for ever, never end a run: "
        "give them a condition to stop, or the run more time");
  }

 private:
  struct busiest {
    u32 pe = 0;
    task_census::entry of;
  };
  static constexpr std::size_t most_lines = 5;

  support::flat_vector<busiest> most_runs() const {
    support::flat_vector<busiest> top;
    for (std::size_t pe = 0; pe < census_.size(); ++pe)
      for (const task_census::entry& e : census_.of(pe)) {
        std::size_t place = top.size();
        while (place > 0 && top[place - 1].of.times < e.times) --place;
        if (place == most_lines) continue;
        if (top.size() < most_lines) top.push_back({});
        for (std::size_t k = top.size() - 1; k > place; --k) top[k] = top[k - 1];
        top[place] = {static_cast<u32>(pe), e};
      }
    return top;
  }
  std::string text() const {
    std::string digits = std::to_string(seconds_);  // 0.500000
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits + "s";
  }
  static f64 seconds_now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<f64>(t.tv_sec) + 1e-9 * static_cast<f64>(t.tv_nsec);
  }

  f64 seconds_ = 0, begin_ = 0;
  task_census census_;
};

}  // namespace wsl::engines
