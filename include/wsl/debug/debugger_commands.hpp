// SPDX-License-Identifier: MIT
// The commands of the debugger's prompt: its own, and those of wsl-debug on the state where it stands.
// debugger.hpp includes this behind the debugger.
#pragma once
#include "commands.hpp"
#include "debugger.hpp"

namespace wsl::debug {

inline constexpr const char* debugger_help_text =
    "run                   to the next stop, or to the end\n"
    "task                  to the next task\n"
    "cycle                 to the end of the cycle\n"
    "back                  to the stop before\n"
    "where                 where the run stands\n"
    "stop 1,2              before the tasks of a PE, or of an area\n"
    "stop task add         before a task; stop task add 0-3,* in an area\n"
    "stop color 3 100      when 100 more wavelets of a color have arrived\n"
    "stop cycle 500        when a cycle has come\n"
    "watch 1,2 sum         when an exported member changes\n"
    "stops                 what there are; forget removes all\n"
    "history 3             the newest wavelets of a color\n";

namespace commands {

inline void stop(debugger& d, const std::vector<std::string>& words) {
  const layout& plan = d.stepped().plan();
  const auto number = [&](std::size_t k, const char* what) { return commands::number(words[k], what); };
  const auto area_at = [&](std::size_t k) {
    const region r = commands::area(words[k], plan.grid());
    return wsl::area{r.x0, r.x1, r.y0, r.y1, r.sx, r.sy};
  };
  const std::size_t n = words.size();
  if (n == 2 && words[1] != "task" && words[1] != "color" && words[1] != "cycle") d.stop_at(area_at(1));
  else if ((n == 3 || n == 4) && words[1] == "task") d.stop_at_task(words[2], n == 4 ? area_at(3) : all);
  else if ((n == 3 || n == 4) && words[1] == "color")
    d.stop_at_color(number(2, "color"), n == 4 ? static_cast<u64>(number(3, "number of wavelets")) : 1);
  else if (n == 3 && words[1] == "cycle") d.stop_at_cycle(commands::number<u64>(words[2], "cycle"));
  else throw command_error("stop is used as: stop 1,2, stop task add, stop color 3 100 or stop cycle 500");
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
  const auto is = [&](const char* what, std::size_t n) { return words.size() == n + 1 && words[0] == what; };
  if (is("run", 0)) return d.run().text + "\n";
  if (is("task", 0)) return d.step_task().text + "\n";
  if (is("cycle", 0)) return d.step_cycle().text + "\n";
  if (is("back", 0)) return d.back().text + "\n";
  if (is("where", 0)) return d.where().text + "\n";
  if (is("stops", 0)) return d.stops();
  if (is("forget", 0)) return d.forget_stops(), "";
  if (is("history", 1)) return commands::history(d, commands::number(words[1], "color"));
  if (is("watch", 2)) return d.watch(commands::place(words[1]), words[2]), "";
  if (!words.empty() && words[0] == "stop") return commands::stop(d, words), "";
  if (is("help", 0)) return std::string(debugger_help_text) + help_text;
  for (const auto& [word, form] : {std::pair{"run", "run"},
                                   {"task", "task"},
                                   {"cycle", "cycle"},
                                   {"back", "back"},
                                   {"where", "where"},
                                   {"stops", "stops"},
                                   {"forget", "forget"},
                                   {"history", "history 3"},
                                   {"watch", "watch 1,2 sum"}})
    if (!words.empty() && words[0] == word) throw command_error(fmt::format("{} is used as: {}", word, form));
  if (words.empty()) return "";
  state_view view(d.state_here());
  return carry_out(view, line);
}

}  // namespace wsl::debug
