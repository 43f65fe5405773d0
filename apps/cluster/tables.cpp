// SPDX-License-Identifier: MIT
#include "tables.hpp"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "job.hpp"

namespace cluster {
namespace {

using row = std::vector<std::string>;

/// Columns as wide as their widest word.
std::string aligned(const std::vector<row>& rows) {
  std::vector<std::size_t> widths;
  for (const row& r : rows) {
    widths.resize(std::max(widths.size(), r.size()));
    for (std::size_t k = 0; k < r.size(); ++k) widths[k] = std::max(widths[k], r[k].size());
  }
  std::string text;
  for (const row& r : rows) {
    std::string line;
    for (std::size_t k = 0; k < r.size(); ++k)
      line += k + 1 < r.size() ? r[k] + std::string(widths[k] - r[k].size() + 2, ' ') : r[k];
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string priority_of(int number) {
  return "p" + std::to_string(number / 100) + " (" + std::to_string(number) + ")";
}

std::string list_of(const google::protobuf::RepeatedPtrField<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : between) + w;
  return text;
}

std::string duration_of(const wsl::cluster::Job& j, long long now) {
  return j.started() == 0 ? "" : text_of_time((j.ended() > 0 ? j.ended() : now) - j.started());
}

}  // namespace

std::string text_of_time(long long milliseconds) {
  const long long s = std::max(0LL, milliseconds / 1000);
  const auto two = [](long long a, const char* of_a, long long b, const char* of_b) {
    return std::to_string(a) + of_a + (b > 0 ? std::to_string(b) + of_b : "");
  };
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) return two(s / 60, "m", s % 60, "s");
  if (s < 86400) return two(s / 3600, "h", s % 3600 / 60, "m");
  return two(s / 86400, "d", s % 86400 / 3600, "h");
}

std::string text_of_bytes(long long bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  double x = static_cast<double>(bytes);
  int unit = 0;
  while (x >= 999.5 && unit < 5) x /= 1000, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%s", x, units[unit]);
  return text;
}

std::string labels_of(const wsl::cluster::Job& j) {
  std::string text;
  const std::map<std::string, std::string> sorted(j.labels().begin(), j.labels().end());
  for (const auto& [key, value] : sorted) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

std::string table_of(const wsl::cluster::Jobs& jobs, long long now) {
  std::vector<row> rows{{"NAME", "AGE", "DURATION", "PHASE", "SYSTEMS", "USER", "PRIORITY", "LABELS"}};
  for (const auto& j : jobs.jobs())
    rows.push_back({j.name(), text_of_time(now - j.submitted()), duration_of(j, now), j.phase(),
                    list_of(j.systems(), ","), j.user(), priority_of(j.priority()), labels_of(j)});
  return aligned(rows);
}

std::string table_of(const wsl::cluster::Nodes& nodes) {
  std::vector<row> rows{
      {"NAME", "HOST", "WAFERS", "MEMORYX", "SWARMX", "INPUTS", "CORES", "MEMORY", "LOAD", "JOBS"}};
  for (const auto& n : nodes.nodes()) {
    std::map<std::string, std::string> roles;
    for (const auto& r : n.roles())
      roles[r.name()] = std::to_string(r.used()) + "/" + std::to_string(r.total());
    char cores[64], load[32] = "-";
    std::snprintf(cores, sizeof cores, "%.3g/%d", n.cores_used(), n.cores());
    if (n.load() >= 0) std::snprintf(load, sizeof load, "%.2f", n.load());
    rows.push_back({n.name(), n.host(), roles["wafer"], roles["memoryx"], roles["swarmx"], roles["input"],
                    cores, text_of_bytes(n.memory_used()) + "/" + text_of_bytes(n.memory()), load,
                    list_of(n.jobs(), ",")});
  }
  return aligned(rows);
}

std::string text_of(const wsl::cluster::Description& d, long long now) {
  const wsl::cluster::Job& j = d.job();
  std::string ranks;
  for (int k = 0; k < j.ranks_size(); ++k)
    ranks += (k ? ", " : "") + std::to_string(k) + " " + j.ranks(k).role() + " on " + j.ranks(k).node();
  std::vector<row> rows{
      {"Name:", j.name()},
      {"Phase:", j.phase()},
      {"User:", j.user()},
      {"Priority:", priority_of(j.priority())},
      {"Labels:", labels_of(j)},
      {"Program:", j.program() + (j.arguments_size() ? " " : "") + list_of(j.arguments(), " ")},
      {"Wafers:", std::to_string(j.num_csx())},
      {"Ranks:", ranks},
      {"Submitted:", text_of_date(j.submitted())}};
  if (j.started() > 0)
    rows.push_back({"Started:", text_of_date(j.started()) + ", start " + std::to_string(j.attempt())});
  if (j.ended() > 0)
    rows.push_back({"Ended:", text_of_date(j.ended()) + ", status " + std::to_string(j.exit_status())});
  if (j.started() > 0) rows.push_back({"Duration:", duration_of(j, now)});
  if (j.time_limit_s() > 0) rows.push_back({"Time limit:", text_of_time(1000 * j.time_limit_s())});
  rows.push_back({"Folder:", d.folder()});
  if (!j.model_dir().empty()) rows.push_back({"Model dir:", j.model_dir()});
  if (d.command_size() > 0) rows.push_back({"Command:", list_of(d.command(), " ")});
  std::vector<row> events;
  for (const auto& e : d.events()) events.push_back({"  " + text_of_date(e.time()), e.text()});
  return aligned(rows) + "Events:\n" + aligned(events);
}

std::string json_of(const google::protobuf::Message& m) {
  google::protobuf::util::JsonPrintOptions how;
  how.add_whitespace = true, how.always_print_primitive_fields = true, how.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(m, &text, how).ok())
    throw std::runtime_error("the answer of the manager cannot be written as JSON");
  return text;
}

}  // namespace cluster
