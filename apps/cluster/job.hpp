// SPDX-License-Identifier: MIT
// A job of the cluster, as it is kept and as it is planned: what it asks for, where its processes are, and
// how far it is. The names of phases and jobs are those of csctl, the command of a Cerebras cluster.
#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cluster {

using i64 = std::int64_t;

enum class role { memoryx, swarmx, wafer, input };
inline constexpr std::array<const char*, 4> role_names{"memoryx", "swarmx", "wafer", "input"};
inline const char* name_of(role r) { return role_names[static_cast<std::size_t>(r)]; }

enum class phase { queued, running, succeeded, failed, cancelled };
inline constexpr std::array<const char*, 5> phase_names{"QUEUED", "RUNNING", "SUCCEEDED", "FAILED",
                                                        "CANCELLED"};
inline const char* name_of(phase p) { return phase_names[static_cast<std::size_t>(p)]; }
inline bool is_over(phase p) { return p != phase::queued && p != phase::running; }

/// One process of a job: what it is, on which node of the cluster file, and what it takes there.
struct placed_rank {
  role what = role::wafer;
  int node = 0;
  int millicores = 0;
  i64 memory = 0;  ///< bytes
  bool operator==(const placed_rank&) const = default;
};

/// What a job asks for: wafers, and of each the cores and bytes, 0 for the node's share.
struct demand {
  int num_csx = 1;
  int cores = 0;
  i64 memory = 0;
  bool alone = false;  ///< it is the work of one process, whatever roles the cluster has
};

/// The numbers of priorities, the lowest first in the queue: p1 is 199, p2 299, p3 399.
inline constexpr int lowest_priority = 399, usual_priority = 299;

struct job {
  i64 id = 0;
  std::string request, user, program;
  std::vector<std::string> arguments;
  std::optional<std::string> params;  ///< the text of the params file
  std::string params_name;            ///< its name on the user's computer, until the job has been checked
  std::string model_dir;              ///< of the run, from the cluster's folder; empty if it has none
  demand asks;
  int priority = usual_priority;
  i64 time_limit_s = 0;
  std::map<std::string, std::string> labels;

  cluster::phase phase = cluster::phase::queued;
  i64 submitted = 0, started = 0, ended = 0;  ///< milliseconds since 1970
  i64 turn = 0;                               ///< the number of its first start among all starts
  int attempt = 0;                            ///< the number of times that it was started
  std::vector<placed_rank> ranks;
  i64 stop_asked = 0;  ///< when it was cancelled, or its time was over
  int exit_status = 0;
  int restarts = 0;     ///< since its checkpoints last grew
  i64 checkpoint = -1;  ///< the step of the last one when it was last started again; -1: none
};

/// "wsjob-000000000012"
inline std::string name_of_job(i64 id) {
  char text[32];
  std::snprintf(text, sizeof text, "wsjob-%012lld", static_cast<long long>(id));
  return text;
}
/// The number in a job's name; none if it is no such name.
inline std::optional<i64> id_of_job(std::string_view name) {
  constexpr std::string_view before = "wsjob-";
  if (!name.starts_with(before) || name.size() < before.size() + 12) return {};
  i64 id = 0;
  const char *const first = name.data() + before.size(), *const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, id);
  if (error != std::errc{} || end != last || id < 1 || name_of_job(id) != name) return {};
  return id;
}

struct event {
  i64 time = 0;
  std::string text;
};

/// "2026-01-31 12:00:00", of this computer's time zone; from milliseconds since 1970.
inline std::string text_of_date(i64 milliseconds) {
  const std::time_t t = milliseconds / 1000;
  std::tm local{};
  localtime_r(&t, &local);
  char text[32];
  std::strftime(text, sizeof text, "%F %T", &local);
  return text;
}

}  // namespace cluster
