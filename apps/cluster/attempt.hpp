// SPDX-License-Identifier: MIT
// The files of one start of a job, by which its manager and the process that watches over it, wsl-job, agree
// whatever happens to either of them:
//   attempt_<n>.json  what is to be started; the manager writes it
//   started_<n>       which process has begun; it is made by the first one that begins, and no other begins after it
//   ended_<n>         how it ended
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "job.hpp"
#include "process.hpp"

namespace cluster {

struct attempt_files {
  attempt_files(const std::filesystem::path& folder, int number)
      : command(folder / ("attempt_" + std::to_string(number) + ".json")),
        started(folder / ("started_" + std::to_string(number))),
        ended(folder / ("ended_" + std::to_string(number))) {}
  std::filesystem::path command, started, ended;
};

struct start_command {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  ///< beside that of the manager
  std::string folder, log;
  i64 memory = 0;    ///< bytes that each process may have for its own numbers; 0: as many as there are
  i64 log_from = 0;  ///< the size of the log before this start
};
inline void to_json(nlohmann::json& to, const start_command& c) {
  to = {{"words", c.words}, {"environment", c.environment}, {"folder", c.folder},
        {"log", c.log},     {"memory", c.memory},           {"log_from", c.log_from}};
}
inline void from_json(const nlohmann::json& from, start_command& c) {
  from.at("words").get_to(c.words), from.at("environment").get_to(c.environment);
  from.at("folder").get_to(c.folder), from.at("log").get_to(c.log), from.at("memory").get_to(c.memory);
  from.at("log_from").get_to(c.log_from);
}

struct ending {
  int status = 0;  ///< as shells give it
  i64 time = 0;    ///< milliseconds since 1970
};

/// A file of one of these as JSON; none if it is not there or not whole.
inline std::optional<nlohmann::json> json_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return {};
  auto j = nlohmann::json::parse(in, nullptr, false);
  return j.is_discarded() ? std::nullopt : std::optional(std::move(j));
}
inline std::optional<process_identity> started_in(const attempt_files& f) {
  const auto j = json_in(f.started);
  if (!j) return {};
  const process_identity p{j->value("pid", 0), j->value("start", std::uint64_t{0}), j->value("boot", "")};
  return p.pid > 1 ? std::optional(p) : std::nullopt;  // signals to 0 and 1 would reach others
}
inline std::optional<ending> ended_in(const attempt_files& f) {
  const auto j = json_in(f.ended);
  if (!j) return {};
  return ending{j->value("status", 1), j->value("time", i64{0})};
}

}  // namespace cluster
