// SPDX-License-Identifier: MIT
// What the files of a run say of it: its last checkpoint, and which of its processes has died.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "job.hpp"

namespace cluster {

/// The step of the last checkpoint in a folder; -1 if there is none.
i64 last_checkpoint(const std::filesystem::path& folder);

/// The last bytes of a file.
std::string end_of(const std::filesystem::path& file, std::size_t bytes);

struct lost_rank {
  int rank = 0;
  std::string how;  ///< "exited on signal 9 (Killed)"
};
/// The process whose death a log tells of in the lines of mpirun, srun or the fabric.
std::optional<lost_rank> lost_rank_in(const std::string& log);

struct lost_host {
  std::string name;  ///< as mpirun or ssh has it
  std::string how;   ///< "could not be reached by ssh: Connection refused"
};
/// The computer that a log says is gone, or cannot be reached.
std::optional<lost_host> lost_host_in(const std::string& log);

/// Whether srun says that its place in Slurm's queue ended before anything was started there, which is no matter
/// of the job. What Slurm refuses for good it says in other words.
bool lost_place_in_slurm(const std::string& log);

/// The last line of a log that says something.
std::string last_line(const std::string& log);

}  // namespace cluster
