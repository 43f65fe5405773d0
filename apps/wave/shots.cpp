// SPDX-License-Identifier: MIT
#include "shots.hpp"

#include <charconv>
#include <cmath>

#include "volume.hpp"

namespace wave_app {
namespace {

constexpr f64 most_receivers = 1e6;

std::string_view trimmed(std::string_view word) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t from = word.find_first_not_of(blanks);
  if (from == word.npos) return {};
  return word.substr(from, word.find_last_not_of(blanks) - from + 1);
}

}  // namespace

receiver_line line_of_receivers(f64 from, f64 to, f64 step, f64 y, f64 z) {
  return {{from, y, z}, step, static_cast<i64>(std::floor((to - from) / step + 1e-6)) + 1};
}

std::vector<shot> shots_from_text(std::string_view text, const std::string& name) {
  std::vector<shot> shots;
  bool has_head = false;
  f64 receivers = 0;  // of the last shot
  i64 number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto bad = [&](const std::string& what) { refuse("{}, line {}: {}", name, number, what); };
    const std::string_view kind = trimmed(line.substr(0, line.find(',')));
    if (!has_head) {
      if (kind != "kind") bad("a list of shots begins with the line `kind,x,y,z`");
      has_head = true;
      continue;
    }
    const std::size_t wanted = kind == "source" || kind == "receiver" ? 3 : kind == "line" ? 5 : 0;
    if (wanted == 0) bad(fmt::format("'{}' is none of source, receiver and line", kind.substr(0, 40)));
    std::vector<f64> x;
    for (std::size_t comma = line.find(','); comma != line.npos;) {
      const std::size_t next = line.find(',', comma + 1);
      const std::string_view word =
          trimmed(line.substr(comma + 1, next == line.npos ? line.npos : next - comma - 1));
      comma = next;
      if (word.empty() && x.size() >= wanted) continue;  // a table may have empty columns at its end
      f64 one = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), one);
      if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(one))
        bad(fmt::format("'{}' is no number of metres", word.substr(0, 40)));
      x.push_back(one);
    }
    if (x.size() != wanted)
      bad(fmt::format("'{}' is followed by {} numbers, not by {}: x, y and z{}", kind, x.size(), wanted,
                      wanted == 5 ? ", the last x, and the distance" : ""));
    if (kind == "source") {
      shots.push_back({{x[0], x[1], x[2]}, {}}), receivers = 0;
      continue;
    }
    if (shots.empty()) bad("a receiver belongs to the source before it, and there is none");
    receiver_line line_here{{x[0], x[1], x[2]}};
    if (kind == "line") {
      if (!(x[4] > 0) || x[3] < x[0]) bad("a line goes to a larger x in steps above 0 m");
      if ((x[3] - x[0]) / x[4] > most_receivers)
        bad(fmt::format("a line of {:.0f} receivers; a shot has at most {:.0f}", (x[3] - x[0]) / x[4],
                        most_receivers));
      line_here = line_of_receivers(x[0], x[3], x[4], x[1], x[2]);
    }
    receivers += static_cast<f64>(line_here.count);
    if (receivers > most_receivers)
      bad(fmt::format("shot {} has more than {:.0f} receivers", shots.size(), most_receivers));
    shots.back().receivers.push_back(line_here);
  }
  if (shots.empty()) refuse("{}: there is no shot in it: a shot is a line `source,x,y,z`", name);
  return shots;
}

}  // namespace wave_app
