// SPDX-License-Identifier: MIT
// The cluster file: which computers there are, what each may be (MemoryX, SwarmX, wafers, input workers), and
// which programs may run on them.
//   folder: /srv/wsl
//   programs: [/usr/bin/wsl-gpt, /usr/bin/wsl-zoo]
//   ssh: {user: wsl, key: /home/wsl/.ssh/cluster}
//   nodes:
//     - {name: a, host: a.example.org, cores: 16, memory: 64GB, wafers: 2, memoryx: true}
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler.hpp"

namespace cluster {

struct program {
  std::string name;            ///< by which jobs ask for it: the last part of its path
  std::filesystem::path path;  ///< absolute
  bool trainer = true;         ///< whether it has the modes and options of the trainers
};

struct node {
  std::string name, host = "localhost";
  cluster::capacity capacity;
};

enum class launcher { mpirun, slurm };

/// How mpirun reaches other computers. What is not given is as ssh has it.
struct ssh_access {
  int port = 0;  ///< 0: not given
  std::string user;
  std::filesystem::path key, config;  ///< absolute
};

struct cluster_file {
  std::filesystem::path folder;  ///< of data and runs, absolute; all nodes see it there
  std::vector<program> programs;
  cluster::launcher launcher = cluster::launcher::mpirun;
  ssh_access ssh;
  bool roles =
      false;  ///< whether jobs have processes for MemoryX, SwarmX and input workers, besides their wafers
  int restarts = 3;  ///< of a job whose processes die, without a new checkpoint in between
  int grace_s = 60;  ///< from SIGTERM, upon which trainers save a checkpoint, to SIGKILL
  std::vector<node> nodes;

  const program* program_named(const std::string& name) const;
  std::vector<capacity> capacities() const;
  /// The number of a node in `nodes`; -1 if it is not there.
  int node_named(const std::string& name) const;
};

/// All that is wrong with a file: a line for each mistake, "<file>:<line>: <sentence>".
class cluster_file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the text of a cluster file. Relative paths begin at the file's folder. Throws cluster_file_error.
cluster_file read_cluster(const std::string& text, const std::filesystem::path& file);
cluster_file read_cluster(const std::filesystem::path& file);

/// "64GB", "1.5 TB", "2GiB", "1000000" in bytes; none if it is no such size, or more than 1000 PB.
std::optional<i64> bytes_of(std::string text);
/// No program does with less memory: it is a number whose unit was forgotten.
inline constexpr i64 least_memory = 1'000'000;

/// Whether a host is this computer.
bool is_here(const std::string& host);

}  // namespace cluster
