// SPDX-License-Identifier: MIT
#include "submission.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <semaphore>
#include <set>
#include <wsl/support/text.hpp>

#include "../files.hpp"
#include "../nearest.hpp"
#include "launch.hpp"
#include "process.hpp"

namespace cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_arguments = 500, most_bytes_of_arguments = 64 << 10,
                      most_bytes_of_params = 1 << 20, most_labels = 32;
constexpr int seconds_to_check = 300;

bool is_word(const std::string& text, std::size_t most, std::string_view others) {
  return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || others.find(static_cast<char>(c)) != others.npos;
  });
}

void require_sizes(const job& j) {
  std::size_t bytes = 0;
  for (const std::string& a : j.arguments) {
    bytes += a.size();
    if (a.find('\0') != a.npos) throw refused("an argument of the program has a zero byte");
  }
  if (j.arguments.size() > most_arguments || bytes > most_bytes_of_arguments)
    throw refused("the program has more than " + std::to_string(most_arguments) +
                  " arguments, or more than " + std::to_string(most_bytes_of_arguments >> 10) +
                  " KiB of them: put them into its params file");
  if (j.params && j.params->size() > most_bytes_of_params)
    throw refused("the params file has more than " + std::to_string(most_bytes_of_params >> 20) +
                  " MiB: --params names a small text with the settings of a run");
  require_user(j.user);
  if (!is_word(j.request, 64, "-")) throw refused("the request has no word of its own");
  if (j.time_limit_s < 0 || j.time_limit_s > 100LL * 365 * 86400)
    throw refused("job_time_sec is a number of seconds from 1 to 3153600000, a hundred years");
  if (j.asks.num_csx < 0 || j.asks.cores < 0 || j.asks.memory < 0)
    throw refused("num_csx, cores and memory of a wafer are at least 1, or left out");
}

/// Whether a text names a place outside of the cluster's folder, in which programs run.
bool leads_outside(const cluster_file& c, const std::string& text) {
  const fs::path path(text);
  const bool climbs =
      std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (!path.is_absolute() && !climbs) return text.starts_with("~");
  const fs::path inside = (c.folder / path).lexically_normal().lexically_relative(c.folder);
  return inside.empty() || *inside.begin() == "..";
}

void require_inside(const cluster_file& c, const std::string& text, const std::string& of) {
  // Of --option=path, of a list, and of a map in one line, each part is looked at.
  std::size_t first = 0;
  for (std::size_t end = 0; end <= text.size(); ++end) {
    if (end < text.size() && std::string_view("=,[]{}\"' \t\n").find(text[end]) == std::string_view::npos)
      continue;
    const std::string part = text.substr(first, end - first);
    first = end + 1;
    if (part.size() > 1 && leads_outside(c, part))
      throw refused(of + " names " + part + ", which is outside of the cluster's folder " +
                    c.folder.string() + ": bring the file there, and give its path from there");
  }
}

/// All texts of params lie inside, too.
void require_inside(const cluster_file& c, const YAML::Node& params) {
  std::vector<YAML::Node> open{params};
  while (!open.empty()) {
    const YAML::Node n = open.back();
    open.pop_back();
    if (n.IsScalar()) require_inside(c, n.Scalar(), "the params file");
    else if (n.IsSequence())
      for (const YAML::Node& x : n) open.push_back(x);
    else if (n.IsMap())
      for (const auto& x : n) open.push_back(x.second);
  }
}

/// A folder for the params of a check; it goes with this object.
class folder_for_check {
 public:
  folder_for_check(const cluster_file& c, const job& j) : path_(c.folder / "jobs" / (".check_" + j.request)) {
    app::make_folder(path_);
    try {
      if (j.params) app::write_file(path_ / "params.yaml", *j.params);
    } catch (...) {  // the disk is full, for instance
      remove();
      throw;
    }
  }
  folder_for_check(const folder_for_check&) = delete;
  folder_for_check& operator=(const folder_for_check&) = delete;
  ~folder_for_check() { remove(); }
  const fs::path& path() const { return path_; }

 private:
  void remove() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path path_;
};

std::string trimmed(std::string text) {
  constexpr std::size_t most = 4000;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text.size() > most ? "..." + text.substr(text.size() - most) : text;
}

/// What a program said of the params file of a check, which has the name by which the user knows it.
std::string with_name_of_user(std::string said, const std::string& file, const job& j) {
  const std::string name = j.params_name.empty() ? "the params file" : j.params_name;
  for (std::size_t at = 0; (at = said.find(file, at)) != said.npos; at += name.size())
    said.replace(at, file.size(), name);
  return said;
}

/// Runs a job's program for a check, where the job would run; returns its standard output.
std::string run_check(const cluster_file& c, const job& j, const program& p, const fs::path& params,
                      std::vector<std::string> arguments, const std::string& more, i64 memory) {
  // Users may check as many jobs as they like at a time; two of them at once occupy the manager's computer
  // enough.
  static std::counting_semaphore<2> free(2);
  const std::string file = (params / "params.yaml").string();
  if (j.params) arguments.insert(arguments.end(), {"--params", file});
  if (!more.empty()) arguments.push_back(more);
  std::vector<std::string> command{beside_this_program("wsl-job").string(), "--become",
                                   std::to_string(memory), c.folder.string(), p.path.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  free.acquire();
  finished f;
  try {
    f = run_to_end(command, seconds_to_check);
  } catch (...) {
    free.release();
    throw;
  }
  free.release();
  if (!f.in_time)
    throw refused("the check of the configuration took more than " + std::to_string(seconds_to_check) + " s");
  if (f.status != 0)
    throw refused(
        p.name + " refuses this configuration:\n" +
        trimmed(f.said.empty() ? "status " + std::to_string(f.status) : with_name_of_user(f.said, file, j)));
  return f.output;
}

bool has_option(const std::vector<std::string>& arguments, const std::string& name) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& a) {
    for (const std::string& option : {"--" + name, "--runconfig." + name})
      if (a == option || a.starts_with(option + "=")) return true;
    return false;
  });
}

std::vector<placed_rank> placed_when_free(const cluster_file& c, const job& j) {
  const auto nodes = c.capacities();
  const auto ranks = place(nodes, nodes, c.roles, j.asks);
  if (ranks) return *ranks;
  int wafers = 0;
  for (const capacity& n : nodes) wafers += n.slots[static_cast<std::size_t>(role::wafer)];
  throw refused("the cluster has " + wsl::support::counted(wafers, "wafer") + ", and no room for num_csx " +
                std::to_string(j.asks.num_csx) +
                (j.asks.cores || j.asks.memory ? " with so many cores and so much memory for each" : "") +
                ", even when nothing else runs: ask for less; `wsl-ctl get nodes` shows what there is");
}

/// What a trainer says of the params, and of the whole job.
void check_with_trainer(const cluster_file& c, job& j, const program& p) {
  const auto mode = mode_in(j.arguments);
  if (!mode)
    throw refused("what shall " + p.name + " do? Its mode is missing: " + p.name + " train, for instance");
  const std::string& work = j.arguments[*mode];
  constexpr std::array of_several{"train", "train_and_eval", "fit", "eval", "eval_all"};
  j.asks.alone = std::find(of_several.begin(), of_several.end(), work) == of_several.end();
  if (work == "checkpoint" || work == "config") return;  // these work on files, and have no params
  if (has_option(j.arguments, "roles"))
    throw refused("--roles is the cluster's to say, by the nodes that it gives the job: leave it out");
  if (j.asks.num_csx > 0 && has_option(j.arguments, "num_csx"))
    throw refused("--num_csx is given to wsl-ctl and to the program: leave one out");
  if (j.asks.num_csx > 0)
    j.arguments.insert(j.arguments.end(), {"--num_csx", std::to_string(j.asks.num_csx)});
  const folder_for_check params(c, j);
  const std::string shown = run_check(c, j, p, params.path(), j.arguments, "--show_params", 0);
  try {
    const YAML::Node root = YAML::Load(shown), run = root["runconfig"];
    require_inside(c, root);
    j.asks.num_csx = run["num_csx"].as<int>();
    if (run["execution_strategy"] && run["execution_strategy"].as<std::string>() == "pipeline")
      j.asks.alone = true;
    if (j.asks.alone && j.asks.num_csx > 1)
      throw refused(p.name + " " + work + (is_training(p, j.arguments) ? " in a pipeline" : "") +
                    " is the work of one process: leave num_csx out");
    const bool names_folder = has_option(j.arguments, "model_dir") ||
                              (j.params && j.params->find("model_dir") != std::string::npos);
    if (names_folder) j.model_dir = run["model_dir"].as<std::string>();
  } catch (const YAML::Exception& e) {
    throw refused(p.name + " --show_params prints no params that can be read: " + e.msg);
  }
  if (!is_training(p, j.arguments)) return;
  const auto ranks = placed_when_free(c, j);
  std::vector<std::string> arguments = j.arguments;
  arguments[*mode] = "validate";
  i64 memory = 0;
  for (const placed_rank& r : ranks) memory = std::max(memory, r.memory);
  if (j.model_dir.empty())
    arguments.insert(arguments.end(), {"--model_dir", (params.path() / "run").string()});
  run_check(c, j, p, params.path(), arguments, "", c.launcher == launcher::slurm ? 0 : memory);
}

}  // namespace

void require_user(const std::string& name) {
  if (!is_word(name, 64, "-_.@")) throw refused("'" + name + "' is no name of a user");
}

void require_labels(const std::map<std::string, std::string>& labels) {
  if (labels.size() > most_labels)
    throw refused("a job has at most " + std::to_string(most_labels) + " labels");
  for (const auto& [key, value] : labels)
    if (!is_word(key, 63, "-_./") || !(value.empty() || is_word(value, 63, "-_.")))
      throw refused("'" + key + "=" + value +
                    "' is no label: name and value are words of at most 63 letters, digits, - _ and .");
}

void require_priority(i64 priority) {
  if (priority < 0 || priority > lowest_priority)
    throw refused("a priority is p0 to p3, or a number from 0, the first, to 399");
}

job checked(const cluster_file& c, job j) {
  require_sizes(j);
  require_labels(j.labels);
  require_priority(j.priority);
  const program* p = c.program_named(j.program);
  if (!p) {
    std::vector<std::string> names;
    for (const program& x : c.programs) names.push_back(x.name);
    std::string list;
    for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
    throw refused("the cluster does not run " + j.program + app::nearest_words(j.program, names) +
                  "; it runs " + list);
  }
  for (const std::string& a : j.arguments) require_inside(c, a, "an argument");
  if (p->trainer) check_with_trainer(c, j, *p);
  if (j.asks.num_csx == 0) j.asks.num_csx = 1;
  placed_when_free(c, j);
  return j;
}

void give_folder(const cluster_file& c, job& j) {
  const program* p = c.program_named(j.program);
  if (!p || !is_training(*p, j.arguments) || !j.model_dir.empty()) return;
  j.model_dir = "jobs/" + name_of_job(j.id) + "/run";
  j.arguments.insert(j.arguments.end(), {"--model_dir", j.model_dir});
}

}  // namespace cluster
