// SPDX-License-Identifier: MIT
// The commands of the debugger's prompt: its own, and those of wsl-debug on the state where it stands.
// debugger.hpp includes this behind the debugger.
#pragma once
#include "commands.hpp"
#include "debugger.hpp"

namespace wsl::debug {

inline constexpr const char* debugger_help_text =
    "run                   to the next stop, or to the end\n"
    "task                  to the next task; task 5 takes five such steps\n"
    "cycle                 to the end of the cycle; cycle 5 takes five such steps\n"
    "back                  to the stop before\n"
    "where                 where the run stands\n"
    "stop 1,2              before the tasks of a PE, or of an area\n"
    "stop task add         before a task; stop task add 0-3,* in an area\n"
    "stop color 3 100      when 100 more wavelets of a color have arrived\n"
    "stop cycle 500        when a cycle has come\n"
    "watch 1,2 sum         when an exported member changes; watch 0-3,* sum in an area\n"
    "watch all u == nan    when a comparison becomes true for an element of a member on any of these PEs\n"
    "stops                 stops and watches with their numbers and hits\n"
    "delete 2              remove a stop or watch; delete 2 3, or delete for all\n"
    "disable 2             keep one without stopping at it; enable 2; both take several, or all\n"
    "ignore 2 10           do not stop at the next 10 hits of stop 2\n"
    "history 3             the newest wavelets of a color\n"
    "an empty line         again what the last run, task, cycle or back did\n";

namespace commands {

inline wsl::area area_of(debugger& d, const std::string& text) {
  const region r = commands::area(text, d.stepped().plan().grid());
  return {r.x0, r.x1, r.y0, r.y1, r.sx, r.sy};
}
/// Sets a stop; returns its number.
inline int stop(debugger& d, const std::vector<std::string>& words) {
  const std::size_t n = words.size();
  const std::string what = n > 1 ? words[1] : "";
  if (n == 2 && what != "task" && what != "color" && what != "cycle") return d.stop_at(area_of(d, what));
  if ((n == 3 || n == 4) && what == "task")
    return d.stop_at_task(words[2], n == 4 ? area_of(d, words[3]) : all);
  if ((n == 3 || n == 4) && what == "color")
    return d.stop_at_color(number(words[2], "color"),
                           n == 4 ? number<i64>(words[3], "number of wavelets") : 1);
  if (n == 3 && what == "cycle") return d.stop_at_cycle(number<u64>(words[2], "cycle"));
  throw command_error(
      "stop is used as: stop 1,2, stop task add, stop task add 0-3,*, stop color 3 100 or stop cycle 500");
}
inline int watch(debugger& d, const std::vector<std::string>& words) {
  if (words.size() < 3)
    throw command_error("watch is used as: watch 1,2 sum, watch all sum or watch all sum > 5");
  const wsl::area where = area_of(d, words[1]);
  return d.watch_member(line_of(words, 2, words.size()), where);
}
/// The numbers of stops behind a command; of all stops if there are none.
inline std::vector<int> stop_numbers(debugger& d, const std::vector<std::string>& words) {
  std::vector<int> numbers;
  for (std::size_t k = 1; k < words.size(); ++k) {
    numbers.push_back(number(words[k], "number of a stop"));
    d.stop_text(numbers.back());  // there must be one, before anything is done
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return words.size() > 1 ? numbers : d.stop_numbers();
}
inline std::string ignore(debugger& d, const std::vector<std::string>& words) {
  if (words.size() != 3) throw command_error("ignore is used as: ignore 2 10, a stop and a number of hits");
  const int stop = number(words[1], "number of a stop");
  const i64 hits = number<i64>(words[2], "number of hits");
  d.ignore_hits(stop, hits);
  return fmt::format("stop {} does not stop the run at its next {}\n", stop,
                     engines::counted(static_cast<u64>(hits), "hit"));
}
/// Takes so many steps, up to the first at which something else stops the run; shows the last.
template <class Step>
std::string steps(const std::vector<std::string>& words, Step step) {
  if (words.size() > 2) throw command_error(fmt::format("{0} is used as: {0}, or {0} 5", words[0]));
  const u64 n = words.size() == 2 ? number<u64>(words[1], "number of steps") : 1;
  if (n == 0) throw command_error("a number of steps is above 0");
  const wsl::stop* last = &step();
  for (u64 k = 1; k < n && !last->has_ended() && last->numbers.empty(); ++k) last = &step();
  return last->text + "\n";
}
inline std::string history(debugger& d, int color) {
  const std::vector<arrival> newest = d.history(color);
  constexpr std::size_t most = 40;
  std::string text, type;
  for (const path_record& p : d.stepped().plan().paths())
    if (p.color == color) type = capturing::short_name(p.type);
  for (std::size_t i = newest.size() - std::min(newest.size(), most); i < newest.size(); ++i)
    text += fmt::format("cycle {}  {}  {}\n", newest[i].cycle, wsl::text_of(newest[i].at),
                        debug::text_of(newest[i].word, type));
  return text.empty() ? "none\n" : text;
}

}  // namespace commands

/// Carries out a command of the prompt, and returns what it shows. Throws std::invalid_argument for a mistake
/// in it, and fault if a run cannot go on.
inline std::string carry_out(debugger& d, const std::string& line) {
  const std::vector<std::string> words = commands::words_of(line);
  if (words.empty()) return "";
  const std::string& what = words[0];
  const auto takes = [&](std::size_t n, const char* form) {
    if (words.size() != n + 1) throw command_error(fmt::format("{} is used as: {}", what, form));
  };
  const auto each_stop = [&](auto does) {
    for (int n : commands::stop_numbers(d, words)) does(n);
    return std::string();
  };
  if (what == "run") return takes(0, "run"), d.run().text + "\n";
  if (what == "task") return commands::steps(words, [&]() -> const stop& { return d.step_task(); });
  if (what == "cycle") return commands::steps(words, [&]() -> const stop& { return d.step_cycle(); });
  if (what == "back") return takes(0, "back"), d.back().text + "\n";
  if (what == "where") return takes(0, "where"), d.where().text + "\n";
  if (what == "stop") return d.stop_text(commands::stop(d, words)) + "\n";
  if (what == "watch") return d.stop_text(commands::watch(d, words)) + "\n";
  if (what == "stops") return takes(0, "stops"), d.stops();
  if (what == "delete") return each_stop([&](int n) { d.delete_stop(n); });
  if (what == "enable") return each_stop([&](int n) { d.enable_stop(n); });
  if (what == "disable") return each_stop([&](int n) { d.disable_stop(n); });
  if (what == "ignore") return commands::ignore(d, words);
  if (what == "history")
    return takes(1, "history 3"), commands::history(d, commands::number(words[1], "color"));
  if (what == "help") return takes(0, "help"), std::string(debugger_help_text) + help_text;
  constexpr other_word others[] = {{"break", "stop"},
                                   {"b", "stop"},
                                   {"tbreak", "stop"},
                                   {"breakpoint", "stop"},
                                   {"continue", "run"},
                                   {"c", "run"},
                                   {"r", "run"},
                                   {"start", "run"},
                                   {"next", "task"},
                                   {"n", "task"},
                                   {"step", "task"},
                                   {"s", "task"},
                                   {"finish", "cycle"},
                                   {"until", "cycle"},
                                   {"display", "watch"},
                                   {"info", "stops"},
                                   {"i", "stops"},
                                   {"clear", "delete"},
                                   {"d", "delete"},
                                   {"forget", "delete"},
                                   {"condition", "watch"},
                                   {"reverse-continue", "back"},
                                   {"reverse-step", "back"},
                                   {"rc", "back"}};
  for (const other_word& w : others)
    if (w.theirs == what) refuse_word(what, others);
  state_view view(d.state_here());
  return carry_out(view, line);
}

}  // namespace wsl::debug
