// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "run.hpp"

namespace app {
namespace {

/// The number that a variable of the environment has; 0 without one.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

/// Whether a launcher has started several of this process. Of srun only the tasks of the step count: a job
/// that runs a program in its script, without srun, runs it once, however many tasks it has asked for.
bool is_copy() {
  return number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("PMI_SIZE") > 1 || number_in("PMIX_RANK") > 0 ||
         (std::getenv("SLURM_PROCID") && number_in("SLURM_STEP_NUM_TASKS") > 1);
}
bool is_first_copy() {
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (std::getenv(rank)) return number_in(rank) == 0;
  return true;
}

}  // namespace

void join_ranks(bool copies_may_share) {
  if (is_copy() && !copies_may_share) begins = [] { require_joined(); };
}
void require_joined(const char* remedy) {
  if (!is_copy()) return;
  // The first copy speaks for all. The others give it time: mpirun ends all with the first that fails.
  says = [](const std::string&) {
    if (is_first_copy()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return false;
  };
  throw std::invalid_argument(
      std::string(
          "mpirun or srun has started several of this program, which was built without MPI, so each of "
          "them would do all of the work and write the same files: install libopenmpi-dev and build "
          "it again, ") +
      remedy);
}
void let_one_print() {}
int ranks() { return 1; }
int rank() { return 0; }
int ranks_here() { return 1; }
bool is_root() { return true; }
void require_one_process(const char*) {}
wsl::u64 largest(wsl::u64 mine) { return mine; }
wsl::u64 sum(wsl::u64 mine) { return mine; }
void together(const std::function<void()>& part) { part(); }

struct joint_file::file {
  wsl::support::scattered_file of;
};
joint_file::joint_file(const std::string& name, wsl::u64 size, bool) : of_(new file{{name, size}}) {}
joint_file::~joint_file() = default;
void joint_file::write(std::span<const wsl::support::file_run> runs, const void* bytes) {
  of_->of.write(runs, bytes);
}
void joint_file::finish() { of_->of.finish(); }

void engine::require_same(wsl::u64, const char*) const {}
wsl::engines::engine* engine::make(const wsl::layout& plan) const { return how.make(plan); }

}  // namespace app
