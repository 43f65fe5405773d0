// SPDX-License-Identifier: MIT
// The shots of a list as a queue, for the threads of a process and for any number of processes with the same
// command, such as the ranks of `mpirun`: each takes the next shot that is neither finished nor in work. A
// shot in work holds a lock of its folder, which goes with its process, and a finished one has a file that
// says so; so a command that was killed goes on with the shots that are missing, and nothing needs to be told
// to others.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <wsl/support/folder_lock.hpp>

namespace wave_app {

struct shot_queue {
  std::filesystem::path out;  ///< has the folders shot00001, shot00002, ...
  std::size_t shots = 0;
  int at_a_time = 1;  ///< threads that take shots
  /// Of all that shot k, from 0 on, depends on. A finished shot of another recipe is refused; `differs` says
  /// where the two may differ.
  std::function<std::string(std::size_t)> recipe;
  const char* differs = "with other options or another model";
  /// Makes shot k in its folder. Returns 0, or an exit status that ends the work.
  std::function<int(std::size_t, const std::filesystem::path&)> make;
};

/// What is left when a process has taken all that it could.
struct shots_done {
  int status = 0;             ///< of `make`
  std::size_t here = 0;       ///< shots that this process made
  std::size_t before = 0;     ///< that were finished
  std::size_t elsewhere = 0;  ///< that another process works on
};

/// The exit status of a process that leaves shots to others, which may not finish them (EX_TEMPFAIL).
inline constexpr int status_of_missing = 75;

std::filesystem::path folder_of_shot(const std::filesystem::path& out, std::size_t k);

/// The lock of a folder in which this process writes; nothing if another one has it.
std::unique_ptr<wsl::support::folder_lock> lock_of(const std::filesystem::path& folder);
/// The process of this computer that has the lock, as " (process 1234)"; empty if it is not known.
std::string holder_of(const std::filesystem::path& folder);

/// Works on the queue until no shot is left to be taken. Throws what `make` throws, after the other threads
/// have ended their shots, and std::invalid_argument for a folder with a shot of another recipe.
shots_done work_on(const shot_queue& q);

/// Whether all shots are finished.
bool all_finished(const shot_queue& q);

/// The same for processes that were started together and take shots each for itself: they wait for each other
/// at the end, and agree on what comes then: an error, the status, or whether shots are `missing`, in work in
/// a process of another command. Collective.
shots_done work_beside_others(const shot_queue& q, bool& missing);

/// The same for shots of which all processes that were started together make a part each; collective.
shots_done work_together(const shot_queue& q);

}  // namespace wave_app
