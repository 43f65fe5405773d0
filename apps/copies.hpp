// SPDX-License-Identifier: MIT
// Programs that are built without MPI: mpirun and srun start several of them all the same, and each copy would
// do all of the work and write the same files.
#pragma once
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "run.hpp"

namespace app {

namespace detail {

/// The number that a variable of the environment has; 0 without one.
inline int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}
inline bool is_first_copy() {
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (std::getenv(rank)) return number_in(rank) == 0;
  return true;
}

}  // namespace detail

/// Whether a launcher has started several of this process. Of srun only the tasks of the step count: a job that
/// runs a program in its script, without srun, runs it once, however many tasks it has asked for.
inline bool is_copy() {
  using detail::number_in;
  return number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("PMI_SIZE") > 1 || number_in("PMIX_RANK") > 0 ||
         (std::getenv("SLURM_PROCID") && number_in("SLURM_STEP_NUM_TASKS") > 1);
}

/// Throws std::invalid_argument in a copy; `remedy` follows the advice to build the program with MPI.
inline void refuse_copies(const std::string& remedy) {
  if (!is_copy()) return;
  // The first copy speaks for all. The others give it time: mpirun ends all with the first that fails.
  says = [](const std::string&) {
    if (detail::is_first_copy()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return false;
  };
  throw std::invalid_argument(
      "mpirun or srun has started several of this program, which was built without MPI, so each of them "
      "would "
      "do all of the work and write the same files: install libopenmpi-dev and build it again, " +
      remedy);
}

}  // namespace app
