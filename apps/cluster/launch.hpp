// SPDX-License-Identifier: MIT
// The command with which a job is started: the program alone, or mpirun or srun with a process for each of
// its wafers and roles.
#pragma once
#include "attempt.hpp"
#include "cluster_file.hpp"

namespace cluster {

/// The folder of a job: of its params, its log and the files of its starts.
std::filesystem::path folder_of(const cluster_file& c, i64 id);

/// Which of a trainer's arguments is its mode: the first word that is neither an option nor the value of one.
/// None: there is no such word.
std::optional<std::size_t> mode_in(const std::vector<std::string>& arguments);

/// Whether a program trains with these arguments: then it goes on from its last checkpoint when it is started
/// again.
bool is_training(const program& p, const std::vector<std::string>& arguments);

/// The command of a job's next start. `goes_on`: it has saved a checkpoint before.
start_command command_of(const cluster_file& c, const job& j, bool goes_on);

/// Whether a process of a job is on another computer than the manager's.
bool runs_elsewhere(const cluster_file& c, const std::vector<placed_rank>& ranks);

/// The name that Slurm knows a job by. Jobs of other clusters may have the same numbers, and so their folder
/// is in it.
std::string name_in_slurm(const cluster_file& c, i64 id);

/// The environment of a job's processes on the manager's computer.
std::map<std::string, std::string> environment_of(const cluster_file& c,
                                                  const std::vector<placed_rank>& ranks);

/// The file of hosts, a line for each process, that srun takes.
std::string hosts_of(const cluster_file& c, const job& j);

}  // namespace cluster
