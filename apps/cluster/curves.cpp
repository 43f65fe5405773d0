// SPDX-License-Identifier: MIT
#include "curves.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

namespace cluster {
namespace {

bool read_number(std::string_view text, double& x) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(x);
}

/// The number behind a word.
bool number_after(const std::string& line, std::string_view word, double& x) {
  const std::size_t at = line.find(word);
  if (at == line.npos) return false;
  const std::size_t first = at + word.size();
  return read_number(std::string_view(line).substr(first, line.find_first_of(", ", first) - first), x);
}

}  // namespace

void read_losses(const std::string& csv, run_curves& to) {
  std::istringstream lines(csv);
  std::string line, step, kind, loss;
  std::getline(lines, line);  // the names of the columns
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    curve_point p;
    if (!std::getline(cells, step, ',') || !std::getline(cells, kind, ',') || !std::getline(cells, loss, ','))
      continue;
    if (!read_number(step, p.step) || !read_number(loss, p.value)) continue;
    (kind == "train" ? to.train : to.eval).push_back(p);
  }
}

void read_rates(const std::string& log, run_curves& to) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    curve_point p;
    if (line.starts_with("| Train ") && number_after(line, " Step=", p.step) &&
        number_after(line, " Rate=", p.value))
      to.rate.push_back(p);
  }
}

std::vector<curve_point> thinned(const std::vector<curve_point>& all, std::size_t most) {
  if (all.size() <= most || most < 2) return all;
  std::vector<curve_point> some;
  for (std::size_t k = 0; k < most; ++k) some.push_back(all[k * (all.size() - 1) / (most - 1)]);
  return some;
}

std::string profile_in(const std::string& log) {
  const std::size_t title = log.rfind("| MODULE NAME");
  if (title == log.npos) return {};
  // It ends with a line of +---, behind which the log goes on, perhaps with a | as well.
  std::size_t end = title;
  for (std::size_t line = title; line < log.size() && (log[line] == '|' || log[line] == '+');) {
    const std::size_t next = log.find('\n', line), after = next == log.npos ? log.size() : next + 1;
    if (log[line] == '+') end = after;
    line = after;
  }
  return log.substr(title, end - title);
}

}  // namespace cluster
