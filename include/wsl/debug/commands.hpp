// SPDX-License-Identifier: MIT
// The commands of wsl-debug, which the debugger's prompt has as well. docs/guide/debug.md shows a session.
#pragma once
#include <charconv>
#include <span>
#include <sstream>

#include "dump_file.hpp"
#include "views.hpp"

namespace wsl::debug {

inline constexpr const char* help_text =
    "list                  programs, areas, how many wait\n"
    "pe 1,2                all of a PE: waits, tasks, operations, queues, switches, members\n"
    "print 1,2 sum         a member on one PE\n"
    "print all sum         the same on many, as a table; areas are all, 3,0-7, *,0, or 0-9/2,* (every "
    "second)\n"
    "who 1,2               which PE this one waits for, and that one, to the end of the chain\n"
    "color 3               the paths of a color, its words, its switches, its operations\n"
    "find sum > 3          the PEs on which a member, or an element of it, compares so; find sum > 3 in "
    "0-7,*\n"
    "diff other.dump       what is different in another dump; diff other.dump 2-5,* in an area\n"
    "diff other.dump all sum   the elements of a member that are different\n"
    "help                  this text\n"
    "quit                  leave; exit does as well\n";

namespace commands {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream from(line);
  std::vector<std::string> all;
  for (std::string word; from >> word;) all.push_back(word);
  return all;
}
inline bool is_quit(std::string_view word) { return word == "quit" || word == "q" || word == "exit"; }
/// Whether a command of the debugger's prompt goes on with a run, or back.
inline bool is_step(std::string_view word) {
  return word == "run" || word == "task" || word == "cycle" || word == "back";
}
/// A whole number from 0 on.
template <class N = int>
N number(std::string_view text, const char* what) {
  N n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < N{})
    throw command_error(fmt::format("'{}' is no {}: it is a whole number from 0 on", text, what));
  return n;
}
/// The words from number `from` to before number `to`, as they stand in a line.
inline std::string line_of(const std::vector<std::string>& words, std::size_t from, std::size_t to) {
  std::string line;
  for (std::size_t k = from; k < to; ++k) line += (k > from ? " " : "") + words[k];
  return line;
}
inline std::pair<std::string_view, std::string_view> halves_of(std::string_view text, const char* what) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) throw command_error(fmt::format("'{}' is no {}", text, what));
  return {text.substr(0, comma), text.substr(comma + 1)};
}
/// "1,2"
inline coord place(const std::string& text) {
  const auto [x, y] = halves_of(text, "PE: a PE is a column and a row, as 1,2");
  return {number(x, "column"), number(y, "row")};
}
/// "3", "0-7", "0-7/2", "*" or "*/2" of an axis with so many columns or rows.
inline void axis(std::string_view text, int size, int& from, int& to, int& every) {
  every = 1;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    every = number(text.substr(slash + 1), "stride");
    text = text.substr(0, slash);
  }
  from = 0, to = size;
  if (text != "*") {
    const std::size_t dash = text.find('-');
    from = number(text.substr(0, dash), "column or row");
    to = dash == std::string_view::npos ? from + 1 : number(text.substr(dash + 1), "column or row") + 1;
  }
  if (every < 1 || from >= to || to > size)
    throw command_error(fmt::format("'{}' is no part of 0-{}", text, size - 1));
}
inline region area(const std::string& text, const region& grid) {
  if (text == "all") return grid;
  const auto [x, y] = halves_of(text, "area: an area is all, or columns and rows, as 0-3,*");
  region r;
  axis(x, grid.x1, r.x0, r.x1, r.sx);
  axis(y, grid.y1, r.y0, r.y1, r.sy);
  return r;
}

}  // namespace commands

/// A word that users of gdb expect, and the one that stands for it here.
struct other_word {
  std::string_view theirs;
  const char* own;
};
/// Throws command_error for a word that is no command.
[[noreturn]] inline void refuse_word(const std::string& word, std::span<const other_word> others) {
  for (const other_word& w : others)
    if (w.theirs == word)
      throw command_error(fmt::format("there is no command {}: here it is {}; help lists all", word, w.own));
  throw command_error(fmt::format("there is no command {}; help lists them", word));
}
/// Throws command_error for a word that is no command on a state.
[[noreturn]] inline void refuse_on_state(const std::string& word) {
  for (const char* own : {"run", "task", "cycle", "back", "where", "stop", "watch", "stops", "delete",
                          "enable", "disable", "ignore", "history"})
    if (word == own)
      throw command_error(fmt::format(
          "a dump does not run: {} is a command of a debugger in the program itself; help lists those here",
          word));
  constexpr other_word others[] = {{"p", "print"},     {"x", "print"},       {"inspect", "print"},
                                   {"bt", "who"},      {"backtrace", "who"}, {"info", "list"},
                                   {"i", "list"},      {"l", "list"},        {"compare", "diff"},
                                   {"search", "find"}, {"h", "help"},        {"?", "help"}};
  refuse_word(word, others);
}

/// Carries out a command on a state and returns what it shows. Throws command_error for a mistake in the
/// command, support::file_error if the other dump of `diff` cannot be read.
inline std::string carry_out(state_view& view, const std::string& line) {
  const std::vector<std::string> words = commands::words_of(line);
  if (words.empty()) return "";
  const std::string& what = words[0];
  const auto takes = [&](std::size_t n, const char* form) {
    if (words.size() != n + 1) throw command_error(fmt::format("{} is used as: {}", what, form));
  };
  const region grid = view.state_shown().grid();
  if (what == "list") return takes(0, "list"), view.list();
  if (what == "pe") return takes(1, "pe 1,2"), view.pe(commands::place(words[1]));
  if (what == "who") return takes(1, "who 1,2"), view.who(commands::place(words[1]));
  if (what == "color") return takes(1, "color 3"), view.color(commands::number(words[1], "color"));
  if (what == "print") {
    takes(2, "print 1,2 sum, or print all sum");
    return view.print(commands::area(words[1], grid), words[2]);
  }
  if (what == "find") {
    const std::size_t n = words.size();
    const bool in_area = n > 3 && words[n - 2] == "in";
    constexpr const char* form = "find is used as: find sum > 3, or find sum > 3 in 0-7,*";
    if (n < 2 || words[n - 1] == "in") throw command_error(form);
    const member_condition wanted = condition_of(commands::line_of(words, 1, in_area ? n - 2 : n));
    if (!wanted.compared) throw command_error(form);
    return view.find(wanted, in_area ? commands::area(words[n - 1], grid) : grid);
  }
  if (what == "diff") {
    if (words.size() != 3 && words.size() != 4)
      takes(1, "diff other.dump, diff other.dump 2-5,* or diff other.dump all sum");
    const region where = words.size() > 2 ? commands::area(words[2], grid) : grid;
    const machine_state other = read_dump(words[1]);
    return words.size() == 2   ? view.diff(other)
           : words.size() == 3 ? view.diff(other, where)
                               : view.diff(other, where, words[3]);
  }
  if (what == "help") return help_text;
  refuse_on_state(what);
}

}  // namespace wsl::debug
