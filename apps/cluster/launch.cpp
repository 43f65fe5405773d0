// SPDX-License-Identifier: MIT
#include "launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <wsl/support/fingerprint.hpp>

#include "process.hpp"

extern char** environ;

namespace cluster {
namespace {

const node& node_of(const cluster_file& c, const placed_rank& r) {
  return c.nodes.at(static_cast<std::size_t>(r.node));
}

/// The threads of a process: the whole cores of its share, and where wafers wait for processes of other roles
/// and the other way round, one more for what is left of a core.
int threads_of(const cluster_file& c, const placed_rank& r) {
  return std::max(1, (r.millicores + (c.roles ? 999 : 0)) / 1000);
}

/// All tasks of Slurm have as many cores and the same environment.
int most_threads(const cluster_file& c, const std::vector<placed_rank>& ranks) {
  int most = 1;
  for (const placed_rank& r : ranks) most = std::max(most, threads_of(c, r));
  return most;
}

/// The program and its arguments.
std::vector<std::string> words_of(const cluster_file& c, const job& j, bool goes_on) {
  const program* p = c.program_named(j.program);
  if (!p) throw std::runtime_error("the cluster file no longer has the program " + j.program);
  std::vector<std::string> words{p->path.string()};
  const std::string anew = "--autoload_last_checkpoint";
  for (std::size_t k = 0; k < j.arguments.size(); ++k) {
    const std::string& word = j.arguments[k];
    // A run that was told to begin anew has begun, and goes on now.
    if (goes_on && word == anew) ++k;
    else if (!goes_on || !word.starts_with(anew + "=")) words.push_back(word);
  }
  if (j.params) words.insert(words.end(), {"--params", (folder_of(c, j.id) / "params.yaml").string()});
  if (goes_on) words.insert(words.end(), {anew, "true"});
  if (c.roles && p->trainer && j.ranks.size() > 1) {
    std::string roles;
    for (const placed_rank& r : j.ranks) roles += (roles.empty() ? "" : ",") + std::string(name_of(r.what));
    words.insert(words.end(), {"--roles", roles});
  }
  return words;
}

/// The command by which mpirun starts its daemons on other computers. Nobody is there to type a password, and
/// a computer that is switched off shall not keep the job waiting for minutes.
std::string agent_of(const ssh_access& how) {
  std::string words = "ssh -o BatchMode=yes -o ConnectTimeout=10";
  if (!how.config.empty()) words += " -F " + how.config.string();
  if (!how.key.empty()) words += " -i " + how.key.string();
  if (how.port > 0) words += " -p " + std::to_string(how.port);
  if (!how.user.empty()) words += " -l " + how.user;
  return words;
}

/// What mpirun gives to processes of other computers, which have the environment of ssh and not the
/// manager's.
std::vector<std::string> names_that_travel() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_of_clients = name.starts_with("WSL_CLUSTER") || name == "WSL_SRUN_MPI";
    if ((name.starts_with("WSL_") && name != "WSL_THREADS" && !is_of_clients) || name == "LD_LIBRARY_PATH")
      names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// What only matters where there are several computers. The manager's alone starts daemons: the others need
/// no key. One that is switched off is noticed within half a minute, also while no process of it is waited
/// for.
std::vector<std::string> of_other_computers(const cluster_file& c) {
  return {"--mca", "plm_rsh_agent",           agent_of(c.ssh),
          "--mca", "plm_rsh_no_tree_spawn",   "1",
          "--mca", "oob_tcp_keepalive_time",  "10",
          "--mca", "oob_tcp_keepalive_intvl", "5"};
}

std::vector<std::string> with_mpirun(const cluster_file& c, const job& j,
                                     const std::vector<std::string>& program) {
  // When a process has ended with a status, as all of a stopped run do, or was killed, mpirun tells the
  // others to end and waits so many seconds, also if they have ended by then. A run that saves a checkpoint
  // ends together, after it.
  constexpr const char* seconds_to_end = "2";
  std::vector<std::string> words{"mpirun", "--oversubscribe",           "--bind-to",   "none",
                                 "--mca",  "odls_base_sigkill_timeout", seconds_to_end};
  const bool has_others = runs_elsewhere(c, j.ranks);
  std::vector<std::string> travelling;
  if (has_others) {
    const auto more = of_other_computers(c);
    words.insert(words.end(), more.begin(), more.end());
    for (const std::string& name : names_that_travel()) travelling.insert(travelling.end(), {"-x", name});
  }
  // Consecutive ranks with the same surroundings share a part of the command.
  for (std::size_t first = 0; first < j.ranks.size();) {
    std::size_t end = first;
    const placed_rank& r = j.ranks[first];
    while (end < j.ranks.size() && j.ranks[end].node == r.node &&
           threads_of(c, j.ranks[end]) == threads_of(c, r) &&
           (!has_others || j.ranks[end].memory == r.memory))
      ++end;
    const std::string count = std::to_string(end - first);
    if (first > 0) words.push_back(":");
    words.insert(words.end(), {"-np", count, "-host", node_of(c, r).host + ":" + count, "-x",
                               "WSL_THREADS=" + std::to_string(threads_of(c, r))});
    words.insert(words.end(), travelling.begin(), travelling.end());
    // Limits of this computer do not reach others.
    if (has_others)
      words.insert(words.end(), {beside_this_program("wsl-job").string(), "--become",
                                 std::to_string(r.memory), c.folder.string()});
    words.insert(words.end(), program.begin(), program.end());
    first = end;
  }
  return words;
}

std::vector<std::string> with_srun(const cluster_file& c, const job& j,
                                   const std::vector<std::string>& program) {
  const char* mpi = std::getenv("WSL_SRUN_MPI");
  // One start of a job follows the other, also after a failure of which the manager knows nothing yet.
  std::vector<std::string> words{"srun",
                                 "--job-name=" + name_in_slurm(c, j.id),
                                 "--dependency=singleton",
                                 "--ntasks=" + std::to_string(j.ranks.size()),
                                 "--cpus-per-task=" + std::to_string(most_threads(c, j.ranks)),
                                 "--distribution=arbitrary",
                                 std::string("--mpi=") + (mpi ? mpi : "pmix"),
                                 "--kill-on-bad-exit=1",
                                 "--chdir=" + c.folder.string()};
  if (j.time_limit_s > 0) words.push_back("--time=" + std::to_string((j.time_limit_s + 59) / 60 + 1));
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace

std::filesystem::path folder_of(const cluster_file& c, i64 id) { return c.folder / "jobs" / name_of_job(id); }

std::optional<std::size_t> mode_in(const std::vector<std::string>& arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const bool is_value =
        k > 0 && arguments[k - 1].starts_with("-") && arguments[k - 1].find('=') == std::string::npos;
    if (!is_value && !arguments[k].starts_with("-")) return k;
  }
  return {};
}

bool is_training(const program& p, const std::vector<std::string>& arguments) {
  const auto k = p.trainer ? mode_in(arguments) : std::nullopt;
  return k && (arguments[*k] == "train" || arguments[*k] == "train_and_eval" || arguments[*k] == "fit");
}

std::map<std::string, std::string> environment_of(const cluster_file& c,
                                                  const std::vector<placed_rank>& ranks) {
  std::map<std::string, std::string> all{{"WSL_THREADS", std::to_string(most_threads(c, ranks))}};
  if (ranks.size() == 1) return all;
  if (::geteuid() == 0) all["OMPI_ALLOW_RUN_AS_ROOT"] = all["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  // Processes that wait leave the cores to the others where there are not enough for all.
  for (std::size_t k = 0; k < c.nodes.size(); ++k) {
    const auto here = std::count_if(ranks.begin(), ranks.end(),
                                    [&](const placed_rank& r) { return r.node == static_cast<int>(k); });
    if (1000 * here > c.nodes[k].capacity.millicores) all["OMPI_MCA_mpi_yield_when_idle"] = "1";
  }
  return all;
}

bool runs_elsewhere(const cluster_file& c, const std::vector<placed_rank>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](const placed_rank& r) { return r.node >= 0 && !is_here(node_of(c, r).host); });
}

std::string name_in_slurm(const cluster_file& c, i64 id) {
  wsl::support::fingerprint f;
  const std::string folder = c.folder.string();
  f.add(folder.data(), folder.size());
  char mark[20];
  std::snprintf(mark, sizeof mark, "-%016llx", static_cast<unsigned long long>(f.value()));
  return name_of_job(id) + mark;
}

std::string hosts_of(const cluster_file& c, const job& j) {
  std::string lines;
  for (const placed_rank& r : j.ranks) lines += node_of(c, r).host + "\n";
  return lines;
}

start_command command_of(const cluster_file& c, const job& j, bool goes_on) {
  const std::filesystem::path folder = folder_of(c, j.id);
  start_command s;
  s.folder = c.folder.string(), s.log = (folder / "log").string();
  s.environment = environment_of(c, j.ranks);
  if (!runs_elsewhere(c, j.ranks))
    for (const placed_rank& r : j.ranks) s.memory = std::max(s.memory, r.memory);
  const std::vector<std::string> program = words_of(c, j, goes_on);
  if (c.launcher == launcher::slurm) {
    s.words = with_srun(c, j, program);
    s.environment["SLURM_HOSTFILE"] = (folder / "hosts").string();
    s.memory = 0;  // Slurm limits its tasks itself
  } else if (j.ranks.size() == 1 && is_here(node_of(c, j.ranks.front()).host)) {
    s.words = program;
  } else {
    s.words = with_mpirun(c, j, program);
  }
  return s;
}

}  // namespace cluster
